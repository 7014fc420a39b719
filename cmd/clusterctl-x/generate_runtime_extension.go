package main

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/config"
)

// extensionNamespace is where the runtime extension is deployed unless -n says where.
const extensionNamespace = "clusterctl-x-system"

func (a *app) generateRuntimeExtensionCommand() *cobra.Command {
	var image string
	cmd := &cobra.Command{
		Use:   "runtime-extension --image IMAGE",
		Short: "Write what deploys 'serve runtime-extension' in a management cluster",
		Long: `Write what deploys 'serve runtime-extension' in a management cluster.

These are a Deployment, its Service, a certificate by cert-manager, and the
ExtensionConfig that tells Cluster API of it. The namespace must be there.
docs/runtime-extension.md says more.`,
		Example: `  clusterctl-x generate runtime-extension --image registry.example.org/clusterctl-x:v1 | kubectl apply --server-side -f -`,
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			if image == "" {
				return usageError{errors.New("--image is required: an image that has the program clusterctl-x in its path")}
			}
			if strings.ContainsAny(image, " \t\n\"'#{}") {
				return usageError{errors.New("--image is not the name of an image")}
			}
			text, err := runtimeExtension(config.RuntimeExtension, a.namespaceOr(extensionNamespace), image)
			if err != nil {
				return err
			}
			return a.write(text)
		},
	}
	cmd.Flags().StringVar(&image, "image", "", "image that has the program clusterctl-x in its path")
	return cmd
}

// runtimeExtension are all files as one, for a namespace and an image. They are printed
// as they stand, with the comments that say why.
func runtimeExtension(files fs.FS, namespace, image string) (string, error) {
	names, err := fs.Glob(files, "runtime-extension/*.yaml")
	if err != nil {
		return "", err
	}
	var texts []string
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return "", err
		}
		texts = append(texts, string(text))
	}
	return strings.NewReplacer("IMAGE", image, "NAMESPACE", namespace).Replace(strings.Join(texts, "---\n")), nil
}
