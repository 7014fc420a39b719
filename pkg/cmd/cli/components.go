package cli

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/clusterctl-x/clusterctl-x/pkg/components"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// Components are the flags about the components of a management cluster.
type Components struct {
	dir, clusterAPI string
	providers       []string
}

// AddTo adds the flags to a command.
func (f *Components) AddTo(cmd *cobra.Command, providersHelp string) {
	cmd.Flags().StringVar(&f.dir, "components", "", "directory with the components of clusterctl, Cluster API's and the providers', as clusterctl's local repositories have them; default: where clusterctl's configuration says")
	cmd.Flags().StringVar(&f.clusterAPI, "cluster-api-version", "", "version of Cluster API and its kubeadm providers (default: "+components.TestedVersion+", which clusterctl-x is tested with)")
	cmd.Flags().StringArrayVar(&f.providers, "with", nil, providersHelp)
}

// Client returns the client for the components of the management cluster that the flags mean. An
// embedded one is refused.
func (f *Components) Client(ctx context.Context, a *App) (*components.Client, error) {
	if a.Management.UsesEmbedded() {
		return nil, &management.RefusedError{Check: "embedded-components", Reason: "the components of an embedded management cluster are part of clusterctl-x, and change with it; name another management cluster with --kubeconfig"}
	}
	log := logr.Discard()
	if a.Verbosity > 0 {
		log = klog.Background()
	}
	client, err := components.New(ctx, components.Options{
		Kubeconfig: a.Management.Kubeconfig.Path, Context: a.Management.Kubeconfig.Context, Dir: f.dir, Getenv: os.Getenv, Log: log,
	})
	return client, OfComponents(err)
}

// Wanted returns the versions that the flags ask for.
func (f *Components) Wanted() (components.Wanted, error) {
	wanted := components.Wanted{ClusterAPI: f.clusterAPI, Providers: map[string]string{}}
	if err := components.CheckVersion(f.clusterAPI); f.clusterAPI != "" && err != nil {
		return wanted, usage.Errorf("--cluster-api-version: %w", err)
	}
	for _, provider := range f.providers {
		name, version, given := strings.Cut(provider, "=")
		if err := components.CheckProvider(name); err != nil {
			return wanted, usage.Errorf("--with %s: %w", provider, err)
		}
		if err := components.CheckVersion(version); given && err != nil {
			return wanted, usage.Errorf("--with %s: %w", provider, err)
		}
		wanted.Providers[name] = version
	}
	return wanted, nil
}

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

// UpgradedProviders is the help of the flag for providers of upgrades.
const UpgradedProviders = "NAME=VERSION, a version for one provider that is installed, such as infrastructure-NAME=v1.2.3; may be repeated (default: the newest of Cluster API's contract)"

// OfComponents makes an error about a folder of components one about what the user gave.
func OfComponents(err error) error {
	if folder := (*components.FolderError)(nil); errors.As(err, &folder) {
		return usage.Wrap(err)
	}
	return err
}
