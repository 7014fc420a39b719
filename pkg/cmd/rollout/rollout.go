// Package rollout replaces machines of clusters.
package rollout

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/watch"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// defaultTimeout is the default of --timeout.
const defaultTimeout = time.Hour

// New returns the command rollout.
func New(a *cli.App) *cobra.Command {
	var o lifecycle.RestartOptions
	wait := true
	cmd := &cobra.Command{
		Use:               "restart NAME --worker-node-groups NAMES | --control-plane",
		Short:             "Replace the machines of worker node groups or of the control plane at the same version",
		Args:              cli.OneName,
		ValidArgsFunction: a.CompleteClusters,
		RunE: a.Within(defaultTimeout, func(ctx context.Context, args []string) error {
			if !o.ControlPlane && len(o.Groups) == 0 {
				return usage.Errorf("name the machines to replace: --worker-node-groups, --control-plane or both")
			}
			service, err := a.Service(ctx)
			if err != nil {
				return err
			}
			key := service.Key(strings.TrimPrefix(args[0], "cluster/"), "")
			if err := service.Restart(ctx, key, o); err != nil {
				return err
			}
			if !wait {
				return a.Result("cluster %s: Cluster API replaces the machines; 'clusterctl-x watch cluster %s -n %s' shows its progress", key, key.Name, key.Namespace)
			}
			return watch.UntilReady(ctx, a, service, key, watch.Waiting{GoesOn: "replacing machines of"})
		}),
	}
	cmd.Flags().BoolVar(&o.ControlPlane, "control-plane", false, "replace the machines of the control plane")
	cmd.Flags().StringSliceVar(&o.Groups, "worker-node-groups", nil, "replace the machines of these worker node groups, comma-separated")
	commandline.AddWait(cmd, &wait, "wait until the new machines are ready and the old ones are gone")
	cli.AddTakeOver(cmd, &o.TakeOver)
	return commandline.Group("rollout", "Replace machines of a cluster", cli.Starts(cmd))
}
