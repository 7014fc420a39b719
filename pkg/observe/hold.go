package observe

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Holds returns the holds that people set on a cluster.
func Holds(cluster *clusterv1.Cluster) []state.Hold {
	return state.HoldsOf(client.ObjectKeyFromObject(cluster), cluster.Annotations)
}

// heldBy returns the hold that, by a condition of the Cluster, its upgrade waits at;
// nil if there is none, or it was lifted since.
func heldBy(cluster *clusterv1.Cluster, holds []state.Hold) *state.Hold {
	condition := meta.FindStatusCondition(cluster.Status.Conditions, v1alpha1.HeldCondition)
	if condition == nil || condition.Status != metav1.ConditionTrue {
		return nil
	}
	i := slices.IndexFunc(holds, func(h state.Hold) bool { return h.Point.Hook() == condition.Reason })
	if i < 0 {
		return nil
	}
	return &holds[i]
}
