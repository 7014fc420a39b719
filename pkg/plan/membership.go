package plan

import (
	"maps"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// Membership has what decides which worker node groups of a cluster from a
// ClusterClass are in its topology, so that Cluster API upgrades them.
type Membership struct {
	Start  Start
	Target Target
	// Topology is the version that the topology has now.
	Topology v1alpha1.Version
}

// Membership returns that of the groups that the input is about.
func (in Input) Membership() Membership {
	m := Membership{Start: in.Start, Target: in.Target}
	if in.TopologyPath != nil {
		m.Topology = in.TopologyPath.From
	}
	return m
}

// inTopology returns the groups that Cluster API upgrades with the topology: none where
// there is no topology.
func (in Input) inTopology() map[string]bool {
	moved := map[string]bool{}
	if in.TopologyPath == nil {
		return moved
	}
	standalone := in.Membership().Standalone()
	for name := range in.Start.WorkerNodeGroups {
		moved[name] = !standalone[name]
	}
	for _, group := range in.Target.WorkerNodeGroups {
		moved[group.Name] = !standalone[group.Name]
	}
	return moved
}

// Standalone returns the groups, before a plan and after it, that Cluster API does not
// upgrade: those that are pinned, or were, and are not returned before the first step.
func (m Membership) Standalone() map[string]bool {
	standalone := map[string]bool{}
	for name, part := range m.Start.WorkerNodeGroups {
		standalone[name] = part.Detached
	}
	for _, group := range m.Target.WorkerNodeGroups {
		standalone[group.Name] = group.Pinned || standalone[group.Name] && !m.returnsAtOnce(group)
	}
	return standalone
}

// Outside returns the groups that are not in the topology until the plan returns them,
// if it does.
func (m Membership) Outside() map[string]bool {
	outside := m.Standalone()
	for _, group := range m.Target.WorkerNodeGroups {
		outside[group.Name] = outside[group.Name] || m.returnsAtOnce(group)
	}
	maps.DeleteFunc(outside, func(_ string, is bool) bool { return !is })
	return outside
}

// OldestFollowing returns the oldest version of the groups that Cluster API upgrades;
// zero where there are none.
func (m Membership) OldestFollowing() v1alpha1.Version {
	standalone := m.Standalone()
	var oldest v1alpha1.Version
	for name, part := range m.Start.WorkerNodeGroups {
		if !standalone[name] && (oldest.IsZero() || part.Version.Before(oldest)) {
			oldest = part.Version
		}
	}
	return oldest
}

// Arrives reports whether there are new groups that Cluster API upgrades.
func (m Membership) Arrives() bool {
	return slices.ContainsFunc(m.Target.WorkerNodeGroups, func(g TargetGroup) bool {
		_, exists := m.Start.WorkerNodeGroups[g.Name]
		return !exists && !g.Pinned
	})
}

// returnsAtOnce reports whether a group that is no longer pinned is returned before
// anything else: it has the version of the topology, or is in transition to it.
func (m Membership) returnsAtOnce(group TargetGroup) bool {
	part := m.Start.WorkerNodeGroups[group.Name]
	return !group.Pinned && (part.Between || part.Detached && !part.Version.Before(m.Topology))
}
