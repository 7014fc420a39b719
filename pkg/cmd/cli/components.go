package cli

import (
	"context"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/clusterctl-x/clusterctl-x/pkg/components"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// ComponentsCommand returns a command about the components of a management cluster, which runs with
// their client and the versions that its flags ask for.
func (a *App) ComponentsCommand(use, short, providersHelp string, run func(context.Context, *components.Client, components.Wanted) error) *cobra.Command {
	var dir, clusterAPI string
	var providers []string
	cmd := Command(use, short, a.Within(0, func(ctx context.Context, _ []string) error {
		wanted, err := components.ParseWanted(clusterAPI, providers)
		if err != nil {
			return err
		}
		client, err := components.New(ctx, components.Options{
			Kubeconfig: a.Management.Kubeconfig.Path, Context: a.Management.Kubeconfig.Context, Embedded: a.Management.UsesEmbedded(),
			Dir: dir, Getenv: os.Getenv, Log: klog.Background(),
		})
		if err != nil {
			return err
		}
		return run(ctx, client, wanted)
	}))
	cmd.Flags().StringVar(&dir, "components", "", "directory with the components of clusterctl, Cluster API's and the providers', as clusterctl's local repositories have them; default: where clusterctl's configuration says")
	cmd.Flags().StringVar(&clusterAPI, "cluster-api-version", "", "version of Cluster API and its kubeadm providers (default: "+components.TestedVersion+", which clusterctl-x is tested with)")
	cmd.Flags().StringArrayVar(&providers, "with", nil, providersHelp)
	return cmd
}

// UpgradedProviders is the help of the flag for providers of upgrades.
const UpgradedProviders = "NAME=VERSION, a version for one provider that is installed, such as infrastructure-NAME=v1.2.3; may be repeated (default: the newest of Cluster API's contract)"

// ShowComponents prints a plan for components.
func (a *App) ShowComponents(p components.Plan) error {
	return a.PrintDocument("ManagementPlan", p.Components, func() error {
		rows := make([]view.Component, len(p.Components))
		for i, component := range p.Components {
			rows[i] = view.Component{Name: component.Name, Namespace: component.Namespace, From: component.From, To: component.To}
		}
		return view.Components(a.Out, rows)
	})
}
