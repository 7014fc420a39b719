package lifecycle

import (
	"fmt"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// groupNotes says of worker node groups what a plan that changes versions alone cannot
// show in its steps.
func groupNotes(cluster state.Cluster, p plan.Plan) []string {
	var notes []string
	for _, part := range cluster.WorkerNodeGroups {
		version, planned := p.To.WorkerNodeGroups[part.Name]
		moves := version != part.Version
		switch behind := planned && version.Minor() != p.To.ControlPlane.Minor(); {
		case part.Pool() && part.Version.IsZero():
			notes = append(notes, fmt.Sprintf("%s has no version, so that its provider chooses it: the upgrade leaves it as it is; give it spec.template.spec.version to have it upgraded", part.Object))
		case part.Pool() && moves:
			notes = append(notes, fmt.Sprintf("%s: its provider replaces the machines, or upgrades them in place, or does nothing for another version; the step waits until its nodes run that version", part.Object))
		case behind && !moves && !part.SkewUnchecked:
			notes = append(notes, fmt.Sprintf("group %s stays at %s: while the control plane is at %s, Cluster API makes no new machines for it (preflight %s of its MachineSets), so it cannot be scaled up, and machines that fail are not replaced; upgrade it soon",
				part.Name, version, p.To.ControlPlane.Minor(), clusterv1.MachineSetPreflightCheckKubeadmVersionSkew))
		}
	}
	return notes
}
