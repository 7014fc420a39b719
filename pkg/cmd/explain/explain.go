// Package explain explains the fields of a cluster spec.
package explain

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/explain"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// New returns the command explain.
func New(a *cli.App) *cobra.Command {
	var recursive bool
	cmd := &cobra.Command{
		Use:   "explain [FIELD]",
		Short: "Explain the fields of a cluster spec",
		Long: `Explain the fields of a cluster spec.

FIELD is a kind, or a path that starts at a kind, at a field of Cluster or at a field
of its spec. Without it, the kinds are listed.`,
		Example: `  clusterctl-x explain cluster
  clusterctl-x explain spec.clusterNetwork
  clusterctl-x explain workerNodeGroupConfigurations.taints
  clusterctl-x explain cluster --recursive`,
		Args:              atMostOneField,
		ValidArgsFunction: completeFields,
		RunE: func(_ *cobra.Command, args []string) error {
			schema, err := explain.Parse(config.SpecSchema)
			if err != nil {
				return err
			}
			depth := view.OneLevel
			if recursive {
				depth = view.AllLevels
			}
			if len(args) == 0 {
				return a.Print(schema.Definition(), func() error { return view.Kinds(a.Out, schema.Kinds(), depth) })
			}
			field, err := schema.Find(args[0])
			if err != nil {
				return cli.Usage(err)
			}
			return a.Print(field.Definition(), func() error { return view.Field(a.Out, field, depth) })
		},
	}
	cmd.Flags().BoolVar(&recursive, "recursive", false, "show all fields below, with their types only")
	return cmd
}

func atMostOneField(cmd *cobra.Command, args []string) error {
	if len(args) > 1 || len(args) == 1 && args[0] == "" {
		return cli.Usagef("'%s' takes at most one argument, a path of fields such as cluster.spec.clusterNetwork", cmd.CommandPath())
	}
	return nil
}

// completeFields offers the fields one level further to the shell.
func completeFields(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	schema, err := explain.Parse(config.SpecSchema)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	candidates := slices.DeleteFunc(schema.Complete(typed), func(path string) bool { return !strings.HasPrefix(path, typed) })
	return candidates, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
