package v1alpha1

// Labels of the Cluster API objects of a cluster.
const (
	// ClusterLabel has the name of the cluster, and is on every object that clusterctl-x
	// makes.
	ClusterLabel = "clusterctl-x.io/cluster"
	// ManagementClusterLabel of a Cluster has the name of the cluster that manages it.
	ManagementClusterLabel = "clusterctl-x.io/management-cluster"
	// WorkerNodeGroupLabel has the name of a worker node group, on its MachineDeployment
	// and its nodes.
	WorkerNodeGroupLabel = "clusterctl-x.io/worker-node-group"
)

// Annotations of the Cluster API objects of a cluster.
const (
	// PauseAnnotation of a Cluster says why clusterctl-x paused it: a state.Pause, as
	// JSON.
	PauseAnnotation = "clusterctl-x.io/paused"
	// RestoredAnnotation has the id of the backup that an object was restored from.
	RestoredAnnotation = "clusterctl-x.io/restored-from"
	// ClassContentAnnotation of the MachineDeployment of a detached group is a hash of
	// the ClusterClass that its templates were made from.
	ClassContentAnnotation = "clusterctl-x.io/class-content"
	// PinnedAnnotation is on entries of a topology that have a version of their own.
	PinnedAnnotation = "clusterctl-x.io/pinned"
	// DetachedAnnotation is on the machines of a detached group.
	DetachedAnnotation = "clusterctl-x.io/detached"
)

// HeldCondition of a Cluster is true while an upgrade that clusterctl-x runs waits at
// a hold. Its reason is the hook of Cluster API at that place, its message the hold.
// Where Cluster API runs the upgrade its own condition TopologyReconciled says it.
const HeldCondition = "clusterctl-x.io/Held"
