package v1alpha1

// API groups of documents that are read. Documents of EKS Anywhere are read as
// they stand.
const (
	Group           = "clusterctl-x.io"
	GroupEKSA       = "anywhere.eks.amazonaws.com"
	Version1Alpha1  = "v1alpha1"
	APIVersion      = Group + "/" + Version1Alpha1
	APIVersionEKSA  = GroupEKSA + "/" + Version1Alpha1
	ClusterKind     = "Cluster"
	OIDCKind        = "OIDCConfig"
	AWSIamKind      = "AWSIamConfig"
	defaultGroup    = "md-0"
	defaultReplicas = 1
)

// Meta names the document.
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

// ClusterSpec is what you want of the cluster.
type ClusterSpec struct {
	// KubernetesVersion of the control plane, and of every worker node group
	// without one of its own: a minor ("1.34") or an exact version ("1.34.2").
	KubernetesVersion KubernetesVersion `json:"kubernetesVersion,omitzero" jsonschema:"required"`
	// ControlPlaneConfiguration describes the control plane.
	ControlPlaneConfiguration ControlPlaneConfiguration `json:"controlPlaneConfiguration,omitzero"`
	// WorkerNodeGroupConfigurations are the worker node groups. Their order is
	// the order in which they are upgraded.
	WorkerNodeGroupConfigurations []WorkerNodeGroupConfiguration `json:"workerNodeGroupConfigurations,omitempty"`
	// ClusterClass makes the cluster a managed topology of Cluster API, from a
	// ClusterClass. A cluster that is there cannot begin or cease to be one.
	ClusterClass *ClusterClass `json:"clusterClass,omitempty"`
	// DatacenterRef names the document that says where machines are made, of a kind of
	// an infrastructure provider. It is required, but for a clusterClass that is not
	// one of clusterctl-x.
	DatacenterRef Ref `json:"datacenterRef,omitzero"`
	// ClusterNetwork holds the networks of pods and services. A cluster with a class of
	// your own may leave it out.
	ClusterNetwork ClusterNetwork `json:"clusterNetwork,omitzero"`
	// ExternalEtcdConfiguration asks for etcd outside of the control plane's machines.
	ExternalEtcdConfiguration *ExternalEtcdConfiguration `json:"externalEtcdConfiguration,omitempty"`
	// IdentityProviderRefs name documents of kind OIDCConfig or AWSIamConfig, at
	// most one of each: who may log in beside those with certificates.
	IdentityProviderRefs []Ref `json:"identityProviderRefs,omitempty" jsonschema:"maxItems=2"`
	// PodIAMConfig lets pods prove who they are to a cloud.
	PodIAMConfig *PodIAMConfig `json:"podIamConfig,omitempty"`
	// MachineHealthCheck has unhealthy machines replaced, in the control plane
	// and in every worker node group. Without one nothing is replaced, unless a
	// part has a check of its own.
	MachineHealthCheck *MachineHealthCheck `json:"machineHealthCheck,omitempty"`
	// EtcdEncryption has the API server encrypt what it keeps in etcd; at most
	// one entry.
	EtcdEncryption []EtcdEncryption `json:"etcdEncryption,omitempty" jsonschema:"maxItems=1"`
	// ProxyConfiguration is the proxy through which machines pull images.
	ProxyConfiguration *ProxyConfiguration `json:"proxyConfiguration,omitempty"`
	// RegistryMirrorConfiguration is a registry that machines pull images from
	// instead of the public ones.
	RegistryMirrorConfiguration *RegistryMirrorConfiguration `json:"registryMirrorConfiguration,omitempty"`
	// AddOns are applied to the cluster as soon as its API server answers, by
	// Cluster API's ClusterResourceSets.
	AddOns []AddOn `json:"addOns,omitempty"`
	// UpgradePolicy says how the cluster is upgraded.
	UpgradePolicy UpgradePolicy `json:"upgradePolicy,omitzero"`
	// ManagementCluster names the cluster that manages this one.
	ManagementCluster ManagementCluster `json:"managementCluster,omitzero"`
}

// ClusterClass names a ClusterClass. With a datacenterRef it is one that
// 'generate clusterclass' made for that provider, and every field of the spec
// acts. Without, it is one of your own, which has variables for what differs
// from cluster to cluster.
type ClusterClass struct {
	// Name of the ClusterClass.
	Name string `json:"name"`
	// Namespace of the ClusterClass. Defaults to that of the cluster.
	Namespace string `json:"namespace,omitempty"`
	// Variables maps names of variables of the class to values.
	Variables map[string]any `json:"variables,omitempty"`
}

// UpgradePolicy says how a cluster is upgraded.
type UpgradePolicy struct {
	// MaxConcurrentWorkerGroups is how many worker node groups of one step of an
	// upgrade get new machines at the same time, in the order of the spec.
	// Defaults to 1.
	MaxConcurrentWorkerGroups *int `json:"maxConcurrentWorkerGroups,omitempty" jsonschema:"minimum=1,default=1"`
	// MaxWorkerVersionSkew is how many minors a worker node group may be older
	// than the control plane, 1 to 3. It tightens the policy of Kubernetes, which
	// is 3 (2 for nodes older than 1.25), and never widens it.
	MaxWorkerVersionSkew *int `json:"maxWorkerVersionSkew,omitempty" jsonschema:"minimum=1,maximum=3"`
}

// defaultConcurrency replaces the machines of one group after the other.
const defaultConcurrency = 1

// Concurrency is how many worker node groups of a step move at the same time,
// after defaulting.
func (p UpgradePolicy) Concurrency() int {
	if p.MaxConcurrentWorkerGroups == nil {
		return defaultConcurrency
	}
	return *p.MaxConcurrentWorkerGroups
}

// ManagementCluster names a cluster.
type ManagementCluster struct {
	// Name of the management cluster; the cluster's own name means
	// self-managed. Without a name it is the management cluster in use.
	Name string `json:"name,omitempty"`
}

// SelfManaged reports whether the cluster is to manage itself.
func (c Cluster) SelfManaged() bool {
	return c.Spec.ManagementCluster.Name != "" && c.Spec.ManagementCluster.Name == c.Metadata.Name
}

// Ref names another document of the file.
type Ref struct {
	// Kind of the document.
	Kind string `json:"kind"`
	// Name of the document.
	Name string `json:"name"`
}

// ExternalEtcdConfiguration asks for etcd outside of the control plane's
// machines. With endpoints it is an etcd that is there already, whose
// certificates are in two Secrets of the cluster's namespace, under the names
// that Cluster API gives: <cluster>-etcd (tls.crt: the CA) and
// <cluster>-apiserver-etcd-client (tls.crt, tls.key).
type ExternalEtcdConfiguration struct {
	// Count of etcd machines: odd, at least 1. No provider here makes such
	// machines: without endpoints etcd stays on the control plane, with a warning.
	Count int `json:"count,omitempty" jsonschema:"minimum=1"`
	// Endpoints of the members of an existing etcd, such as
	// https://10.0.0.10:2379; at most 50.
	Endpoints []string `json:"endpoints,omitempty" jsonschema:"maxItems=50"`
}

// EtcdEncryption has the API server encrypt resources in etcd.
type EtcdEncryption struct {
	// Providers of keys: exactly one.
	Providers []EtcdEncryptionProvider `json:"providers" jsonschema:"minItems=1,maxItems=1"`
	// Resources to encrypt, such as secrets or configmaps.
	Resources []string `json:"resources" jsonschema:"minItems=1"`
}

// EtcdEncryptionProvider is where keys come from.
type EtcdEncryptionProvider struct {
	// KMS is a plugin of Kubernetes' key management service.
	KMS *KMS `json:"kms"`
}

// KMS is a plugin of Kubernetes' key management service, which you run on every
// control plane machine. API servers from 1.29 on are told to use version 2 of
// its interface, older ones version 1.
type KMS struct {
	// Name of the plugin.
	Name string `json:"name"`
	// SocketListenAddress of the plugin, such as unix:///var/run/kms/socket.sock.
	SocketListenAddress string `json:"socketListenAddress"`
	// CacheSize is the number of keys that the API server keeps in clear, with
	// version 1 of the interface only. Defaults to 1000 there.
	CacheSize *int `json:"cachesize,omitempty" jsonschema:"default=1000"`
	// Timeout of a call of the plugin. Defaults to 3s.
	Timeout Duration `json:"timeout,omitzero" jsonschema:"default=3s"`
}

// AddOn is one ClusterResourceSet.
type AddOn struct {
	// Name of the add-on, unique in the cluster.
	Name string `json:"name"`
	// Resources whose data are manifests, in the cluster's namespace.
	Resources []AddOnResource `json:"resources" jsonschema:"minItems=1"`
	// Strategy is ApplyOnce, which leaves alone what was applied, or Reconcile,
	// which applies each change of the manifests. Defaults to Reconcile, and
	// cannot be changed afterwards.
	Strategy string `json:"strategy,omitempty" jsonschema:"enum=ApplyOnce,enum=Reconcile,default=Reconcile"`
}

// AddOnResource is an object whose data are manifests.
type AddOnResource struct {
	// Kind is ConfigMap, or Secret (of type addons.cluster.x-k8s.io/resource-set).
	Kind string `json:"kind" jsonschema:"enum=ConfigMap,enum=Secret"`
	// Name of the object.
	Name string `json:"name"`
}
