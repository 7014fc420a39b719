// Package providers reads infrastructure providers. Each is a folder of data: provider.yaml
// (Spec), the templates infrastructure-cluster.yaml.tmpl and machine-template.yaml.tmpl,
// class.yaml with variables and patches of its ClusterClasses, which may be missing, and
// scripts. CONTRIBUTING.md says how one is added.
package providers

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// Provider is an infrastructure provider. The zero value is one of which nothing is known:
// that of a user's own ClusterClass.
type Provider struct {
	// Name of the folder, in the command line and in the bundles.
	Name string
	Spec Spec
	// Files of the folder.
	Files fs.FS
	// fetchKubeadm is the text of the script.
	fetchKubeadm string
}

// Known reports whether the provider is more than the zero value.
func (p Provider) Known() bool { return p.Name != "" }

// Needs is what the provider's machines need of a release.
func (p Provider) Needs() versionsbundle.Needs {
	needs := versionsbundle.Needs{Kubeadm: p.Spec.Node.FetchKubeadm != ""}
	if p.Spec.NodeImages {
		needs.NodeImage = p.Name
	}
	return needs
}

// Image is the node image that machines of a release are made from; empty where the
// provider has none, or the release has none for it.
func (p Provider) Image(release versionsbundle.Release) string { return release.NodeImages[p.Name] }

// Node is how kubeadm runs on the provider's machines of a version.
func (p Provider) Node(version v1alpha1.Version) Node {
	of := p.Spec.Node
	node := Node{CertSANs: of.CertSANs, CRISocket: of.CRISocket, SimulatedCoreDNS: of.SimulatedCoreDNS, FetchKubeadm: p.fetchKubeadm}
	for _, arg := range of.KubeletExtraArgs {
		if arg.From == (v1alpha1.Minor{}) || version.Minor().Compare(arg.From) >= 0 {
			node.KubeletExtraArgs = append(node.KubeletExtraArgs, Arg{arg.Name, arg.Value})
		}
	}
	return node
}

// WithoutNode returns the provider without settings of its machines.
func (p Provider) WithoutNode() Provider {
	p.Spec.Node, p.fetchKubeadm = NodeSpec{}, ""
	return p
}

// Variables are the variables of the provider's classes: the fields of its document that
// are set.
func (Provider) Variables(datacenter any) (map[string]any, error) {
	fields := map[string]any{}
	data, err := json.Marshal(datacenter)
	if err == nil {
		err = json.Unmarshal(data, &fields)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the datacenter: %w", err)
	}
	return fields, nil
}

// Datacenter are the fields of the provider's document for its templates, with their
// defaults.
func (p Provider) Datacenter(datacenter any) (map[string]any, error) {
	set, err := p.Variables(datacenter)
	if err != nil {
		return nil, err
	}
	fields := map[string]any{}
	for name, value := range p.Spec.Datacenter.Defaults {
		fields[name] = value
	}
	maps.Copy(fields, set)
	return fields, nil
}

// Node is how kubeadm runs on machines of a version.
type Node struct {
	// CertSANs are further names and addresses of the API server.
	CertSANs []string
	// CRISocket of the container runtime; empty means kubeadm finds it.
	CRISocket string
	// KubeletExtraArgs in addition to what kubeadm passes.
	KubeletExtraArgs []Arg
	// SimulatedCoreDNS is true where CoreDNS is a stand-in that cannot be
	// upgraded; Cluster API then leaves it alone.
	SimulatedCoreDNS bool
	// FetchKubeadm is a script, as a template of Cluster API's bootstrap
	// provider, that gives a worker the kubeadm of its control plane's version.
	// It is empty where machines need none.
	FetchKubeadm string
}

// Arg is one argument of a program, without dashes.
type Arg struct{ Name, Value string }

// Set are providers by their names.
type Set map[string]Provider

// BuiltIn returns the providers that clusterctl-x brings along. It panics where they are
// wrong, which a test rules out. The set must not be changed.
func BuiltIn() Set { return builtIn() }

// builtIn reads the providers once: the rules ask for them for each group.
var builtIn = sync.OnceValue(func() Set { //nolint:gochecknoglobals // read once
	set, err := Load("config", config.Providers)
	if err != nil {
		panic(err)
	}
	return set
})

// Names of the providers, sorted.
func (s Set) Names() []string { return slices.Sorted(maps.Keys(s)) }

// Of returns the provider whose document has a kind, and false where there is none.
func (s Set) Of(datacenterKind string) (Provider, bool) {
	for _, provider := range s {
		if provider.Spec.Datacenter.Kind == datacenterKind {
			return provider, true
		}
	}
	return Provider{}, false
}
