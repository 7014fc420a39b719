package management

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// topology is nil for a cluster without a ClusterClass.
func (s snapshot) topology() *state.Topology {
	given := s.cluster.Spec.Topology
	if !given.IsDefined() {
		return nil
	}
	t := &state.Topology{
		Class:   s.cluster.GetClassKey().String(),
		Version: version(given.Version),
		Reason:  reason(s.cluster.Status.Conditions, clusterv1.ClusterTopologyReconciledCondition),
	}
	for _, group := range given.Workers.MachineDeployments {
		_, deferred := group.Metadata.Annotations[clusterv1.ClusterTopologyDeferUpgradeAnnotation]
		_, held := group.Metadata.Annotations[clusterv1.ClusterTopologyHoldUpgradeSequenceAnnotation]
		t.Groups = append(t.Groups, state.TopologyGroup{Name: group.Name, Class: group.Class, Deferred: deferred, Held: held})
	}
	// Right after a change the condition is still that of the generation before.
	condition := meta.FindStatusCondition(s.cluster.Status.Conditions, clusterv1.ClusterTopologyReconciledCondition)
	t.Settled = condition != nil && condition.Status == metav1.ConditionTrue && condition.ObservedGeneration == s.cluster.Generation
	return t
}
