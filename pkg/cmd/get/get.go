// Package get lists clusters and versions of Kubernetes, and gets kubeconfigs.
package get

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// New returns the command get.
func New(a *cli.App) *cobra.Command {
	return commandline.Group("get", "List clusters or versions, or get a kubeconfig", clusters(a), kubeconfig(a), versions(a))
}

func kubeconfig(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{Use: "kubeconfig NAME", Short: "Get the administrator's kubeconfig of a cluster", Args: cli.OneName, ValidArgsFunction: a.CompleteClusters}
	return a.WriteKubeconfig(cmd, func(ctx context.Context, args []string) ([]byte, error) {
		c, err := a.Connect(ctx)
		if err != nil {
			return nil, err
		}
		return c.Client.Kubeconfig(ctx, types.NamespacedName{Namespace: c.Namespace, Name: args[0]})
	})
}

func versions(a *cli.App) *cobra.Command {
	cmd := commandline.New("versions", "List the versions of Kubernetes that clusters can have", func(*cobra.Command, []string) error {
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
	})
	cmd.Aliases = []string{"version"}
	a.AddListOutput(cmd)
	return cmd
}
