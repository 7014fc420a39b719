package create

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/watch"
	"github.com/clusterctl-x/clusterctl-x/pkg/components"
	"github.com/clusterctl-x/clusterctl-x/pkg/connection"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/selfmanaged"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// selfManaged are the flags about clusters that manage themselves.
type selfManaged struct {
	components cli.Components
	kubeconfig string
}

func (f *selfManaged) addTo(cmd *cobra.Command) {
	const of = "of a cluster that manages itself: "
	cmd.Flags().StringVar(&f.kubeconfig, "write-kubeconfig", "", of+"file for its kubeconfig (default: NAME.kubeconfig)")
	f.components.AddTo(cmd, of, cli.InstalledProviders)
}

// createSelfManaged creates a cluster that manages itself.
func (c *command) createSelfManaged(ctx context.Context, spec lifecycle.Spec, component string) error {
	meta, began := spec.Config.Cluster.Metadata, time.Now()
	switch {
	case c.DryRun == cli.DryRunServer:
		return usage.Errorf("--dry-run=server asks the management cluster, and there is none yet for cluster %s, which manages itself; use --dry-run=client", meta.Name)
	case !c.Wait:
		return usage.Errorf("cluster %s is to manage itself, which this command sees to once it is ready: leave out --wait=false", meta.Name)
	}
	warnings, err := spec.CheckCreation()
	c.WarnAll(warnings)
	if err != nil {
		return err
	}
	kubeconfig := cmp.Or(c.selfManaged.kubeconfig, meta.Name+".kubeconfig")
	itself := connection.Choice{Kind: connection.Kubeconfig, Kubeconfig: management.Kubeconfig{Path: kubeconfig}, Report: c.Say}
	install, err := c.installation(ctx, kubeconfig, component)
	if err != nil {
		return err
	}
	creation := selfmanaged.Creation{
		Cluster:    c.SelfManaged(meta, itself, c.TakeOver),
		Kubeconfig: kubeconfig,
		Create: func(ctx context.Context, on selfmanaged.ManagementCluster) error {
			n, err := on.Clusters.PlanCreation(ctx, spec)
			if err != nil {
				return err
			}
			_, err = create(ctx, c.App, on.Clusters, n, c.Options)
			return err
		},
		Install: install,
	}
	creation.Key.Namespace = cmp.Or(meta.Namespace, c.NamespaceOffline())
	creation.Ready = func(ctx context.Context, itself selfmanaged.ManagementCluster) error {
		_, err := watch.Ready(ctx, c.App, itself.Clusters, creation.Key, watch.Waiting{GoesOn: "creating", Unchanged: true})
		return err
	}
	changed, err := creation.Run(ctx)
	switch {
	case err != nil:
		return err
	case !changed:
		return c.Result("cluster %s exists and manages itself; nothing to do", creation.Key)
	}
	return c.Result("cluster %s is ready after %s and manages itself; use it with --kubeconfig %s", creation.Key, time.Since(began).Round(time.Second), kubeconfig)
}

// installation returns what installs the components into the cluster of a kubeconfig. What is wrong
// with them is said now, as far as it is known.
func (c *command) installation(ctx context.Context, kubeconfig, component string) (func(context.Context) error, error) {
	client, wanted, err := c.selfManaged.components.Client(ctx, components.Options{Kubeconfig: kubeconfig})
	if err != nil {
		return nil, err
	}
	if _, given := wanted.Providers[component]; !given {
		wanted.Providers[component] = ""
	}
	return func(ctx context.Context) error {
		_, err := client.Init(ctx, wanted, components.Run{
			Show: func(p components.Plan) error {
				c.Say("installing into the cluster: %s", p)
				return nil
			},
			Waiting: func(what string) { c.Say("waiting for %s", what) },
		})
		return err
	}, client.Check(wanted)
}
