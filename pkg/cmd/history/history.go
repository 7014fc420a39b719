// Package history shows what happened to a cluster.
package history

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// New returns the command history.
func New(a *cli.App) *cobra.Command {
	const short = "Show who created, upgraded or restarted a cluster, from what to what, when, and how it ended"
	cmd := a.ClusterCommand(short, a.Service, func(ctx context.Context, service *lifecycle.Service, key types.NamespacedName) error {
		history, err := service.History(ctx, key)
		if err != nil {
			return err
		}
		return a.PrintDocument("ClusterHistory", history, func() error { return view.History(a.Out, history, a.Columns()) })
	})
	a.AddListOutput(cmd)
	return commandline.Group("history", "Show what happened to a cluster", cmd)
}
