// Package generate writes manifests, ClusterClasses and files to start from.
package generate

import (
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/manifests"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// New returns the command generate.
func New(a *cli.App) *cobra.Command {
	return commandline.Group("generate", "Write manifests, or a file to start from",
		ofCluster(a), clusterConfig(a), clusterClass(a), bundles(a), guardrails(a), roles(a), runtimeExtension(a), schema(a))
}

func clusterConfig(a *cli.App) *cobra.Command {
	var provider string
	cmd := &cobra.Command{
		Use:   "clusterconfig NAME --provider PROVIDER",
		Short: "Write a cluster spec to start from",
		Args:  cli.OneName,
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := sample(a, args[0], provider)
			if err != nil {
				return err
			}
			return a.Write(string(text))
		},
	}
	cmd.Flags().StringVarP(&provider, "provider", "p", "", "infrastructure provider of the cluster, such as inmemory for simulated machines")
	return cmd
}

// sample is a valid file that describes a cluster.
func sample(a *cli.App, name, provider string) ([]byte, error) {
	of, err := a.ReadProvider(provider)
	if err != nil {
		return nil, err
	}
	if err := lifecycle.CheckName(name); err != nil {
		return nil, usage.Errorf("%q cannot be the name of a cluster: %w", name, err)
	}
	bundles, err := a.ReadBundles()
	if err != nil {
		return nil, err
	}
	return manifests.Sample(name, of, bundles)
}

func guardrails(a *cli.App) *cobra.Command {
	return commandline.New("guardrails", "Write the admission policies that enforce the version skew policy", func(*cobra.Command, []string) error {
		text, err := config.Joined(config.Guardrails, "guardrails")
		if err != nil {
			return err
		}
		return a.Write(text)
	})
}

func runtimeExtension(a *cli.App) *cobra.Command {
	var image string
	cmd := commandline.New("runtime-extension --image IMAGE", "Write the manifests that deploy 'serve runtime-extension' in a management cluster", func(*cobra.Command, []string) error {
		if image == "" {
			return usage.Errorf("--image is required: an image with the program clusterctl-x in its PATH")
		}
		text, err := manifests.RuntimeExtension(image, a.NamespaceOr(manifests.RuntimeExtensionNamespace))
		if errors.Is(err, manifests.ErrNoImage) {
			return usage.Errorf("--image is %w", err)
		}
		if err != nil {
			return err
		}
		return a.Write(text)
	})
	cmd.Flags().StringVar(&image, "image", "", "image with the program clusterctl-x in its PATH")
	return cmd
}

func schema(a *cli.App) *cobra.Command {
	return commandline.New("schema", "Write the JSON Schema of cluster specs, for editors", func(*cobra.Command, []string) error {
		schema, err := a.SpecSchema()
		if err != nil {
			return err
		}
		return a.Print(json.RawMessage(schema), func() error { return a.Write(string(schema)) })
	})
}
