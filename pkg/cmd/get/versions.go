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
		Args:    cli.NoArgs,
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
			return a.PrintDocument("VersionList", minors, func() error { return view.Versions(a.Out, minors, a.Columns()) })
		},
	}
	a.AddListOutput(cmd)
	return cmd
}
