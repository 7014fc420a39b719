package v1alpha1

import (
	"errors"
	"time"
)

// API groups of documents that are read. Documents of EKS Anywhere are read as
// they stand.
const (
	Group           = "clusterctl-x.io"
	GroupEKSA       = "anywhere.eks.amazonaws.com"
	Version1Alpha1  = "v1alpha1"
	APIVersion      = Group + "/" + Version1Alpha1
	APIVersionEKSA  = GroupEKSA + "/" + Version1Alpha1
	ClusterKind     = "Cluster"
	InMemoryKind    = "InMemoryDatacenterConfig"
	DockerKind      = "DockerDatacenterConfig"
	defaultGroup    = "md-0"
	defaultReplicas = 1
)

// Meta names a document.
type Meta struct {
	// Name of the object. A cluster's name begins the name of everything that
	// belongs to it.
	Name string `json:"name"`
	// Namespace that the cluster's objects live in. Empty means the one that
	// the command is told.
	Namespace string `json:"namespace,omitempty"`
}

// Cluster describes one Kubernetes cluster.
type Cluster struct {
	APIVersion string      `json:"apiVersion"`
	Kind       string      `json:"kind"`
	Metadata   Meta        `json:"metadata"`
	Spec       ClusterSpec `json:"spec"`
}

// ClusterSpec is what the user wants of a cluster.
type ClusterSpec struct {
	// KubernetesVersion of the control plane and of every following worker
	// node group: a minor ("1.34") or an exact version ("1.34.2").
	KubernetesVersion KubernetesVersion `json:"kubernetesVersion,omitzero"`
	// ControlPlaneConfiguration is the control plane's size.
	ControlPlaneConfiguration ControlPlaneConfiguration `json:"controlPlaneConfiguration,omitzero"`
	// WorkerNodeGroupConfigurations are the worker node groups. Their order is
	// the order in which they are upgraded.
	WorkerNodeGroupConfigurations []WorkerNodeGroupConfiguration `json:"workerNodeGroupConfigurations,omitempty"`
	// DatacenterRef names the provider document.
	DatacenterRef Ref `json:"datacenterRef"`
	// ExternalEtcdConfiguration asks for etcd on machines of its own. On the
	// development providers etcd stays on the control plane, with a warning.
	ExternalEtcdConfiguration *ExternalEtcdConfiguration `json:"externalEtcdConfiguration,omitempty"`
	// ClusterNetwork holds the networks of pods and services.
	ClusterNetwork ClusterNetwork `json:"clusterNetwork"`
	// ManagementCluster names the cluster that manages this one.
	ManagementCluster ManagementCluster `json:"managementCluster,omitzero"`
}

// ControlPlaneConfiguration is the control plane.
type ControlPlaneConfiguration struct {
	// Count of control plane machines: odd, at least 1. Defaults to 1.
	Count *int `json:"count,omitempty"`
}

// WorkerNodeGroupConfiguration is one worker node group.
type WorkerNodeGroupConfiguration struct {
	// Name of the group, unique in the cluster. A single group without a name
	// is called md-0.
	Name string `json:"name,omitempty"`
	// Count of machines, 0 or more. Defaults to 1.
	Count *int `json:"count,omitempty"`
	// KubernetesVersion pins the group. A group without one follows the cluster.
	KubernetesVersion *KubernetesVersion `json:"kubernetesVersion,omitempty"`
}

// Replicas is the number of machines of the group, after defaulting.
func (g WorkerNodeGroupConfiguration) Replicas() int { return orDefault(g.Count) }

// Pinned tells whether the group has a version of its own.
func (g WorkerNodeGroupConfiguration) Pinned() bool { return g.KubernetesVersion != nil }

// Replicas is the number of control plane machines, after defaulting.
func (c ControlPlaneConfiguration) Replicas() int { return orDefault(c.Count) }

func orDefault(count *int) int {
	if count == nil {
		return defaultReplicas
	}
	return *count
}

// ExternalEtcdConfiguration asks for etcd outside of the control plane.
type ExternalEtcdConfiguration struct {
	// Count of etcd machines: odd, at least 1.
	Count int `json:"count,omitempty"`
}

// ClusterNetwork holds the cluster's networks.
type ClusterNetwork struct {
	// Pods has the one network of pods.
	Pods Network `json:"pods"`
	// Services has the one network of services.
	Services Network `json:"services"`
	// CNIConfig names the network plugin. It is not installed yet: a warning says so.
	CNIConfig *CNIConfig `json:"cniConfig,omitempty"`
}

// CNIConfig names the network plugin, as EKS Anywhere does.
type CNIConfig struct {
	Cilium   *Cilium   `json:"cilium,omitempty"`
	Kindnetd *Kindnetd `json:"kindnetd,omitempty"`
}

// Cilium has no settings here yet.
type Cilium struct{}

// Kindnetd has no settings.
type Kindnetd struct{}

// Network is a list of address ranges.
type Network struct {
	// CIDRBlocks is one range in CIDR notation.
	CIDRBlocks []string `json:"cidrBlocks"`
}

// ManagementCluster names a cluster.
type ManagementCluster struct {
	// Name of the management cluster; the cluster's own name means
	// self-managed. Without a name it is the management cluster in use.
	Name string `json:"name,omitempty"`
}

// SelfManaged tells whether the cluster is to manage itself.
func (c Cluster) SelfManaged() bool {
	return c.Spec.ManagementCluster.Name != "" && c.Spec.ManagementCluster.Name == c.Metadata.Name
}

// Ref names another document of the file.
type Ref struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// InMemoryDatacenterConfig makes machines that are simulated inside Cluster
// API's dev provider: nodes and API servers that behave, at no cost.
type InMemoryDatacenterConfig struct {
	APIVersion string                 `json:"apiVersion"`
	Kind       string                 `json:"kind"`
	Metadata   Meta                   `json:"metadata"`
	Spec       InMemoryDatacenterSpec `json:"spec,omitzero"`
}

// InMemoryDatacenterSpec says how long simulated things take to start. A
// duration that is left out means at once.
type InMemoryDatacenterSpec struct {
	// MachineStartup is the time from a machine's creation until it has booted.
	MachineStartup Duration `json:"machineStartup,omitzero"`
	// NodeStartup is the time from boot until the node is ready.
	NodeStartup Duration `json:"nodeStartup,omitzero"`
	// APIServerStartup is the time from a control plane node until its API server is ready.
	APIServerStartup Duration `json:"apiServerStartup,omitzero"`
	// EtcdStartup is the time from a control plane node until its etcd member is ready.
	EtcdStartup Duration `json:"etcdStartup,omitzero"`
}

// DockerDatacenterConfig makes machines that are containers. It has no settings.
type DockerDatacenterConfig struct {
	APIVersion string               `json:"apiVersion"`
	Kind       string               `json:"kind"`
	Metadata   Meta                 `json:"metadata"`
	Spec       DockerDatacenterSpec `json:"spec,omitzero"`
}

// DockerDatacenterSpec has no fields, as in EKS Anywhere.
type DockerDatacenterSpec struct{}

// Duration is written as Go writes durations: 90s, 1m30s.
type Duration struct{ time.Duration }

// MarshalText writes the duration as Go does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil || parsed < 0 {
		return errors.New("write a duration such as 90s or 1m30s, or 0s for at once")
	}
	d.Duration = parsed
	return nil
}
