package cli

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/input"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// OneName demands the name of a cluster.
func OneName(cmd *cobra.Command, args []string) error {
	if len(args) != 1 || args[0] == "" {
		return usage.Errorf("'%s' takes one argument, the name of the cluster", cmd.CommandPath())
	}
	return nil
}

// ClusterCommand returns a command about one cluster, which its argument names.
func (a *App) ClusterCommand(short string, connect func(context.Context) (*lifecycle.Service, error), run func(context.Context, *lifecycle.Service, types.NamespacedName) error) *cobra.Command {
	return &cobra.Command{
		Use:               "cluster NAME",
		Short:             short,
		Args:              OneName,
		ValidArgsFunction: a.CompleteClusters,
		RunE: a.Within(0, func(ctx context.Context, args []string) error {
			service, err := connect(ctx)
			if err != nil {
				return err
			}
			return run(ctx, service, service.Key(args[0], ""))
		}),
	}
}

// AddUpgrade adds the flags, but for -f, that say which upgrade is meant. The argument of the command
// may name a cluster whose versions alone change.
func (a *App) AddUpgrade(cmd *cobra.Command, flags *input.Upgrade) {
	flags.AddTo(cmd.Flags())
	cmd.Args, cmd.ValidArgsFunction = cobra.MaximumNArgs(1), a.CompleteClusters
}

// AddFiles adds the flag -f of a command that takes several files.
func AddFiles(cmd *cobra.Command, files *[]string) {
	cmd.Flags().StringArrayVarP(files, commandline.Filename, "f", nil, "file that describes a cluster, or a directory of such files; - is standard input; may be repeated")
}

// ValidSpec reads the file of -f, which must describe a valid new cluster.
func (a *App) ValidSpec(file string) (lifecycle.Spec, validations.Resolved, error) {
	spec, err := a.ReadSpec(file)
	if err != nil {
		return spec, validations.Resolved{}, err
	}
	resolved, err := spec.Validate()
	a.WarnAll(resolved.Warnings)
	return spec, resolved, err
}

// SayReferences says what is to be made besides the cluster's own objects.
func (a *App) SayReferences(config *v1alpha1.Config) error {
	known, err := a.ReadProviders()
	if err != nil {
		return err
	}
	references, err := lifecycle.References(config, known)
	for _, reference := range references {
		a.Say("needs %s", reference)
	}
	return err
}

// AddTakeOver adds the flag --take-over to a command.
func AddTakeOver(cmd *cobra.Command, takeOver *bool) {
	cmd.Flags().BoolVar(takeOver, "take-over", false, "take over the lock of another run that works on the cluster")
}
