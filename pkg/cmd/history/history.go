// Package history shows what happened to a cluster.
package history

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// New returns the command history.
func New(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "cluster NAME",
		Short:             "Show who created, upgraded or restarted a cluster, from what to what, when, and how it ended",
		Args:              cli.OneName,
		ValidArgsFunction: a.CompleteClusters,
		RunE: a.Within(0, func(ctx context.Context, args []string) error {
			service, err := a.Service(ctx)
			if err != nil {
				return err
			}
			history, err := service.History(ctx, service.Key(args[0], ""))
			if err != nil {
				return err
			}
			return a.PrintDocument("ClusterHistory", history, func() error { return view.History(a.Out, history, a.Columns()) })
		}),
	}
	a.AddListOutput(cmd)
	return cli.Group("history", "Show what happened to a cluster", cmd)
}
