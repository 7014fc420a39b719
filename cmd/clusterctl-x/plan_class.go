package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/clusterclass"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

func (a *app) planClusterClassCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "clusterclass -f FILE",
		Short: "Show what applying a ClusterClass would make of the clusters that use it; nothing is changed",
		Long: `Show what applying a ClusterClass would make of the clusters that use it: for
each of them the fields that would change and the machines that would be
replaced. The file has the class, and its templates where they are new. What
the clusters cannot take is an error that names the rule. Nothing is changed.`,
		Example: `  clusterctl-x generate clusterclass --provider docker --keep-used > class.yaml
  clusterctl-x plan clusterclass -f class.yaml && kubectl apply -f class.yaml`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.withTimeout(cmd.Context(), 0)
			defer cancel()
			p, err := a.planClusterClass(ctx, file)
			if err != nil {
				return err
			}
			return a.print(p, func() error { return a.style(a.out).ClassPlan(a.out, p) })
		},
	}
	addFile(cmd, &file, "file with the ClusterClass and its new templates; - is standard input")
	return cmd
}

// planClusterClass asks the management cluster what a class would make of its
// clusters.
func (a *app) planClusterClass(ctx context.Context, file string) (plan.ClassPlan, error) {
	f, err := a.readClass(file)
	if err != nil {
		return plan.ClassPlan{}, err
	}
	if of := f.Class.GetNamespace(); a.contradicts(of) != "" {
		wrong := field.Invalid(field.NewPath("metadata", "namespace"), of, a.contradicts(of))
		return plan.ClassPlan{}, f.Locate(field.ErrorList{wrong})
	}
	service, err := a.service(ctx)
	if err != nil {
		return plan.ClassPlan{}, err
	}
	return service.PlanClusterClass(ctx, f)
}

// readClass reads the file of -f.
func (a *app) readClass(file string) (clusterclass.File, error) {
	if file == "" {
		return clusterclass.File{}, usageError{errors.New("-f FILE is required: the file with the ClusterClass")}
	}
	data, err := a.readFile("the ClusterClass", "-f names the file with the ClusterClass and its templates, and - is standard input", file)
	if err != nil {
		return clusterclass.File{}, err
	}
	if len(data) > strictyaml.MaxFileSize {
		return clusterclass.File{}, usageError{fmt.Errorf("%s has more than %d bytes: is this the right file?", fileName(file), strictyaml.MaxFileSize)}
	}
	return clusterclass.Decode(fileName(file), data)
}
