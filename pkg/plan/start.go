package plan

import (
	"fmt"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/skew"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// StartOf is where a plan begins on a live cluster. Whatever belongs to no part
// of a spec counts as foreign.
func StartOf(c state.Cluster) Start {
	start := Start{ControlPlane: partOf(c.ControlPlane), WorkerNodeGroups: map[string]Part{}}
	for _, group := range c.WorkerNodeGroups {
		if group.Unmanaged {
			if oldest := group.Oldest(); !oldest.IsZero() {
				start.Unmanaged = append(start.Unmanaged, Unmanaged{Object: group.Object, Version: oldest})
			}
			continue
		}
		part := partOf(group)
		part.Between = c.Between(group.Name)
		start.WorkerNodeGroups[group.Name] = part
	}
	for _, other := range c.Others {
		if !other.Version.IsZero() {
			start.Unmanaged = append(start.Unmanaged, Unmanaged(other))
		}
	}
	return start
}

func partOf(p state.Part) Part {
	return Part{Version: p.Version, Oldest: p.Oldest(), Machines: p.Replicas, Outdated: p.ToReplace(), Fresh: p.Ready(), Former: p.Former, Detached: p.Detached, InPlace: p.InPlace}
}

// Floor is the oldest version that each part may be asked for: the one that is
// specified, or, where a rollout brought no ready machine, the one that runs.
func (s Start) Floor() v1alpha1.ClusterVersions {
	floor := s.Versions()
	for name, part := range s.WorkerNodeGroups {
		if part.GoesBack(part.Oldest) {
			floor.WorkerNodeGroups[name] = part.Oldest
		}
	}
	return floor
}

// MetadataOf names a live cluster and the generations that a plan is made for. A plan
// about some worker node groups is made for these, the control plane and the Cluster:
// what happens to other groups does not make it stale.
func MetadataOf(c state.Cluster, spec string, groups ...string) Metadata {
	m := Metadata{Name: c.Name, Namespace: c.Namespace, UID: c.UID, Spec: spec, Generations: map[string]int64{"Cluster/" + c.Name: c.Generation}}
	for _, part := range c.Parts() {
		if len(groups) > 0 && part.Name != v1alpha1.ControlPlaneName && !slices.Contains(groups, part.Name) {
			continue
		}
		// Cluster API changes the parts of a topology at any time, as the next step of
		// an upgrade that was stopped; no plan is stale for that.
		if c.Topology == nil || part.Unmanaged || part.Detached {
			m.Generations[part.Object] = part.Generation
			if part.Pool() { // Cluster API and the provider write its spec too
				m.Generations[part.Object] = AnyGeneration
			}
		}
	}
	return m
}

// Done reports whether the step has come to its end: no machine is left that was
// to go, and those that were to come are ready.
func (s Step) Done(c state.Cluster) bool {
	if s.Moves(v1alpha1.ControlPlaneName) {
		return c.ControlPlane.Version == s.To && c.ControlPlane.Done()
	}
	switch s.Kind {
	case InPlace:
		return true
	case Detach, Return:
		return !slices.ContainsFunc(s.WorkerNodeGroups, func(g Group) bool { return !moved(c, g.Name, s.Kind) })
	default:
	}
	return !slices.ContainsFunc(s.WorkerNodeGroups, func(g Group) bool { return !s.groupDone(c, g) })
}

func (s Step) groupDone(c state.Cluster, group Group) bool {
	part, exists := c.Group(group.Name)
	if s.Kind == RemoveWorkers {
		return !exists
	}
	return exists && part.Version == group.To && part.Done()
}

// moved reports whether a group is out of the topology, or in it, and nothing is left
// to be done for that.
func moved(c state.Cluster, group string, kind Kind) bool {
	part, exists := c.Group(group)
	return exists && part.Detached == (kind == Detach) && c.InTopology(group) == (kind == Return) && c.Pause == nil
}

// GroupDone is Done for one of the step's groups.
func (s Step) GroupDone(c state.Cluster, name string) bool {
	i := slices.IndexFunc(s.WorkerNodeGroups, func(g Group) bool { return g.Name == name })
	return i >= 0 && s.groupDone(c, s.WorkerNodeGroups[i])
}

// Waiting names what the step waits for; it is empty when it is done.
func (s Step) Waiting(c state.Cluster) string {
	if obstacle := c.Obstacle(); obstacle != "" && !s.Done(c) {
		return obstacle
	}
	for _, name := range s.Parts() {
		part, exists := c.Part(name)
		switch {
		case s.Kind == RemoveWorkers && exists:
			return part.Leaving()
		case s.Kind != RemoveWorkers && exists && !part.Done():
			return part.Waiting()
		}
	}
	return ""
}

// Group returns the part of the step that concerns the group of a name.
func (s Step) Group(name string) Group {
	i := slices.IndexFunc(s.WorkerNodeGroups, func(g Group) bool { return g.Name == name })
	if i < 0 {
		return Group{}
	}
	return s.WorkerNodeGroups[i]
}

// LeavesBehind returns the nodes that would be too old for the control plane after the
// step. A plan has no such step, but such nodes may have been added since.
func (s Step) LeavesBehind(c state.Cluster, policy skew.Policy) []string {
	if s.Kind != ControlPlane {
		return nil
	}
	var reasons []string
	check := func(object string, version v1alpha1.Version) {
		if !version.IsZero() && policy.TooOld(s.To, version) && !policy.TooOld(s.From, version) {
			reasons = append(reasons, fmt.Sprintf("%s is at %s, which would be too old for a control plane at %s; upgrade or delete it", object, version, s.To))
		}
	}
	for _, group := range c.WorkerNodeGroups {
		check(group.Object, group.Oldest())
	}
	for _, other := range c.Others {
		check(other.Object, other.Version)
	}
	return reasons
}

// Split are the moves of the step whose parts were begun, and the others.
func (s Step) Split(begun []string) (moving, waiting []string) {
	if len(s.WorkerNodeGroups) == 0 {
		if s.UnderWay || slices.Contains(begun, v1alpha1.ControlPlaneName) {
			return []string{s.String()}, nil
		}
		return nil, []string{s.String()}
	}
	for _, group := range s.WorkerNodeGroups {
		move := s.about(group.Name, group.From, group.To)
		if s.UnderWay || group.UnderWay || slices.Contains(begun, group.Name) {
			moving = append(moving, move)
		} else {
			waiting = append(waiting, move)
		}
	}
	return moving, waiting
}
