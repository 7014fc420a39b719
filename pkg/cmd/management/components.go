package management

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/components"
)

func initialize(a *cli.App) *cobra.Command {
	var flags cli.Components
	cmd := cli.Command("init", "Install Cluster API, its kubeadm providers, and others that are named, into a cluster of a kubeconfig", a.Within(0, func(ctx context.Context, _ []string) error {
		wanted, err := flags.Wanted()
		if err != nil {
			return err
		}
		client, err := flags.Client(ctx, a)
		if err != nil {
			return err
		}
		p, err := client.PlanInit(ctx, wanted)
		if err != nil {
			return cli.OfComponents(err)
		}
		return carryOut(ctx, a, client, p, client.Install)
	}))
	flags.AddTo(cmd, "NAME or NAME=VERSION of another provider to install, such as infrastructure-NAME=v1.2.3; may be repeated (default version: the newest of Cluster API's contract)")
	return cmd
}

func upgrade(a *cli.App) *cobra.Command {
	var flags cli.Components
	var ignoreClusters bool
	cmd := cli.Command("upgrade", "Upgrade Cluster API and its providers in the cluster of a kubeconfig, once no cluster is being changed", a.Within(0, func(ctx context.Context, _ []string) error {
		wanted, err := flags.Wanted()
		if err != nil {
			return err
		}
		client, err := flags.Client(ctx, a)
		if err != nil {
			return err
		}
		p, err := client.PlanUpgrade(ctx, wanted)
		if err != nil {
			return cli.OfComponents(err)
		}
		return carryOut(ctx, a, client, p, func(ctx context.Context, p components.Plan) error {
			if !ignoreClusters {
				locked, release, err := lockClusters(ctx, a)
				if err != nil {
					return err
				}
				defer release()
				ctx = locked
			}
			return client.Upgrade(ctx, p)
		})
	}))
	flags.AddTo(cmd, cli.UpgradedProviders)
	cmd.Flags().BoolVar(&ignoreClusters, "ignore-clusters", false, "do not wait until all clusters are done: for one that will not be")
	return cmd
}

// carryOut shows a plan, does it, and waits until the components are available.
func carryOut(ctx context.Context, a *cli.App, client *components.Client, p components.Plan, do func(context.Context, components.Plan) error) error {
	if !p.Empty() {
		if err := a.ShowComponents(p); err != nil {
			return err
		}
		if err := do(ctx, p); err != nil {
			return err
		}
	}
	if err := client.WaitAvailable(ctx, func(what string) { a.Say("waiting for %s", what) }); err != nil {
		return err
	}
	if p.Empty() {
		return a.Result("the components of the management cluster are as wanted; nothing to do")
	}
	return a.Result("the components of the management cluster are available")
}

// lockClusters waits until no cluster is being changed, and locks them all against runs until
// the returned function is called.
func lockClusters(ctx context.Context, a *cli.App) (context.Context, func(), error) {
	service, err := a.Service(ctx)
	if err != nil {
		return nil, nil, err
	}
	last := ""
	return service.LockAll(ctx, func(cluster, what string) {
		if now := fmt.Sprintf("cluster %s: %s", cluster, what); now != last {
			a.Say("waiting for %s", now)
			last = now
		}
	})
}
