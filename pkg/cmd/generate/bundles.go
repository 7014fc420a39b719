package generate

import (
	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

func bundles(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:               "bundles [VERSION...]",
		Short:             "Write the versions bundles, or a file to start from for --bundles",
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.CompleteVersions,
		RunE: func(_ *cobra.Command, args []string) error {
			if a.Bundles == "" && len(args) == 0 {
				return a.Write(string(config.Bundles)) // with its comments
			}
			bundles, err := someBundles(a, args)
			if err != nil {
				return err
			}
			text, err := bundles.Text()
			if err != nil {
				return err
			}
			return a.Write(text)
		},
	}
}

// someBundles are the bundles of some versions; without any, all of them.
func someBundles(a *cli.App, args []string) (*versionsbundle.Bundles, error) {
	all, err := a.ReadBundles()
	if err != nil || len(args) == 0 {
		return all, err
	}
	versions := make([]v1alpha1.KubernetesVersion, len(args))
	for i, arg := range args {
		if versions[i], err = v1alpha1.ParseKubernetesVersion(arg); err != nil {
			return nil, usage.Errorf("%q is no version: %w", arg, err)
		}
	}
	some, missing := all.Of(versions)
	if some == nil {
		return nil, usage.Errorf("no versions bundle has %s; 'clusterctl-x get versions -o wide' lists the versions that there are", missing)
	}
	return some, nil
}
