package get

import (
	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

func versions(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "versions",
		Aliases: []string{"version"},
		Short:   "List the versions of Kubernetes that clusters can have",
		Long: `List the versions of Kubernetes that clusters can have: those of the versions
bundles. No management cluster is contacted.

Each provider has a column with the version that a minor such as "1.34" stands for in the
file of a new cluster. In a cluster with groups of an older minor, it stands for the newest
version with a kubeadm download. The last column has the day on which Kubernetes ended its
support of the minor.

-o wide has a row for each version, with what it lacks for a provider: a node image, which
the provider makes machines from, or a kubeadm download, which machines of an older minor
need to join.`,
		Example: `  clusterctl-x get versions
  clusterctl-x get versions -o wide
  clusterctl-x get versions -o jsonpath='{.data[-1].newest}'`,
		Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			bundles, err := a.ReadBundles()
			if err != nil {
				return err
			}
			known, err := a.ReadProviders()
			if err != nil {
				return err
			}
			minors := lifecycle.Versions(known, bundles)
			return a.Print(cli.Document("VersionList", minors), func() error {
				columns := view.FewColumns
				if a.Options.Output == cli.OutputWide {
					columns = view.AllColumns
				}
				return view.Versions(a.Out, minors, columns)
			})
		},
	}
	a.AddOutput(cmd, cli.ListFormats(cli.OutputText, cli.OutputWide, cli.OutputJSON, cli.OutputYAML))
	return cmd
}
