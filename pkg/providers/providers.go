// Package providers reads infrastructure providers. Each is a folder of data: provider.yaml
// (Spec), the templates infrastructure-cluster.yaml.tmpl and machine-template.yaml.tmpl,
// the schemas of its documents (datacenter.schema.yaml, machine.schema.yaml), class.yaml with
// variables and patches of its ClusterClasses, which may be missing, and scripts.
// CONTRIBUTING.md says how one is added.
package providers

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
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
	// datacenter and machine read the schemas of the documents.
	datacenter, machine func() (*strictyaml.Schema, error)
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

// Has reports whether the folder has a file.
func (p Provider) Has(file string) bool {
	_, err := fs.Stat(p.Files, file)
	return err == nil
}

// NodeImage is the node image that machines of a release are made from; empty where the
// provider has none, or the release has none for it.
func (p Provider) NodeImage(release versionsbundle.Release) string { return release.NodeImages[p.Name] }

// LoadBalancerImage is the image of the load balancer of clusters whose control plane has a
// release; empty where the provider chooses it.
func (p Provider) LoadBalancerImage(release versionsbundle.Release) versionsbundle.Image {
	return release.LoadBalancerImages[p.Name]
}

// PreLoadImages are the images that each machine of a release loads when it is made.
func (p Provider) PreLoadImages(release versionsbundle.Release) []versionsbundle.Image {
	return release.PreLoadImages[p.Name]
}

// Node is how kubeadm runs on the provider's machines of a version.
func (p Provider) Node(version v1alpha1.Version) Node {
	of := p.Spec.Node
	node := Node{CertSANs: of.CertSANs, CRISocket: of.CRISocket, FetchKubeadm: p.fetchKubeadm}
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

// Node is how kubeadm runs on machines of a version.
type Node struct {
	// CertSANs are further names and addresses of the API server.
	CertSANs []string
	// CRISocket of the container runtime; empty means kubeadm finds it.
	CRISocket string
	// KubeletExtraArgs in addition to what kubeadm passes.
	KubeletExtraArgs []Arg
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
// wrong, which a test rules out, and so does the use of a schema. The set must not be
// changed.
func BuiltIn() Set { return builtIn() }

// builtIn reads the providers once: the rules ask for them for each group.
var builtIn = sync.OnceValue(func() Set { //nolint:gochecknoglobals // read once
	folders, err := fs.Sub(config.Providers, "providers")
	if err != nil {
		panic(err)
	}
	set, err := read("config/providers", folders) // each schema takes a millisecond or more
	if err != nil {
		panic(err)
	}
	return set
})

// With returns the providers with further ones, which replace those of the same name.
func (s Set) With(others Set) (Set, error) {
	all := maps.Clone(s)
	for name := range others {
		delete(all, name)
	}
	for _, name := range others.Names() {
		for _, kind := range others[name].kinds() {
			if other, twice := all.ofKind(kind); twice {
				return nil, fmt.Errorf("provider %s: %s is a kind of provider %s already; give each provider kinds of its own", name, kind, other.Name)
			}
		}
	}
	maps.Copy(all, others)
	return all, nil
}

// schema returns the schema of a kind of document.
func (p Provider) schema(kind string) (*strictyaml.Schema, error) {
	if kind == p.Spec.Machine.Kind {
		return p.machine()
	}
	return p.datacenter()
}

// mustSchema returns what returns the schema of a kind of document, which was read before
// or is built in.
func (p Provider) mustSchema(kind string) func() *strictyaml.Schema {
	return func() *strictyaml.Schema {
		schema, err := p.schema(kind)
		if err != nil {
			panic(err)
		}
		return schema
	}
}

// kinds are those of the provider's documents.
func (p Provider) kinds() []string {
	return slices.DeleteFunc([]string{p.Spec.Datacenter.Kind, p.Spec.Machine.Kind}, func(kind string) bool { return kind == "" })
}

// Names of the providers, sorted.
func (s Set) Names() []string { return slices.Sorted(maps.Keys(s)) }

// Of returns the provider whose document a cluster names by datacenterRef; the zero value
// where it names none.
func (s Set) Of(cluster *v1alpha1.Cluster) Provider {
	for _, provider := range s {
		if kind := provider.Spec.Datacenter.Kind; kind != "" && kind == cluster.Spec.DatacenterRef.Kind {
			return provider
		}
	}
	return Provider{}
}

// ofKind returns the provider that has a kind of document.
func (s Set) ofKind(kind string) (Provider, bool) {
	for _, provider := range s {
		if kind != "" && (kind == provider.Spec.Datacenter.Kind || kind == provider.Spec.Machine.Kind) {
			return provider, true
		}
	}
	return Provider{}, false
}

// Datacenters are the kinds that datacenterRef may name, sorted.
func (s Set) Datacenters() []string {
	var kinds []string
	for _, provider := range s {
		kinds = append(kinds, provider.Spec.Datacenter.Kind)
	}
	slices.Sort(kinds)
	return kinds
}

// Simulates reports whether an infrastructure cluster is that of a provider of simulated
// machines.
func (s Set) Simulates(infrastructure *unstructured.Unstructured) bool {
	for _, provider := range s {
		of := provider.Spec.Infrastructure
		if !provider.Spec.Simulated || of == nil || schema.FromAPIVersionAndKind(of.APIVersion, of.Cluster).GroupKind() != infrastructure.GroupVersionKind().GroupKind() {
			continue
		}
		if of.ClusterField == "" {
			return true
		}
		path := append([]string{"spec"}, strings.Split(of.ClusterField, ".")...)
		if _, found, err := unstructured.NestedFieldNoCopy(infrastructure.Object, path...); found && err == nil {
			return true
		}
	}
	return false
}

// BootstrapFailures are how machines of these providers say that their bootstrap failed for
// good.
func (s Set) BootstrapFailures() []state.BootstrapFailure {
	var failures []state.BootstrapFailure
	for _, name := range s.Names() {
		of := s[name].Spec
		if of.BootstrapFailure == nil {
			continue
		}
		kind := schema.FromAPIVersionAndKind(of.Infrastructure.APIVersion, of.BootstrapFailure.Kind)
		failures = append(failures, state.BootstrapFailure{Kind: kind, Condition: of.BootstrapFailure.Condition, Reason: of.BootstrapFailure.Reason})
	}
	return failures
}

// Kinds are the kinds of the documents of all providers.
func (s Set) Kinds() v1alpha1.InfrastructureKinds {
	kinds := v1alpha1.InfrastructureKinds{}
	for name, provider := range s {
		for _, kind := range provider.kinds() {
			document := provider.Spec.Datacenter
			if kind == provider.Spec.Machine.Kind {
				document = provider.Spec.Machine
			}
			kinds[kind] = v1alpha1.InfrastructureKind{Provider: name, Schema: provider.mustSchema(kind), Machines: kind == provider.Spec.Machine.Kind, Answers: document.Fields}
		}
	}
	return kinds
}

// Decode reads a cluster spec that may have documents of these providers.
func (s Set) Decode(file string, data []byte) *v1alpha1.Config {
	config := v1alpha1.Decode(file, data, s.Kinds())
	if config.Cluster == nil {
		return config
	}
	provider := s.Of(config.Cluster)
	return provider.Spec.SelfManaged.complete(provider.spread(config))
}
