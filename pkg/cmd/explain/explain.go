// Package explain explains the fields of cluster specs and of versions bundles.
package explain

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/explain"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// New returns the command explain.
func New(a *cli.App) *cobra.Command {
	var recursive bool
	cmd := &cobra.Command{
		Use:               "explain [FIELD]",
		Short:             "Explain the fields of a cluster spec, or of a file with versions bundles",
		Args:              atMostOneField,
		ValidArgsFunction: completeFields(a),
		RunE: func(_ *cobra.Command, args []string) error {
			documents, err := documents(a)
			if err != nil {
				return err
			}
			depth := view.OneLevel
			if recursive {
				depth = view.AllLevels
			}
			if len(args) == 0 {
				return a.Print(documents[0].Definition(), func() error { return view.Kinds(a.Out, documents.Kinds(), depth) })
			}
			field, err := documents.Find(args[0])
			if err != nil {
				return usage.Wrap(err)
			}
			return a.Print(field.Definition(), func() error { return view.Field(a.Out, field, depth) })
		},
	}
	cmd.Flags().BoolVar(&recursive, "recursive", false, "show all fields below, with their types only")
	return cmd
}

// documents are the schemas of what is explained, cluster specs first.
func documents(a *cli.App) (explain.Documents, error) {
	schema, err := a.SpecSchema()
	if err != nil {
		return nil, err
	}
	return explain.ParseAll(schema, config.BundlesSchema)
}

func atMostOneField(cmd *cobra.Command, args []string) error {
	if len(args) > 1 || len(args) == 1 && args[0] == "" {
		return usage.Errorf("'%s' takes at most one argument, a path of fields such as cluster.spec.clusterNetwork", cmd.CommandPath())
	}
	return nil
}

// completeFields offers the fields one level further to the shell.
func completeFields(a *cli.App) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		documents, err := documents(a)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		candidates := slices.DeleteFunc(documents.Complete(typed), func(path string) bool { return !strings.HasPrefix(path, typed) })
		return candidates, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}
