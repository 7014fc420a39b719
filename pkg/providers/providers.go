// Package providers has what the infrastructure providers, one package each
// below this one, say about their machines. CONTRIBUTING.md says how one is added.
package providers

// Node is how kubeadm runs on a provider's machines.
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
