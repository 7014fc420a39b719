package plan

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

func clusterClass(a *cli.App) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "clusterclass -f FILE",
		Short: "Show what applying a ClusterClass would do to the clusters that use it; nothing is changed",
		Args:  cli.NoArgs,
		RunE: a.Within(0, func(ctx context.Context, _ []string) error {
			p, err := planClass(ctx, a, file)
			if err != nil {
				return err
			}
			return a.Print(p, func() error { return a.Style(a.Out).ClassPlan(a.Out, p) })
		}),
	}
	cli.AddFile(cmd, &file, "file with the ClusterClass and its new templates; - is standard input")
	return cmd
}

// planClass asks the management cluster what a class would make of its
// clusters.
func planClass(ctx context.Context, a *cli.App, file string) (plan.ClassPlan, error) {
	f, err := a.ReadClass(file)
	if err != nil {
		return plan.ClassPlan{}, err
	}
	service, err := a.Service(ctx)
	if err != nil {
		return plan.ClassPlan{}, err
	}
	return service.PlanClusterClass(ctx, f)
}
