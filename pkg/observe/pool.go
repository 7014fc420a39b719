package observe

import (
	"cmp"
	"fmt"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/labels/format"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// poolPart reads a MachinePool as a worker node group, which clusterctl-x never makes. One
// that has no version has that of its nodes: its provider chooses it.
func (s snapshot) poolPart(pool clusterv1.MachinePool) state.Part {
	name, ofTopology := pool.Labels[clusterv1.ClusterTopologyMachinePoolNameLabel]
	ofTopology = ofTopology && s.cluster.Spec.Topology.IsDefined()
	if !ofTopology {
		name = strings.TrimPrefix(pool.Name, s.cluster.Name+"-")
	}
	part := state.Part{
		Name:          name,
		Object:        "MachinePool/" + pool.Name,
		Unmanaged:     !ofTopology,
		Paused:        annotations.HasPaused(&pool),
		Generation:    pool.Generation,
		Version:       version(pool.Spec.Template.Spec.Version),
		Replicas:      replicas(pool.Spec.Replicas),
		Autoscaled:    autoscaled(&pool),
		SkewUnchecked: true, // only MachineSets have the check
		Unseen:        pool.Status.ObservedGeneration != pool.Generation,
	}
	part.Machines = s.poolMachines(pool)
	for i, machine := range part.Machines {
		part.Machines[i] = completed(machine, part)
	}
	infrastructure := pool.Status.Initialization.InfrastructureProvisioned
	part.Settled = !part.Unseen && infrastructure != nil && *infrastructure && upToDate(pool.Status.UpToDateReplicas, pool.Spec.Replicas)
	part.Reason = cmp.Or(v1beta1Reason(pool), unseen(part, nil, ""))
	return part
}

// v1beta1Reason is what keeps a MachinePool from being ready. It has no other conditions yet.
func v1beta1Reason(pool clusterv1.MachinePool) string {
	for _, condition := range pool.GetV1Beta1Conditions() {
		if condition.Status == "False" && condition.Type != clusterv1.ReadyV1Beta1Condition {
			return OneLine(cmp.Or(condition.Message, condition.Reason), MaxReason)
		}
	}
	return ""
}

// poolMachines returns the machines of a pool: its Machines, where its provider makes any,
// and else one for each of its nodes.
func (s snapshot) poolMachines(pool clusterv1.MachinePool) []state.Machine {
	var machines []state.Machine
	for _, machine := range s.machines {
		if machine.Labels[clusterv1.MachinePoolNameLabel] == format.MustFormatValue(pool.Name) {
			machines = append(machines, s.machineState(machine))
		}
	}
	if len(machines) > 0 {
		return machines
	}
	return poolNodes(pool)
}

// poolNodes returns the nodes of a pool as machines. Its status counts them by version and
// does not say which node has which, so that they have no names where they differ.
func poolNodes(pool clusterv1.MachinePool) []state.Machine {
	var versions []v1alpha1.Version
	for _, running := range pool.Status.Versions {
		for range max(1, running.Replicas) {
			versions = append(versions, version(running.Version))
		}
	}
	ready := readyNodes(pool)
	alike := len(pool.Status.Versions) <= 1 && ready >= len(pool.Status.NodeRefs)
	var machines []state.Machine
	for i := range max(len(versions), len(pool.Status.NodeRefs)) {
		machine := state.Machine{Name: fmt.Sprintf("%d of MachinePool/%s", i+1, pool.Name), Phase: string(clusterv1.MachinePhaseRunning), Ready: i < ready}
		if alike && i < len(pool.Status.NodeRefs) {
			machine.Name, machine.Node = pool.Status.NodeRefs[i].Name, pool.Status.NodeRefs[i].Name
		}
		if i < len(versions) {
			machine.Version, machine.Kubelet = versions[i], versions[i]
		}
		machines = append(machines, machine)
	}
	return machines
}

// readyNodes counts the ready nodes of a pool without Machines: the field of today has the
// count that the provider wants.
func readyNodes(pool clusterv1.MachinePool) int {
	if deprecated := pool.Status.Deprecated; deprecated != nil && deprecated.V1Beta1 != nil {
		return int(deprecated.V1Beta1.ReadyReplicas) //nolint:staticcheck // there is nothing else
	}
	if pool.Status.ReadyReplicas != nil {
		return int(*pool.Status.ReadyReplicas)
	}
	return 0
}
