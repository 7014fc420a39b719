package plan

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/clusterclass"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
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
	f, err := readClass(a, file)
	if err != nil {
		return plan.ClassPlan{}, err
	}
	if of := f.Class.GetNamespace(); a.Contradicts(of) != "" {
		wrong := field.Invalid(field.NewPath("metadata", "namespace"), of, a.Contradicts(of))
		return plan.ClassPlan{}, f.Locate(field.ErrorList{wrong})
	}
	service, err := a.Service(ctx)
	if err != nil {
		return plan.ClassPlan{}, err
	}
	return service.PlanClusterClass(ctx, f)
}

// readClass reads the file of -f.
func readClass(a *cli.App, file string) (clusterclass.File, error) {
	if file == "" {
		return clusterclass.File{}, usage.Errorf("-f FILE is required: the file with the ClusterClass")
	}
	data, err := a.ReadFile("the ClusterClass", "-f names the file with the ClusterClass and its templates, and - is standard input", file)
	if err != nil {
		return clusterclass.File{}, err
	}
	if len(data) > strictyaml.MaxFileSize {
		return clusterclass.File{}, usage.Errorf("%s has more than %d bytes: is this the right file?", cli.FileName(file), strictyaml.MaxFileSize)
	}
	return clusterclass.Decode(cli.FileName(file), data)
}
