package observe

import (
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimecatalog "sigs.k8s.io/cluster-api/api/runtime/catalog"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Topology returns what a cluster from a ClusterClass is asked for; nil for one
// without.
func Topology(cluster *clusterv1.Cluster) *state.Topology {
	given := cluster.Spec.Topology
	if !given.IsDefined() {
		return nil
	}
	t := &state.Topology{
		Class:     cluster.GetClassKey().String(),
		Version:   version(given.Version),
		Upgrading: UpgradePending(cluster),
		Pending:   pendingHooks(cluster),
		Reason:    topologyReason(cluster.Status.Conditions),
	}
	for _, group := range given.Workers.MachineDeployments {
		_, deferred := group.Metadata.Annotations[clusterv1.ClusterTopologyDeferUpgradeAnnotation]
		_, held := group.Metadata.Annotations[clusterv1.ClusterTopologyHoldUpgradeSequenceAnnotation]
		t.Groups = append(t.Groups, state.TopologyGroup{Name: group.Name, Class: group.Class, Deferred: deferred, Held: held, Pinned: isPinned(group)})
	}
	for _, pool := range given.Workers.MachinePools {
		_, deferred := pool.Metadata.Annotations[clusterv1.ClusterTopologyDeferUpgradeAnnotation]
		_, held := pool.Metadata.Annotations[clusterv1.ClusterTopologyHoldUpgradeSequenceAnnotation]
		t.Groups = append(t.Groups, state.TopologyGroup{Name: pool.Name, Class: pool.Class, Deferred: deferred, Held: held, Pool: true})
	}
	// Right after a change the condition is still that of the generation before.
	condition := meta.FindStatusCondition(cluster.Status.Conditions, clusterv1.ClusterTopologyReconciledCondition)
	t.Settled = condition != nil && condition.Status == metav1.ConditionTrue && condition.ObservedGeneration == cluster.Generation && !t.Upgrading
	t.Failed = condition != nil && condition.Reason == clusterv1.ClusterTopologyReconciledFailedReason
	t.PauseSeen = pauseSeen(cluster.Status.Conditions, clusterv1.ClusterTopologyReconciledCondition, cluster.Generation)
	return t
}

// MaxFailure is how many characters there are for what went wrong: the name of what
// was tried and the cause are far from each other.
const MaxFailure = 600

// topologyReason is why a topology is not carried over.
func topologyReason(conditions []metav1.Condition) string {
	condition := meta.FindStatusCondition(conditions, clusterv1.ClusterTopologyReconciledCondition)
	if condition != nil && condition.Reason == clusterv1.ClusterTopologyReconciledFailedReason {
		return OneLine(condition.Message, MaxFailure)
	}
	return Reason(conditions, clusterv1.ClusterTopologyReconciledCondition)
}

// isPinned reports whether an entry of a topology has a version of its own, a field
// that releases of Cluster API do not have yet: it is marked where it is written.
func isPinned(entry clusterv1.MachineDeploymentTopology) bool {
	_, pinned := entry.Metadata.Annotations[v1alpha1.PinnedAnnotation]
	return pinned
}

// pauseSeen reports whether a condition says that Cluster API has seen a pause at a
// generation of the object.
func pauseSeen(conditions []metav1.Condition, name string, generation int64) bool {
	condition := meta.FindStatusCondition(conditions, name)
	return condition != nil && condition.ObservedGeneration == generation &&
		(condition.Reason == clusterv1.PausedReason || condition.Reason == clusterv1.ClusterTopologyReconcilePausedReason)
}

// pauseOf returns the pause that clusterctl-x set on a cluster; nil without one. A backup marks
// a cluster before it pauses it.
func pauseOf(cluster *clusterv1.Cluster) *state.Pause {
	text, marked := cluster.Annotations[v1alpha1.PauseAnnotation]
	if !marked {
		return nil
	}
	var pause state.Pause
	if err := json.Unmarshal([]byte(text), &pause); err != nil {
		pause.Why = text // somebody edited it, and a word is better than none
	}
	if pause.For != "" && !ptr.Deref(cluster.Spec.Paused, false) {
		return nil
	}
	return &pause
}

// UpgradePending reports whether Cluster API has not ended the latest upgrade of a
// topology, so that it takes no other version; the condition can be ahead of that.
func UpgradePending(cluster *clusterv1.Cluster) bool {
	return slices.Contains(pendingHooks(cluster), runtimecatalog.HookName(runtimehooksv1.AfterClusterUpgrade))
}

// pendingHooks returns the hooks that Cluster API has yet to call, sorted.
func pendingHooks(cluster *clusterv1.Cluster) []string {
	text := cluster.Annotations[runtimev1.PendingHooksAnnotation]
	if text == "" {
		return nil
	}
	return slices.Sorted(strings.SplitSeq(text, ","))
}
