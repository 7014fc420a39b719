package state

import (
	"fmt"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// Topology is the desired state of a cluster from a ClusterClass.
type Topology struct {
	// Class is the namespace and name of the ClusterClass.
	Class   string           `json:"class"`
	Version v1alpha1.Version `json:"version"`
	// Groups are all worker node groups that are wanted, in their order: first those of
	// MachineDeployments, then those of MachinePools.
	Groups []TopologyGroup `json:"groups,omitempty"`
	// Settled is true once Cluster API has carried over the latest change, and is
	// through with it.
	Settled bool `json:"settled"`
	// Reason says why it is not, in Cluster API's own words, on one line.
	Reason string `json:"reason,omitempty"`
	// Upgrading is true until Cluster API has ended the latest upgrade, which is a
	// moment after all parts are there: it takes no other version before.
	Upgrading bool `json:"upgrading,omitempty"`
	// Pending are the hooks of the upgrade that Cluster API has yet to call.
	Pending []string `json:"pending,omitempty"`
	// Failed is true where Cluster API tried, and something went wrong.
	Failed bool `json:"failed,omitempty"`
	// PauseSeen is true once Cluster API has seen that the cluster is paused, and
	// carries nothing over any more.
	PauseSeen bool `json:"-"`
}

// TopologyGroup is a worker node group of a topology.
type TopologyGroup struct {
	Name  string `json:"name"`
	Class string `json:"class"`
	// Pool is true for a MachinePool.
	Pool bool `json:"pool,omitempty"`
	// Deferred is true for a group that defers its upgrade, Held for one that also
	// holds all groups after it.
	Deferred bool `json:"deferred,omitempty"`
	Held     bool `json:"held,omitempty"`
	// Pinned is true where Cluster API itself was given a version for the group.
	Pinned bool `json:"pinned,omitempty"`
}

// Deferred maps the groups that get no other version to the reason.
func (t Topology) Deferred() map[string]string {
	deferred := map[string]string{}
	holder, pools := "", false
	for _, group := range t.Groups {
		if group.Pool != pools {
			holder, pools = "", group.Pool // each kind has a sequence of its own
		}
		switch {
		case group.Held:
			holder = group.Name
			deferred[group.Name] = "holdUpgradeSequence"
		case group.Deferred:
			deferred[group.Name] = "deferUpgrade"
		case holder != "":
			deferred[group.Name] = fmt.Sprintf("holdUpgradeSequence of %s", holder)
		}
	}
	return deferred
}

// Postponed describes the changes that Cluster API postpones because groups defer their
// upgrade. It is empty if all of them are at the version of the topology. Cluster
// API leaves alone everything of a group that waits for its version.
func (c Cluster) Postponed() []string {
	if c.Topology == nil {
		return nil
	}
	var lines []string
	for _, group := range c.postponed() {
		lines = append(lines, fmt.Sprintf("%s stays at %s, with its count and labels, and holds up the upgrade to %s, until %s is removed",
			group.Name, group.Version, c.Topology.Version, c.Topology.Deferred()[group.Name]))
	}
	return lines
}

// postponed returns the groups that defer an upgrade to the version of the topology.
func (c Cluster) postponed() []Part {
	deferred := c.Topology.Deferred()
	var groups []Part
	for _, group := range c.WorkerNodeGroups {
		if deferred[group.Name] != "" && !group.Unmanaged && !group.Detached && group.Version != c.Topology.Version {
			groups = append(groups, group)
		}
	}
	return groups
}

// carriedOver reports whether the parts are what the topology asks for.
func (c Cluster) carriedOver() bool {
	if c.Topology == nil {
		return true
	}
	wanted := map[string]bool{}
	for _, group := range c.Topology.Groups {
		wanted[group.Name] = !group.Pinned
		if _, there := c.Group(group.Name); !there {
			return false
		}
	}
	for _, group := range c.WorkerNodeGroups {
		if !group.Unmanaged && wanted[group.Name] == group.Detached {
			return false // is on its way out, or between
		}
	}
	return c.Topology.Settled
}

// topologyWaits says what Cluster API waits for to carry a topology over.
func (c Cluster) topologyWaits() string {
	if c.carriedOver() {
		return ""
	}
	if postponed := c.postponed(); len(postponed) > 0 {
		deferred := c.Topology.Deferred()
		var held []string
		for _, group := range postponed {
			held = append(held, deferred[group.Name]+" for "+group.Name)
		}
		return strings.Join(held, ", ") + " to be removed"
	}
	if c.Topology.Reason != "" {
		return "Cluster API to reconcile the topology: " + c.Topology.Reason
	}
	if c.Topology.Upgrading {
		return "Cluster API to finish the upgrade to " + c.Topology.Version.String()
	}
	return "Cluster API to reconcile the latest change of the topology"
}
