// Package get lists clusters and versions of Kubernetes, and gets kubeconfigs.
package get

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
)

// New returns the command get.
func New(a *cli.App) *cobra.Command {
	return cli.Group("get", "List clusters or versions, or get a kubeconfig", clusters(a), kubeconfig(a), versions(a))
}

func kubeconfig(a *cli.App) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:               "kubeconfig NAME",
		Short:             "Get the administrator's kubeconfig of a cluster",
		Args:              cli.OneName,
		ValidArgsFunction: a.CompleteClusters,
		RunE: a.Within(0, func(ctx context.Context, args []string) error {
			connection, err := a.Connect(ctx)
			if err != nil {
				return err
			}
			kubeconfig, err := connection.Kubeconfig(ctx, types.NamespacedName{Namespace: connection.Namespace, Name: args[0]})
			if err != nil {
				return err
			}
			return a.WriteSecret(file, kubeconfig)
		}),
	}
	cmd.Flags().StringVar(&file, "to", "", "file to write to, readable by its owner only; default: standard output")
	return cmd
}
