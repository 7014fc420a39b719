package input

import (
	"cmp"

	"github.com/spf13/pflag"
)

// SelfManaged are the flags about a cluster that manages itself.
type SelfManaged struct {
	Components
	kubeconfig string
}

// AddTo adds the flags.
func (f *SelfManaged) AddTo(flags *pflag.FlagSet) {
	const of = "of a cluster that manages itself: "
	flags.StringVar(&f.kubeconfig, "write-kubeconfig", "", of+"file for its kubeconfig (default: NAME.kubeconfig)")
	f.Components.AddTo(flags, of, InstalledProviders)
}

// Kubeconfig returns the file for the kubeconfig of a cluster.
func (f *SelfManaged) Kubeconfig(cluster string) string {
	return cmp.Or(f.kubeconfig, cluster+".kubeconfig")
}
