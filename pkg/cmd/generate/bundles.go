package generate

import (
	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
)

func bundles(a *cli.App) *cobra.Command {
	var preLoad bool
	cmd := &cobra.Command{
		Use:               "bundles [VERSION...]",
		Short:             "Write the versions bundles, or a file to start from for --bundles",
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.CompleteVersions,
		RunE: func(_ *cobra.Command, args []string) error {
			if a.Bundles == "" && len(args) == 0 && !preLoad {
				return a.Write(string(config.Bundles)) // with its comments
			}
			bundles, err := a.ReadBundlesOf(args)
			if err != nil {
				return err
			}
			if preLoad {
				bundles = bundles.WithPreLoadImages()
			}
			text, err := bundles.Text()
			if err != nil {
				return err
			}
			return a.Write(text)
		},
	}
	cmd.Flags().BoolVar(&preLoad, "pre-load-images", false, "for machines without a registry: add which images of the other versions of the file they need")
	return cmd
}
