package observe

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

func (s snapshot) machineState(m clusterv1.Machine) state.Machine {
	machine := state.Machine{
		Name:     m.Name,
		Phase:    cmp.Or(m.Status.Phase, string(clusterv1.MachinePhasePending)),
		Version:  version(m.Spec.Version),
		Node:     m.Status.NodeRef.Name,
		Ready:    meta.IsStatusConditionTrue(m.Status.Conditions, clusterv1.MachineReadyCondition) && m.Status.NodeRef.Name != "",
		Deleting: !m.DeletionTimestamp.IsZero(),
		Since:    m.CreationTimestamp.Time,
		Reason:   machineReason(m),
		Failed:   s.failed[m.Name],
	}
	if machine.Deleting {
		// Before Cluster API has noticed, too.
		machine.Phase, machine.Since = string(clusterv1.MachinePhaseDeleting), m.DeletionTimestamp.Time
	}
	if m.Status.NodeInfo != nil {
		// Kubelets of EKS, K3s and others add to the version that their machine was asked to have.
		machine.Kubelet = version(m.Status.NodeInfo.KubeletVersion).Completed(machine.Version)
	}
	// There are other reasons for which a machine is not up to date; those do
	// not replace it.
	condition := meta.FindStatusCondition(m.Status.Conditions, clusterv1.MachineUpToDateCondition)
	machine.Outdated = condition != nil && condition.Reason == clusterv1.MachineNotUpToDateReason
	return machine
}

// controlPlaneMachine is machineState for a machine of the control plane.
func (s snapshot) controlPlaneMachine(m clusterv1.Machine) state.Machine {
	machine := s.machineState(m)
	// Before there is an API server, Cluster API says of its first machine that it
	// waits for the control plane, which is that machine.
	if strings.HasSuffix(machine.Reason, "Waiting for Cluster control plane to be initialized") {
		machine.Reason = fmt.Sprintf("kubeadm init is not done yet, or nothing answers at https://%s", s.cluster.Spec.ControlPlaneEndpoint.String())
	}
	return machine
}
