package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers/docker"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers/inmemory"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

func (a *app) generateClusterConfigCommand() *cobra.Command {
	var provider string
	cmd := &cobra.Command{
		Use:   "clusterconfig NAME --provider inmemory|docker",
		Short: "Write a file that describes a cluster, to begin with",
		Long: `Write a file that describes a cluster, to begin with.

The file is valid as it is, and has every field that there is: what is left out
stands behind a single #, remarks behind two.`,
		Example: "  clusterctl-x generate clusterconfig prod --provider inmemory > prod.yaml",
		Args:    oneName,
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := a.clusterConfig(args[0], provider)
			if err != nil {
				return err
			}
			return a.write(string(text))
		},
	}
	cmd.Flags().StringVarP(&provider, "provider", "p", "", "inmemory or docker")
	return cmd
}

// clusterConfig is a valid file that describes a cluster.
func (a *app) clusterConfig(name, provider string) ([]byte, error) {
	kinds := map[string]string{inmemory.Name: v1alpha1.InMemoryKind, docker.Name: v1alpha1.DockerKind}
	kind, known := kinds[provider]
	switch available := strings.Join(slices.Sorted(maps.Keys(kinds)), ", "); {
	case provider == "":
		return nil, usageError{fmt.Errorf("--provider is required: one of %s", available)}
	case !known:
		return nil, usageError{fmt.Errorf("--provider must be one of %s, not %q", available, provider)}
	}
	for _, problem := range validations.Spec(&v1alpha1.Cluster{Metadata: v1alpha1.Meta{Name: name}}) {
		if problem.Field == "metadata.name" {
			return nil, usageError{fmt.Errorf("%q cannot be the name of a cluster: %s", name, problem.Detail)}
		}
	}
	bundles, err := a.readBundles()
	if err != nil {
		return nil, err
	}
	versions := bundles.Versions()
	templates, err := templater.Parse(config.Samples, "samples/clusterconfig.yaml.tmpl")
	if err != nil {
		return nil, err
	}
	return templates.Render("clusterconfig.yaml.tmpl", struct{ Name, Kind, Version string }{name, kind, versions[len(versions)-1].Minor().String()})
}
