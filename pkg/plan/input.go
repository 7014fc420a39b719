package plan

import (
	"slices"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/skew"
)

// Input is all that a plan depends on.
type Input struct {
	Metadata Metadata
	Start    Start
	Target   Target
	// Releases are the versions that there are bundles for.
	Releases []v1alpha1.Version
	// Policy is the skew policy that holds.
	Policy skew.Policy
	// Changes by part; those of the cluster as a whole have the empty name.
	Changes map[string]Changes
	// Concurrency is how many worker node groups may move at the same time; 0 is 1.
	Concurrency int
	// Scope cuts the plan down; the zero value is the whole of it.
	Scope Scope
	// TopologyPath of a cluster from a ClusterClass; nil without one.
	TopologyPath *TopologyPath
}

// Part is the control plane or a worker node group where a plan begins.
type Part struct {
	// Version that is specified.
	Version v1alpha1.Version
	// Oldest machine or node that runs; the specified version where none does.
	Oldest v1alpha1.Version
	// Machines that are wanted.
	Machines int
	// Outdated is the number of machines that a rollout under way has still to replace.
	Outdated int
	// Fresh machines are ready and as specified.
	Fresh int
	// Former are the names of the templates that the outdated machines were made
	// from, sorted.
	Former []string
	// Detached is true for a group that the topology of its cluster does not own,
	// Between for one that is half-way out of it or into it.
	Detached, Between bool
	// InPlace is true where machines get another version without being replaced.
	InPlace bool
}

// Start is the live cluster.
type Start struct {
	ControlPlane     Part
	WorkerNodeGroups map[string]Part
	// Unmanaged machines of the cluster. They count for the skew policy and are not
	// changed.
	Unmanaged []Unmanaged
}

// Unmanaged is a machine, or a set of machines, that clusterctl-x does not manage.
type Unmanaged struct {
	Object  string // Kind/name
	Version v1alpha1.Version
}

// TargetGroup is the target of a worker node group.
type TargetGroup struct {
	Name    string
	Version v1alpha1.Version
	// Machines that are wanted; those of a new group where an autoscaler
	// decides.
	Machines   int
	Autoscaled bool
	// Pinned is true for a group with a version of its own.
	Pinned bool
}

// Target is the desired state of a cluster.
type Target struct {
	ControlPlane         v1alpha1.Version
	ControlPlaneMachines int
	WorkerNodeGroups     []TargetGroup // in the order of the spec
}

// Scope says which parts of the cluster a plan is about.
type Scope struct {
	ControlPlaneOnly bool `json:"controlPlaneOnly,omitempty"`
	// Groups are the worker node groups that the plan is about; none of them
	// means all, and the control plane too.
	Groups []string `json:"workerNodeGroups,omitempty"`
}

// Whole reports whether the plan is about all of the cluster.
func (s Scope) Whole() bool { return !s.ControlPlaneOnly && len(s.Groups) == 0 }

// covers reports whether a plan about some worker node groups is about one of them. A
// rollout of another group is the business of another run, and nothing waits for it.
func (s Scope) covers(group string) bool {
	return len(s.Groups) == 0 || slices.Contains(s.Groups, group)
}

// NoPlanError reports that no plan leads to the target. Its reasons are in the order of
// the spec.
type NoPlanError struct{ Reasons []string }

func (e *NoPlanError) Error() string { return strings.Join(e.Reasons, "\n") }
