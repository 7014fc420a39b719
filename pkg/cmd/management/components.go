package management

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/components"
	"github.com/clusterctl-x/clusterctl-x/pkg/failure"
	"github.com/clusterctl-x/clusterctl-x/pkg/input"
)

func initialize(a *cli.App) *cobra.Command {
	const short = "Install Cluster API, its kubeadm providers, and others that are named, into a cluster of a kubeconfig"
	return a.ComponentsCommand("init", short, input.InstalledProviders, func(ctx context.Context, client *components.Client, wanted components.Wanted) error {
		changed, err := client.Init(ctx, wanted, run(a))
		return result(a, changed, err)
	})
}

func upgrade(a *cli.App) *cobra.Command {
	const short = "Upgrade Cluster API and its providers in the cluster of a kubeconfig, once no cluster is being changed"
	var ignoreClusters bool
	cmd := a.ComponentsCommand("upgrade", short, input.UpgradedProviders, func(ctx context.Context, client *components.Client, wanted components.Wanted) error {
		upgrading := run(a)
		if !ignoreClusters {
			upgrading.Lock = func(ctx context.Context, waiting func(what string)) (context.Context, func(), error) {
				c, err := a.Connect(ctx)
				if err != nil {
					return nil, nil, err
				}
				return c.LockAll(ctx, waiting)
			}
		}
		changed, err := client.Upgrade(ctx, wanted, upgrading)
		return result(a, changed, err)
	})
	cmd.Flags().BoolVar(&ignoreClusters, "ignore-clusters", false, "do not wait until all clusters are done: for one that will not be")
	return cmd
}

// run shows people what happens to the components.
func run(a *cli.App) components.Run {
	return components.Run{Show: a.ShowComponents, Waiting: func(what string) { a.Say("waiting for %s", what) }}
}

func result(a *cli.App, changed bool, err error) error {
	switch {
	case err != nil:
		return failure.Stopped(err, "", "run the same command again to continue")
	case !changed:
		return a.Result("the components of the management cluster are as wanted; nothing to do")
	}
	return a.Result("the components of the management cluster are available")
}
