package view

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Watched is what was seen of a cluster at last.
type Watched struct {
	Cluster state.Cluster
	// Gone is true where the cluster does not exist.
	Gone bool
	// Left are the steps that are left.
	Left plan.Plan
	// Unknown is why the steps that are left cannot be told.
	Unknown error
}

// Late says how far the cluster was when the time for watching it was over, in words that follow
// those about the time.
func (w Watched) Late(key types.NamespacedName) string {
	if w.Cluster.Name == "" {
		return fmt.Sprintf(" before the state of cluster %s was known", key)
	}
	return fmt.Sprintf(" watching; cluster %s waits for %s", key, w.Cluster.Waiting())
}

// WaitedFor says what a cluster was waited for, as it was seen last, after a blank.
func WaitedFor(last state.Cluster) string {
	if last.Name == "" {
		return " before its state was known"
	}
	return " waiting for " + last.Waiting()
}

// End says on one line how watching the cluster ended.
func (w Watched) End(key types.NamespacedName, after time.Duration) string {
	switch {
	case w.Gone:
		return fmt.Sprintf("cluster %s is gone", key)
	case w.Unknown != nil && w.Cluster.Unmanaged: // nobody has asked clusterctl-x for more
		return fmt.Sprintf("cluster %s is at %s, after %s", key, w.Cluster.ControlPlane.Version, after)
	case w.Unknown != nil:
		return fmt.Sprintf("cluster %s is at %s after %s; it is unknown whether its spec asks for more: %v", key, w.Cluster.ControlPlane.Version, after, w.Unknown)
	case !w.Left.Empty():
		return fmt.Sprintf("cluster %s is at %s after %s, and no run takes the next step (%s): run 'clusterctl-x upgrade cluster' to continue", key, w.Cluster.ControlPlane.Version, after, w.Left.Steps[0])
	default:
		return fmt.Sprintf("cluster %s is at %s and matches its spec, after %s", key, w.Cluster.ControlPlane.Version, after)
	}
}
