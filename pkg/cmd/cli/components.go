package cli

import (
	"context"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/clusterctl-x/clusterctl-x/pkg/components"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// Components are the flags about the components of a management cluster.
type Components struct {
	dir, clusterAPI string
	providers       []string
}

// AddTo adds the flags to a command. About is the beginning of their help, and providersHelp that
// of the flag for providers.
func (f *Components) AddTo(cmd *cobra.Command, about, providersHelp string) {
	cmd.Flags().StringVar(&f.dir, "components", "", about+"directory with the components of clusterctl, Cluster API's and the providers', as clusterctl's local repositories have them; default: where clusterctl's configuration says")
	cmd.Flags().StringVar(&f.clusterAPI, "cluster-api-version", "", about+"version of Cluster API and its kubeadm providers (default: "+components.TestedVersion+", which clusterctl-x is tested with)")
	cmd.Flags().StringArrayVar(&f.providers, "with", nil, about+providersHelp)
}

// Client returns a client for the components of a management cluster, and the versions that the
// flags ask for.
func (f *Components) Client(ctx context.Context, of components.Options) (*components.Client, components.Wanted, error) {
	wanted, err := components.ParseWanted(f.clusterAPI, f.providers)
	if err != nil {
		return nil, wanted, err
	}
	of.Dir, of.Getenv, of.Log = f.dir, os.Getenv, klog.Background()
	client, err := components.New(ctx, of)
	return client, wanted, err
}

// ComponentsCommand returns a command about the components of a management cluster, which runs with
// their client and the versions that its flags ask for.
func (a *App) ComponentsCommand(use, short, providersHelp string, run func(context.Context, *components.Client, components.Wanted) error) *cobra.Command {
	var flags Components
	cmd := Command(use, short, a.Within(0, func(ctx context.Context, _ []string) error {
		client, wanted, err := flags.Client(ctx, components.Options{
			Kubeconfig: a.Management.Kubeconfig.Path, Context: a.Management.Kubeconfig.Context, Embedded: a.Management.UsesEmbedded(),
		})
		if err != nil {
			return err
		}
		return run(ctx, client, wanted)
	}))
	flags.AddTo(cmd, "", providersHelp)
	return cmd
}

// Help of the flag for providers.
const (
	InstalledProviders = "NAME or NAME=VERSION of another provider to install, such as infrastructure-NAME=v1.2.3; may be repeated (default version: the newest of Cluster API's contract)"
	UpgradedProviders  = "NAME=VERSION, a version for one provider that is installed, such as infrastructure-NAME=v1.2.3; may be repeated (default: the newest of Cluster API's contract)"
)

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
