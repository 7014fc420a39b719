// Package create creates clusters.
package create

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/watch"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
)

// defaultTimeout is the default of --timeout.
const defaultTimeout = 30 * time.Minute

type options struct {
	*cli.App
	file           string
	wait, takeOver bool
	dryRun         string
}

// New returns the command create.
func New(a *cli.App) *cobra.Command {
	o := options{App: a}
	cmd := &cobra.Command{
		Use:   "cluster -f FILE",
		Short: "Create the cluster that a file describes and wait until it is ready",
		Example: `  clusterctl-x create cluster -f cluster.yaml
  clusterctl-x create cluster -f cluster.yaml --dry-run=server`,
		Args: cli.NoArgs,
		RunE: a.Within(defaultTimeout, o.run),
	}
	cli.AddFile(cmd, &o.file, "file that describes the cluster; - is standard input")
	cmd.Flags().BoolVar(&o.wait, "wait", true, "wait until control plane and worker node groups are ready")
	cli.AddTakeOver(cmd, &o.takeOver)
	cmd.Flags().StringVar(&o.dryRun, "dry-run", cli.DryRunNone, "none, client (check the file only) or server (let the management cluster check every object); nothing is created")
	return cli.Group("create", "Create a cluster", cmd)
}

func (o *options) run(ctx context.Context, _ []string) error {
	if modes := []string{cli.DryRunNone, cli.DryRunClient, cli.DryRunServer}; !slices.Contains(modes, o.dryRun) {
		return cli.Usagef("--dry-run must be one of %s, not %q", strings.Join(modes, ", "), o.dryRun)
	}
	if o.dryRun == cli.DryRunClient {
		return o.offline()
	}
	spec, err := o.ReadSpec(o.file)
	if err != nil {
		return err
	}
	warnings, err := spec.CheckCreation()
	service, err := o.ServiceOnceChecked(ctx, warnings, err)
	if err != nil {
		return err
	}
	n, err := service.PlanCreation(ctx, spec)
	if err != nil {
		return err
	}
	if o.dryRun == cli.DryRunServer {
		return o.dryRunOnServer(ctx, service, n)
	}
	done, err := service.Create(ctx, n, lifecycle.CreateOptions{TakeOver: o.takeOver})
	switch {
	case errors.Is(err, management.ErrTimeout):
		return fmt.Errorf("%w; run the same command again to continue", err)
	case err != nil:
		return err
	}
	created := len(done)
	if created > 0 {
		o.Say("cluster %s: %d objects created", n.Key, created)
	}
	if !o.wait {
		return o.Result("cluster %s: created; 'clusterctl-x describe cluster %s -n %s' shows its progress", n.Key, n.Key.Name, n.Key.Namespace)
	}
	return watch.UntilReady(ctx, o.App, service, n.Key, watch.Waiting{GoesOn: "creating", Unchanged: created == 0})
}

// dryRunOnServer says what would be created, after the management cluster checked it.
func (o *options) dryRunOnServer(ctx context.Context, service *lifecycle.Service, n lifecycle.Creation) error {
	for _, reference := range n.Missing {
		o.Warning("%s; without it the cluster is not created", reference)
	}
	tried, err := service.DryRunCreation(ctx, n)
	if err != nil {
		return err
	}
	return o.Result("cluster %s: %d objects would be created (server dry run)", n.Key, len(tried))
}

// offline says what would be created, from the file alone.
func (o *options) offline() error {
	spec, resolved, err := o.ValidSpec(o.file)
	if err != nil {
		return err
	}
	objects, err := spec.Render(o.NamespaceOffline())
	if err != nil {
		return err
	}
	return o.Result("cluster %s: %d objects would be created (client dry run)", resolved.Config.Cluster.Metadata.Name, len(objects))
}
