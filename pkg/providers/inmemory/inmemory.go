// Package inmemory is the provider of simulated machines: the in-memory
// backend of Cluster API's dev infrastructure provider.
package inmemory

import (
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// Name of the provider, in the command line and among the templates.
const Name = "inmemory"

// Provider renders simulated machines.
type Provider struct {
	spec v1alpha1.InMemoryDatacenterSpec
}

// New returns the provider with the user's start-up durations.
func New(config *v1alpha1.InMemoryDatacenterConfig) Provider { return Provider{spec: config.Spec} }

// Name of the provider.
func (Provider) Name() string { return Name }

// Node has little to say: no kubeadm runs on a simulated machine, so that a
// worker of any version joins.
func (Provider) Node(v1alpha1.Version) providers.Node { return providers.Node{SimulatedCoreDNS: true} }

// machine is the data of machine-template.yaml.tmpl. Durations are written as Go writes them.
type machine struct {
	ControlPlane                                               bool
	MachineStartup, NodeStartup, APIServerStartup, EtcdStartup string
}

// ControlPlaneMachine is the data of the control plane's machine template.
func (p Provider) ControlPlaneMachine(versionsbundle.Release) any { return p.machine(true) }

// WorkerMachine is the data of a worker node group's machine template.
func (p Provider) WorkerMachine(versionsbundle.Release) any { return p.machine(false) }

func (p Provider) machine(controlPlane bool) machine {
	return machine{
		ControlPlane:     controlPlane,
		MachineStartup:   p.spec.MachineStartup.String(),
		NodeStartup:      p.spec.NodeStartup.String(),
		APIServerStartup: p.spec.APIServerStartup.String(),
		EtcdStartup:      p.spec.EtcdStartup.String(),
	}
}

// Variables of the provider's classes are the durations that are not zero.
func (p Provider) Variables() map[string]any {
	variables := map[string]any{}
	for name, duration := range map[string]v1alpha1.Duration{
		"machineStartup": p.spec.MachineStartup, "nodeStartup": p.spec.NodeStartup, "apiServerStartup": p.spec.APIServerStartup, "etcdStartup": p.spec.EtcdStartup,
	} {
		if duration.Duration != 0 {
			variables[name] = duration.String()
		}
	}
	return variables
}
