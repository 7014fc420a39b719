package management

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"

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
		machine.Kubelet = version(m.Status.NodeInfo.KubeletVersion)
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
		endpoint := s.cluster.Spec.ControlPlaneEndpoint
		machine.Reason = fmt.Sprintf("kubeadm init is not done yet, or nothing answers at https://%s", net.JoinHostPort(endpoint.Host, strconv.Itoa(int(endpoint.Port))))
	}
	return machine
}

// machineReason is why a machine is not ready, or not gone.
func machineReason(m clusterv1.Machine) string {
	switch {
	case annotations.HasPaused(&m):
		return "it is paused (annotation " + clusterv1.PausedAnnotation + ")"
	case !m.DeletionTimestamp.IsZero():
		return deletingReason(m)
	case meta.IsStatusConditionTrue(m.Status.Conditions, clusterv1.MachineReadyCondition):
		return ""
	}
	// Whoever would replace a sick machine says there why it does not.
	remediation := reason(m.Status.Conditions, clusterv1.MachineOwnerRemediatedCondition)
	if remediation != "" {
		remediation = "; remediation: " + remediation
	}
	ready := meta.FindStatusCondition(m.Status.Conditions, clusterv1.MachineReadyCondition)
	if ready == nil {
		return ""
	}
	return line(firstItem(cmp.Or(ready.Message, ready.Reason)), max(maxReason-len(remediation), maxReason/2)) + remediation
}

// deletingReason is why a machine that was told to go is still there.
func deletingReason(m clusterv1.Machine) string {
	deleting := meta.FindStatusCondition(m.Status.Conditions, clusterv1.MachineDeletingCondition)
	switch {
	case deleting == nil || deleting.Status != metav1.ConditionTrue:
		return ""
	case deleting.Reason == clusterv1.MachineDeletingDrainingNodeReason:
		return drain(deleting.Message)
	}
	return message(m.Status.Conditions, clusterv1.MachineDeletingCondition)
}

// drain is line for what Cluster API says of a drain. What needs somebody to do
// something stands first, and shorter: pods that cannot be evicted, and the
// budgets that do not let them.
func drain(message string) string {
	lines := strings.Split(message, "\n")
	pods := slices.DeleteFunc(lines[1:], func(line string) bool {
		return strings.HasPrefix(line, "After above Pods") // later
	})
	evictable := func(line string) int {
		if strings.Contains(line, "deletionTimestamp set") || strings.Contains(line, "waiting for completion") {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(pods, func(a, b string) int { return cmp.Compare(evictable(a), evictable(b)) })
	for i := range pods {
		pods[i] = strings.Replace(pods[i], "cannot evict pod as it would violate the pod's disruption budget. The", "cannot evict pod: the", 1)
	}
	return line(slices.Concat(lines[:1], pods), maxReason)
}
