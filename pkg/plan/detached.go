package plan

import (
	"fmt"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// IntermediateVersions returns the versions at which the topology has to stop, in
// addition to the ends of its segments, because a detached group moves there. They are
// in the order of the path. There are none if there is no plan.
func IntermediateVersions(in Input) []v1alpha1.Version {
	p, err := newPlanner(in)
	if err != nil {
		return nil
	}
	var versions []v1alpha1.Version
	for at, version := range p.path.versions {
		moves := slices.ContainsFunc(p.groupsMovedBy(byRun), func(g TargetGroup) bool {
			return slices.ContainsFunc(p.rollouts[g.Name], func(r rollout) bool { return r.at == at })
		})
		if moves && !p.boundary(at) {
			versions = append(versions, version)
		}
	}
	return versions
}

// boundary reports whether the groups that the run moves can do so while the control
// plane is at a position: a topology has to be between two of its segments.
func (p *planner) boundary(at int) bool {
	switch {
	case p.in.TopologyPath == nil:
		return true
	case at == 0:
		return !p.in.TopologyPath.From.After(p.path.versions[0])
	}
	return at == p.path.last() || slices.ContainsFunc(p.in.TopologyPath.Segments, func(s Segment) bool { return s.Target == p.path.versions[at] })
}

// nextBoundary returns the first boundary from a position on: the last position is one.
func (p *planner) nextBoundary(at int) int {
	for at > 0 && !p.boundary(at) {
		at++
	}
	return at
}

// unreachable returns which groups would have to move in the middle of an upgrade
// that Cluster API has begun already.
func (p *planner) unreachable() []string {
	var reasons []string
	for _, group := range p.groupsMovedBy(byRun) {
		for _, rollout := range p.rollouts[group.Name] {
			if !p.boundary(rollout.at) {
				reasons = append(reasons, fmt.Sprintf("group %s: it would have to go to %s while the control plane is at %s, but Cluster API, already upgrading to %s, does not stop there; wait until that upgrade is done, then pin the group",
					group.Name, rollout.to, p.path.versions[rollout.at], p.in.TopologyPath.From))
				break
			}
		}
	}
	return reasons
}

// leaves returns the position at which a group is removed from a topology: the first
// where Cluster API removes it, else the last, unless it would be too old by then.
func (p *planner) leaves(name string) int {
	if last := p.path.last(); p.mover(name) == byRun && p.path.passes(0, last, p.in.Start.WorkerNodeGroups[name].Oldest) {
		return last
	}
	return 0
}

// outside reports whether a group has to be detached from the topology.
func (p *planner) outside(group TargetGroup) bool { return p.in.TopologyPath != nil && group.Pinned }

// detach returns the pinned groups that are still in the topology.
func (p *planner) detach() []Step {
	step := Step{Kind: Detach, Detached: true, Reason: "pinned: from now on it keeps its version until the spec gives it another one"}
	for _, group := range p.in.Target.WorkerNodeGroups {
		part, exists := p.in.Start.WorkerNodeGroups[group.Name]
		if p.outside(group) && exists && (!part.Detached || part.Between) {
			step.WorkerNodeGroups = append(step.WorkerNodeGroups, Group{Name: group.Name, From: part.Version, To: part.Version})
		}
	}
	return aboutGroups(step)
}

// returnAtOnce returns the groups that are no longer pinned and have the version of the
// topology.
func (p *planner) returnAtOnce() []Step {
	return p.returnSteps(p.in.Membership().returnsAtOnce, p.in.Start.Versions())
}

// returnAtTheEnd returns the groups that are no longer pinned and get the version of
// the topology by the plan.
func (p *planner) returnAtTheEnd() []Step {
	returned := p.in.Membership().returnsAtOnce
	return p.returnSteps(func(group TargetGroup) bool { return !returned(group) }, p.in.Target.versions())
}

// returnSteps returns a step for the chosen of the groups that are no longer pinned, at
// the versions that they have then.
func (p *planner) returnSteps(chosen func(TargetGroup) bool, versions v1alpha1.ClusterVersions) []Step {
	step := Step{Kind: Return, Detached: true, Reason: "no longer pinned: Cluster API upgrades it with the cluster again"}
	for _, group := range p.in.Target.WorkerNodeGroups {
		part := p.in.Start.WorkerNodeGroups[group.Name]
		if group.Pinned || !part.Detached && !part.Between || !chosen(group) {
			continue
		}
		at := versions.WorkerNodeGroups[group.Name]
		step.WorkerNodeGroups = append(step.WorkerNodeGroups, Group{Name: group.Name, From: at, To: at})
	}
	return aboutGroups(step)
}

// mayGoOn reports whether rollouts under way need not end before the control plane
// moves: none of the groups moves once more, and none would be too old.
func (p *planner) mayGoOn(groups []Group) bool {
	return !slices.ContainsFunc(groups, func(g Group) bool {
		return len(p.rollouts[g.Name]) > 0 || !p.path.passes(0, p.path.last(), g.From)
	})
}

// runFirst sorts the steps of the run before those that Cluster API takes.
func runFirst(steps []Step) []Step {
	run, topology := stepsByMover(steps)
	return slices.Concat(run, topology)
}

// topologyFirst sorts the steps that Cluster API takes before those of the run.
func topologyFirst(steps []Step) []Step {
	run, topology := stepsByMover(steps)
	return slices.Concat(topology, run)
}

// stepsByMover returns the steps of the run, and those that Cluster API takes.
func stepsByMover(steps []Step) (run, topology []Step) {
	for _, step := range steps {
		if step.Detached {
			run = append(run, step)
		} else {
			topology = append(topology, step)
		}
	}
	return run, topology
}

// notes returns what the pins of a cluster from a ClusterClass keep it from.
func (p *planner) notes() []string {
	var notes []string
	for _, group := range p.in.Target.WorkerNodeGroups {
		if p.outside(group) {
			notes = append(notes, fmt.Sprintf("%s is pinned at %s: the control plane cannot go beyond %s, and changes of the class reach the group only through 'upgrade cluster'",
				group.Name, group.Version, p.path.policy.Newest(group.Version)))
		}
	}
	return notes
}
