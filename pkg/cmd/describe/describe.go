// Package describe shows a cluster with all its machines.
package describe

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// New returns the command describe.
func New(a *cli.App) *cobra.Command {
	return cli.Group("describe", "Show a cluster with all its machines", &cobra.Command{
		Use:               "cluster NAME",
		Short:             "Show control plane, worker node groups and machines of a cluster, and why anything is not ready",
		Args:              cli.OneName,
		ValidArgsFunction: a.CompleteClusters,
		RunE: a.Within(0, func(ctx context.Context, args []string) error {
			service, err := a.ServiceWithBundles(ctx)
			if err != nil {
				return err
			}
			d, err := service.Describe(ctx, service.Key(args[0], ""))
			if err != nil {
				return err
			}
			described := view.Described{Cluster: d.Cluster, Lags: d.Lags, Postponed: d.Postponed, Unreached: d.Unreached}
			for _, variable := range d.Variables {
				described.Variables = append(described.Variables, view.Variable(variable))
			}
			return a.PrintDocument("Cluster", described, func() error { return a.Style(a.Out).Tree(a.Out, described, time.Now()) })
		}),
	})
}
