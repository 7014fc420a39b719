package lifecycle

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// current is the state of a cluster before an upgrade: a live cluster, or one that
// matches another file exactly.
type current struct {
	namespace string
	// state of a live cluster.
	state    state.Cluster
	metadata plan.Metadata
	start    plan.Start
	// running are the versions that a minor in a spec may mean.
	running v1alpha1.ClusterVersions
	// upgrading is true where Cluster API is upgrading the cluster.
	upgrading bool
	// before is the spec that the cluster was made from; nil where it is not known.
	before *v1alpha1.Config
	// objects of a cluster that a file describes.
	objects engine.Objects
	// topology is more about a cluster from a ClusterClass; nil for others.
	topology *currentTopology
	// live are the objects of a live cluster whose versions alone are changed.
	live management.VersionedObjects
	// recorded is the record of a live cluster.
	recorded management.Record
	// names of objects on the management cluster, as Kind/name, by the names that they
	// are generated under.
	names map[string]string
}

// currentTopology is the state of a live cluster from a ClusterClass.
type currentTopology struct {
	cluster *clusterv1.Cluster
	// class that the cluster is made from now.
	class topology.Class
	// takesVersions is true where Cluster API takes versions for groups in the topology
	// itself.
	takesVersions bool
}

// hasVersions reports whether versions of groups stand in the topology.
func (t *currentTopology) hasVersions() bool { return t != nil && t.takesVersions }

// live returns the Cluster; nil for a new one.
func (t *currentTopology) live() *clusterv1.Cluster {
	if t == nil {
		return nil
	}
	return t.cluster
}

// currentOf returns the current state of a live cluster.
func currentOf(cluster state.Cluster) current {
	start := plan.StartOf(cluster)
	return current{state: cluster, namespace: cluster.Namespace, metadata: plan.MetadataOf(cluster, ""), start: start, running: start.Versions()}
}

// withTopology adds what a live cluster from a ClusterClass is.
func (c current) withTopology(t currentTopology) current {
	c.topology, c.names = &t, liveNames(c.state, t.cluster)
	c.running, c.upgrading = runningOf(c.state), c.state.Topology.Upgrading
	return c
}

// runningOf are the versions that a minor may mean on a cluster that is there: of
// one from a ClusterClass where it goes, if it is not there yet.
func runningOf(cluster state.Cluster) v1alpha1.ClusterVersions {
	versions := cluster.Versions()
	if cluster.Topology != nil {
		versions.ControlPlane = cluster.Topology.Version
	}
	return versions
}

// notes returns the remarks about the current cluster that matter to an upgrade to a spec.
func (c current) notes(of Spec) []string {
	var notes []string
	if topology := c.state.Topology; topology != nil && topology.Failed {
		notes = append(notes, "Cluster API cannot reconcile the topology until this is fixed: "+topology.Reason)
	}
	for _, part := range c.state.WorkerNodeGroups {
		if part.Claimed && of.change == nil {
			notes = append(notes, fmt.Sprintf("%s has the name of group %s, and no label of clusterctl-x: the upgrade takes it over as that group, and a later file without the group removes it", part.Object, part.Name))
		}
	}
	return notes
}

// fingerprint of a file.
func fingerprint(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// liveNames are the names, as Kind/name, that Cluster API gave the objects of a
// cluster from a ClusterClass, by those that topology.Generate gives them.
func liveNames(cluster state.Cluster, object *clusterv1.Cluster) map[string]string {
	controlPlaneKind, _, _ := strings.Cut(cluster.ControlPlane.Object, "/")
	names := map[string]string{controlPlaneKind + "/" + cluster.Name: cluster.ControlPlane.Object}
	for _, part := range cluster.Parts() {
		kind, name, _ := strings.Cut(part.Object, "/")
		generated := cluster.Name + "-" + part.Name
		if part.Name != v1alpha1.ControlPlaneName {
			names[kind+"/"+generated] = part.Object
		}
		names[machineHealthCheck+"/"+generated] = machineHealthCheck + "/" + name
	}
	infrastructure := object.Spec.InfrastructureRef
	names[infrastructure.Kind+"/"+cluster.Name] = infrastructure.Kind + "/" + infrastructure.Name
	return names
}
