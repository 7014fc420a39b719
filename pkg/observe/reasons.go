package observe

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"

	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Reasons are the messages of Cluster API's conditions, on one line.

// MaxReason is how many characters a reason may have, so that the line that it
// ends up in can be read at a glance.
const MaxReason = 200

// Reason returns why a condition is not true, on one line. It is empty where the
// condition is true, or not there.
func Reason(conditions []metav1.Condition, conditionType string) string {
	if meta.IsStatusConditionTrue(conditions, conditionType) {
		return ""
	}
	return message(conditions, conditionType)
}

func message(conditions []metav1.Condition, conditionType string) string {
	condition := meta.FindStatusCondition(conditions, conditionType)
	if condition == nil {
		return ""
	}
	return OneLine(cmp.Or(condition.Message, condition.Reason), MaxReason)
}

// blockage is why Cluster API does not do what a condition says that it does.
func blockage(conditions []metav1.Condition, conditionType string) string {
	condition := meta.FindStatusCondition(conditions, conditionType)
	if condition == nil || condition.Status != metav1.ConditionTrue {
		return ""
	}
	_, because, _ := strings.Cut(condition.Message, " is blocked because:\n")
	return OneLine(because, MaxReason)
}

// blockedSet is why a MachineSet makes no machines. The MachineDeployment itself
// does not carry this reason on.
func blockedSet(sets []clusterv1.MachineSet) string {
	for _, set := range sets {
		object := "MachineSet/" + set.Name
		if because := blockage(set.Status.Conditions, clusterv1.MachineSetScalingUpCondition); because != "" {
			return object + " creates no machines: " + because
		}
		if !meta.IsStatusConditionTrue(set.Status.Conditions, clusterv1.MachineSetScalingUpCondition) {
			continue // what is left of an error is an old one
		}
		if because := createError(object, set.GetV1Beta1Conditions(), clusterv1.MachinesCreatedV1Beta1Condition); because != "" {
			return because
		}
	}
	return ""
}

// createError returns why a machine could not be created. Cluster API reports that only
// in the conditions of its former API and in events.
func createError(object string, conditions clusterv1.Conditions, conditionType clusterv1.ConditionType) string { //nolint:staticcheck // deprecated, and nothing took its place
	i := slices.IndexFunc(conditions, func(c clusterv1.Condition) bool { //nolint:staticcheck // as above
		return c.Type == conditionType && c.Status == corev1.ConditionFalse && c.Severity == clusterv1.ConditionSeverityError
	})
	if i < 0 {
		return ""
	}
	return object + " creates no machines: " + OneLine(cmp.Or(conditions[i].Message, conditions[i].Reason), MaxReason)
}

// unseen says that Cluster API has not finished the latest change of the object of a
// part. It also stays so while each of its attempts fails. It says nothing where Cluster
// API has tried, which available and its generation show, and a machine is not ready:
// then the condition says more, and attempts fail because of the machine.
func unseen(part state.Part, conditions []metav1.Condition, available string) string {
	notReady := func(m state.Machine) bool { return !m.Ready }
	if !part.Unseen || tried(part.Generation, conditions, available) && slices.ContainsFunc(part.Machines, notReady) {
		return ""
	}
	return "Cluster API has not finished the latest change of " + part.Object + "; if that persists, the log of its controller says why"
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
	// The controller that would replace an unhealthy machine says there why it does
	// not.
	remediation := Reason(m.Status.Conditions, clusterv1.MachineOwnerRemediatedCondition)
	if remediation != "" {
		remediation = "; remediation: " + remediation
	}
	ready := meta.FindStatusCondition(m.Status.Conditions, clusterv1.MachineReadyCondition)
	if ready == nil {
		return ""
	}
	return line(firstItem(cmp.Or(ready.Message, ready.Reason)), max(MaxReason-len(remediation), MaxReason/2)) + remediation
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

// drain is line for Cluster API's message about a drain. What needs a user's action
// comes first, and shorter: pods that cannot be evicted, and the budgets that do not
// let them.
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
	return line(slices.Concat(lines[:1], pods), MaxReason)
}
