// Package create creates clusters.
package create

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/watch"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/failure"
	"github.com/clusterctl-x/clusterctl-x/pkg/input"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// DefaultTimeout is the default of --timeout.
const DefaultTimeout = 30 * time.Minute

type command struct {
	*cli.App
	Options
	file        string
	selfManaged input.SelfManaged
}

// New returns the command create.
func New(a *cli.App) *cobra.Command {
	c := command{App: a}
	cmd := commandline.New("cluster -f FILE", "Create the cluster that a file describes and wait until it is ready", a.Within(DefaultTimeout, c.run))
	commandline.AddFile(cmd, &c.file, "file that describes the cluster; - is standard input")
	commandline.AddWait(cmd, &c.Wait, "wait until control plane and worker node groups are ready")
	cli.AddTakeOver(cmd, &c.TakeOver)
	c.selfManaged.AddTo(cmd.Flags())
	commandline.AddDryRun(cmd, &c.DryRun, dryRunModes(), "none, client (check the file only) or server (let the management cluster check every object); nothing is created")
	return commandline.Group("create", "Create a cluster", cli.Starts(cmd))
}

func dryRunModes() []string {
	return []string{commandline.DryRunNone, commandline.DryRunClient, commandline.DryRunServer}
}

func (c *command) run(ctx context.Context, _ []string) error {
	if err := usage.CheckChoice("dry-run", c.DryRun, dryRunModes()); err != nil {
		return err
	}
	if c.DryRun == commandline.DryRunClient {
		return c.offline(ctx)
	}
	spec, err := c.ReadSpec(c.file)
	if err != nil {
		return err
	}
	if spec.ManagesItselfBy() != "" && c.Management.UsesEmbedded() {
		return c.createSelfManaged(ctx, spec)
	}
	warnings, err := spec.CheckCreation()
	service, err := c.ServiceOnceChecked(ctx, warnings, err)
	if err != nil {
		return err
	}
	n, err := service.PlanCreation(ctx, spec)
	if err != nil {
		return err
	}
	return Run(ctx, c.App, service, n, c.Options)
}

// offline says what would be created, from the file alone.
func (c *command) offline(ctx context.Context) error {
	spec, resolved, err := c.ValidSpec(c.file)
	if err != nil {
		return err
	}
	objects, err := spec.Render(c.NamespaceOffline())
	if err == nil && spec.ManagesItselfBy() != "" && c.Management.UsesEmbedded() {
		err = c.sayPlan(ctx, spec)
	}
	if err != nil {
		return err
	}
	return c.Result("cluster %s: %s would be created (client dry run)", resolved.Config.Cluster.Metadata.Name, view.Counted(len(objects), "object"))
}

// Options are the options of a creation.
type Options struct {
	Wait, TakeOver bool
	DryRun         string
}

// Run creates a planned cluster.
func Run(ctx context.Context, a *cli.App, service *lifecycle.Service, n lifecycle.Creation, o Options) error {
	if o.DryRun == commandline.DryRunServer {
		return dryRun(ctx, a, service, n)
	}
	if n.StaysThere() {
		a.Warning("cluster %s stays on this management cluster; 'clusterctl-x create cluster --management embedded' creates one that manages itself", n.Key)
	}
	done, err := service.Create(ctx, n, lifecycle.CreateOptions{TakeOver: o.TakeOver})
	if err != nil {
		return failure.Stopped(err, "", "run the same command again to continue")
	}
	if len(done) > 0 {
		a.Say("cluster %s: %s created", n.Key, view.Counted(len(done), "object"))
	}
	if !o.Wait {
		return a.Result("cluster %s: created; 'clusterctl-x describe cluster %s -n %s' shows its progress", n.Key, n.Key.Name, n.Key.Namespace)
	}
	return watch.UntilReady(ctx, a, service, n.Key, watch.Waiting{GoesOn: "creating", Unchanged: len(done) == 0})
}

// dryRun says what would be created, after the management cluster checked it.
func dryRun(ctx context.Context, a *cli.App, service *lifecycle.Service, n lifecycle.Creation) error {
	for _, reference := range n.Missing {
		a.Warning("%s; without it the cluster is not created", reference)
	}
	tried, err := service.DryRunCreation(ctx, n)
	if err != nil {
		return err
	}
	return a.Result("cluster %s: %s would be created (server dry run)", n.Key, view.Counted(len(tried), "object"))
}
