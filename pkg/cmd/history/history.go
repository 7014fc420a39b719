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
		Use:   "cluster NAME",
		Short: "Show who created, upgraded or restarted a cluster, from what to what, when, and how it ended",
		Long: `Show who created, upgraded or restarted a cluster, from what to what, when, and how it
ended. The newest runs come last; the 50 newest are kept, as long as the cluster lives.
Below are the steps that were taken, from Events, which Kubernetes keeps for an hour.

Results:
  Done         the run did all of its steps
  Left         the run ended before its steps were done, as --no-wait says
  Interrupted  by a signal, or by --timeout
  Failed       for the reason that is shown
  Running      the run works on the cluster now
  Lost         the run was killed, or lost its lock or its connection, and wrote no end

What others change, with kubectl for instance, is not shown.`,
		Example: `  clusterctl-x history cluster prod
  clusterctl-x history cluster prod -o jsonpath='{.data.runs[-1].result}'`,
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
			return a.Print(cli.Document("ClusterHistory", history), func() error {
				columns := view.FewColumns
				if a.Options.Output == cli.OutputWide {
					columns = view.AllColumns
				}
				return view.History(a.Out, history, columns)
			})
		}),
	}
	a.AddOutput(cmd, cli.ListFormats(cli.OutputText, cli.OutputWide, cli.OutputJSON, cli.OutputYAML))
	return cli.Group("history", "Show what happened to a cluster", cmd)
}
