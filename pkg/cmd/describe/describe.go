// Package describe shows a cluster with all its machines.
package describe

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// New returns the command describe.
func New(a *cli.App) *cobra.Command {
	const short = "Show control plane, worker node groups and machines of a cluster, and why anything is not ready"
	return commandline.Group("describe", "Show a cluster with all its machines", a.ClusterCommand(short, a.ServiceWithBundles, func(ctx context.Context, service *lifecycle.Service, key types.NamespacedName) error {
		d, err := service.Describe(ctx, key)
		if err != nil {
			return err
		}
		described := view.Described{Cluster: d.Cluster, Lags: d.Lags, Postponed: d.Postponed, Unreached: d.Unreached}
		for _, variable := range d.Variables {
			described.Variables = append(described.Variables, view.Variable(variable))
		}
		return a.PrintDocument("Cluster", described, func() error { return a.Style(a.Out).Tree(a.Out, described, time.Now()) })
	}))
}
