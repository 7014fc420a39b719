package input

import (
	"context"
	"os"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/clusterctl-x/clusterctl-x/pkg/components"
)

// Components are the flags about the components of a management cluster.
type Components struct {
	dir, clusterAPI string
	providers       []string
}

// Help of the flag for providers.
const (
	InstalledProviders = "NAME or NAME=VERSION of another provider to install, such as infrastructure-NAME=v1.2.3; may be repeated (default version: the newest of Cluster API's contract)"
	UpgradedProviders  = "NAME=VERSION, a version for one provider that is installed, such as infrastructure-NAME=v1.2.3; may be repeated (default: the newest of Cluster API's contract)"
)

// AddTo adds the flags. About is the beginning of their help, and providers that of the flag for
// providers.
func (f *Components) AddTo(flags *pflag.FlagSet, about, providers string) {
	flags.StringVar(&f.dir, "components", "", about+"directory with the components of clusterctl, Cluster API's and the providers', as clusterctl's local repositories have them; default: where clusterctl's configuration says")
	flags.StringVar(&f.clusterAPI, "cluster-api-version", "", about+"version of Cluster API and its kubeadm providers (default: "+components.TestedVersion+", which clusterctl-x is tested with)")
	flags.StringArrayVar(&f.providers, "with", nil, about+providers)
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
