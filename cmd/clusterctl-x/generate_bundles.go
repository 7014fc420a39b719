package main

import (
	"github.com/spf13/cobra"
)

func (a *app) generateBundlesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "bundles",
		Short: "Write the versions bundles, to add versions to them for --bundles",
		Long: `Write the versions bundles: which versions of Kubernetes there are, and what
belongs to each.

--bundles FILE takes the place of all that clusterctl-x brings, so a file of
your own begins with these. An entry is best copied from one of the same minor:
give it its version, its image tags, and a node image where the provider has
any.`,
		Example: `  clusterctl-x generate bundles > bundles.yaml
  clusterctl-x plan upgrade -f cluster.yaml --bundles bundles.yaml`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			data, _, err := a.bundlesFile()
			if err != nil {
				return err
			}
			return a.write(string(data))
		},
	}
}
