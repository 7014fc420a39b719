package create

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/watch"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/components"
	"github.com/clusterctl-x/clusterctl-x/pkg/connection"
	"github.com/clusterctl-x/clusterctl-x/pkg/failure"
	"github.com/clusterctl-x/clusterctl-x/pkg/input"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/selfmanaged"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// selfManaged are the flags about clusters that manage themselves.
type selfManaged struct {
	components input.Components
	kubeconfig string
}

func (f *selfManaged) addTo(cmd *cobra.Command) {
	const of = "of a cluster that manages itself: "
	cmd.Flags().StringVar(&f.kubeconfig, "write-kubeconfig", "", of+"file for its kubeconfig (default: NAME.kubeconfig)")
	f.components.AddTo(cmd.Flags(), of, input.InstalledProviders)
}

// createSelfManaged creates a cluster that manages itself.
func (c *command) createSelfManaged(ctx context.Context, spec lifecycle.Spec) error {
	meta, began := spec.Config.Cluster.Metadata, time.Now()
	switch {
	case c.DryRun == commandline.DryRunServer:
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
	client, wanted, err := c.selfManaged.components.Client(ctx, components.Options{Kubeconfig: kubeconfig})
	if err != nil {
		return err
	}
	itself := connection.Choice{Kind: connection.Kubeconfig, Kubeconfig: management.Kubeconfig{Path: kubeconfig}, Report: c.Say}
	key, changed, err := selfmanaged.Creation{
		Cluster: c.SelfManaged(meta, itself, c.TakeOver), Spec: spec, Kubeconfig: kubeconfig, Components: client, Wanted: wanted,
		Ready: func(ctx context.Context, key types.NamespacedName, on selfmanaged.ManagementCluster, changed bool) error {
			_, err := watch.Ready(ctx, c.App, on.Clusters, key, watch.Waiting{GoesOn: "creating", Unchanged: !changed})
			return err
		},
	}.Run(ctx)
	switch {
	case err != nil:
		return failure.Stopped(err, "", "run the same command again to continue")
	case !changed:
		return c.Result("cluster %s exists and manages itself; nothing to do", key)
	}
	return c.Result("cluster %s is ready after %s and manages itself; use it with --kubeconfig %s", key, time.Since(began).Round(time.Second), kubeconfig)
}
