package v1alpha1

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
	MachineStartup Duration `json:"machineStartup,omitzero" jsonschema:"default=0s"`
	// NodeStartup is the time from boot until the node is ready.
	NodeStartup Duration `json:"nodeStartup,omitzero" jsonschema:"default=0s"`
	// APIServerStartup is the time from a control plane node until its API server is ready.
	APIServerStartup Duration `json:"apiServerStartup,omitzero" jsonschema:"default=0s"`
	// EtcdStartup is the time from a control plane node until its etcd member is ready.
	EtcdStartup Duration `json:"etcdStartup,omitzero" jsonschema:"default=0s"`
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
