package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// own are the groups of a cluster from a ClusterClass, before a plan and after it,
// that move on their own, and that Cluster API does not take along: those that are
// pinned, or were, and are not given back before the first step. It needs the
// Chain with From only.
func (in Input) own() map[string]bool {
	own := map[string]bool{}
	if in.Chain == nil {
		return own
	}
	for name, part := range in.Start.WorkerNodeGroups {
		own[name] = part.Detached
	}
	for _, group := range in.Target.WorkerNodeGroups {
		own[group.Name] = group.Pinned || own[group.Name] && !in.returnsFirst(group)
	}
	return own
}

// returnsFirst tells whether a group that is no longer pinned is given back before
// anything else: it is where the topology is, or half-way there.
func (in Input) returnsFirst(group TargetGroup) bool {
	part := in.Start.WorkerNodeGroups[group.Name]
	return !group.Pinned && (part.Between || part.Detached && !part.Version.Before(in.Chain.From))
}

// Outside are the groups that the topology is not to have before a plan gives
// them back, if it does. It needs the Chain with From only.
func (in Input) Outside() map[string]bool {
	outside := in.own()
	for _, group := range in.Target.WorkerNodeGroups {
		outside[group.Name] = outside[group.Name] || in.returnsFirst(group)
	}
	maps.DeleteFunc(outside, func(_ string, is bool) bool { return !is })
	return outside
}

// ownGroups are the groups of the target that Cluster API does not take along.
func (p *planner) ownGroups() []TargetGroup {
	return slices.DeleteFunc(slices.Clone(p.in.Target.WorkerNodeGroups), func(g TargetGroup) bool { return !p.own[g.Name] })
}

// OldestFollowing is the oldest version of the groups that Cluster API takes along;
// zero where there are none.
func (in Input) OldestFollowing() v1alpha1.Version {
	own := in.own()
	var oldest v1alpha1.Version
	for name, part := range in.Start.WorkerNodeGroups {
		if !own[name] && (oldest.IsZero() || part.Version.Before(oldest)) {
			oldest = part.Version
		}
	}
	return oldest
}

// Arrives tells whether there are new groups that Cluster API takes along.
func (in Input) Arrives() bool {
	return slices.ContainsFunc(in.Target.WorkerNodeGroups, func(g TargetGroup) bool {
		_, exists := in.Start.WorkerNodeGroups[g.Name]
		return !exists && !g.Pinned
	})
}

// Halts are the versions between two ends of its legs at which the topology of a
// cluster has to stop, because a group moves then that Cluster API does not take
// along. They are in the order in which they are reached. Where there is no plan
// there are none.
func Halts(in Input) []v1alpha1.Version {
	p, err := newPlanner(in)
	if err != nil {
		return nil
	}
	var halts []v1alpha1.Version
	for stop, version := range p.road.stops {
		moves := slices.ContainsFunc(p.ownGroups(), func(g TargetGroup) bool {
			return slices.ContainsFunc(p.hops[g.Name], func(h hop) bool { return h.stop == stop })
		})
		if moves && !p.boundary(stop) {
			halts = append(halts, version)
		}
	}
	return halts
}

// boundary tells whether no leg is under way at a stop, so that other groups can
// move.
func (p *planner) boundary(stop int) bool {
	if stop == 0 {
		return !p.in.Chain.From.After(p.road.stops[0])
	}
	return stop == p.road.last() || slices.ContainsFunc(p.in.Chain.Legs, func(leg Leg) bool { return leg.Target == p.road.stops[stop] })
}

// nextBoundary is the first one from a stop on.
func (p *planner) nextBoundary(stop int) int {
	for stop > 0 && stop < p.road.last() && !p.boundary(stop) {
		stop++
	}
	return stop
}

// unreachable says which groups would have to move in the middle of an upgrade
// that Cluster API is at already.
func (p *planner) unreachable() []string {
	if p.in.Chain == nil {
		return nil
	}
	var reasons []string
	for _, group := range p.ownGroups() {
		for _, hop := range p.hops[group.Name] {
			if !p.boundary(hop.stop) {
				reasons = append(reasons, fmt.Sprintf("group %s: it would have to go to %s while the control plane is at %s, and Cluster API, on its way to %s already, does not stop there; wait until it has come to its end, and pin the group then",
					group.Name, hop.to, p.road.stops[hop.stop], p.in.Chain.From))
				break
			}
		}
	}
	return reasons
}

// leaves is the stop at which a group goes that is no longer wanted: at once where
// Cluster API removes it, and otherwise last, unless it would be too old by then.
func (p *planner) leaves(name string) int {
	if last := p.road.last(); p.own[name] && p.road.passes(0, last, p.in.Start.WorkerNodeGroups[name].Oldest) {
		return last
	}
	return 0
}

// detach takes the pinned groups out of the topology that are still in it.
func (p *planner) detach() {
	step := Step{Kind: Detach, Detached: true, Reason: "pinned: from now on it keeps its version until the spec gives it another one"}
	for _, group := range p.in.Target.WorkerNodeGroups {
		part, exists := p.in.Start.WorkerNodeGroups[group.Name]
		if p.in.Chain != nil && exists && group.Pinned && (!part.Detached || part.Between) {
			step.WorkerNodeGroups = append(step.WorkerNodeGroups, Group{Name: group.Name, From: part.Version, To: part.Version})
		}
	}
	p.addAll(step)
}

// giveBackFirst returns the groups to the topology that are no longer pinned and that
// are where it is.
func (p *planner) giveBackFirst() {
	p.giveBack(p.in.returnsFirst, func(group string) v1alpha1.Version { return p.in.Start.WorkerNodeGroups[group].Version })
}

// giveBackLast returns those that got there on their own.
func (p *planner) giveBackLast() {
	p.giveBack(func(group TargetGroup) bool { return !p.in.returnsFirst(group) }, func(group string) v1alpha1.Version { return p.plan.To.WorkerNodeGroups[group] })
}

func (p *planner) giveBack(chosen func(TargetGroup) bool, version func(group string) v1alpha1.Version) {
	step := Step{Kind: Return, Detached: true, Reason: "no longer pinned: Cluster API takes it along again"}
	for _, group := range p.in.Target.WorkerNodeGroups {
		part := p.in.Start.WorkerNodeGroups[group.Name]
		if p.in.Chain == nil || group.Pinned || !part.Detached && !part.Between || !chosen(group) {
			continue
		}
		at := version(group.Name)
		step.WorkerNodeGroups = append(step.WorkerNodeGroups, Group{Name: group.Name, From: at, To: at})
	}
	p.addAll(step)
}

// mayGoOn tells whether rollouts under way need not end before the control plane
// moves: none of the groups moves once more, and none would be too old.
func (p *planner) mayGoOn(groups []Group) bool {
	return !slices.ContainsFunc(groups, func(g Group) bool {
		return len(p.hops[g.Name]) > 0 || !p.road.passes(0, p.road.last(), g.From)
	})
}

// ownFirst puts what Cluster API does not do before what it does, of the steps
// that wait for nothing.
func (p *planner) ownFirst() {
	slices.SortStableFunc(p.plan.Steps, func(a, b Step) int { return compareBools(b.Detached, a.Detached) })
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// notes say what the pins of a cluster from a ClusterClass keep it from.
func (p *planner) notes() []string {
	var notes []string
	for _, group := range p.in.Target.WorkerNodeGroups {
		if p.in.Chain != nil && group.Pinned {
			notes = append(notes, fmt.Sprintf("%s is pinned at %s: the control plane cannot go beyond %s, and no change of the class reaches the group but by 'upgrade cluster'",
				group.Name, group.Version, p.road.policy.Newest(group.Version)))
		}
	}
	return notes
}
