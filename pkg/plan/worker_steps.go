package plan

import (
	"fmt"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// stepsAt returns the worker steps while the control plane is at a position. Those
// that Cluster API takes come first: nothing waits between them.
func (p *planner) stepsAt(at int) []Step {
	return topologyFirst(slices.Concat(
		p.split(p.rolloutsAt(at, byTopology)),
		p.split(p.rolloutsAt(at, byRun)),
		p.split(p.arrivals(at)),
		p.split(p.forcedRemovals(at)),
		p.split(p.otherRemovals(at)),
	))
}

// mover identifies who gives a group another version.
type mover string

const (
	byTopology mover = "Cluster API, which takes it along with the topology"
	byRun      mover = "the run of the upgrade"
)

func (p *planner) mover(group string) mover {
	if p.inTopology[group] {
		return byTopology
	}
	return byRun
}

// groupsMovedBy returns the groups of the target that a mover gives another version.
func (p *planner) groupsMovedBy(by mover) []TargetGroup {
	return slices.DeleteFunc(slices.Clone(p.in.Target.WorkerNodeGroups), func(g TargetGroup) bool { return p.mover(g.Name) != by })
}

// rolloutsAt returns the rollouts of the groups of a mover while the control plane is
// at a position.
func (p *planner) rolloutsAt(at int, by mover) Step {
	step := Step{Kind: Workers}
	for _, group := range p.groupsMovedBy(by) {
		rollouts := p.rollouts[group.Name]
		i := slices.IndexFunc(rollouts, func(r rollout) bool { return r.at == at })
		switch {
		case i < 0:
		case i == 0:
			step.WorkerNodeGroups = append(step.WorkerNodeGroups, p.firstRollout(group, rollouts[0].to))
		default:
			step.WorkerNodeGroups = append(step.WorkerNodeGroups, p.rollout(group, rollouts[i-1].to, rollouts[i].to))
		}
	}
	step.Reason = p.rolloutReason(at, step.WorkerNodeGroups, by)
	if by == byTopology {
		step.Reason += p.deferred(step.WorkerNodeGroups)
	}
	return step
}

func (p *planner) rollout(group TargetGroup, from, to v1alpha1.Version) Group {
	return Group{Name: group.Name, From: from, To: to, MachinesReplaced: p.machines(group), Approximate: group.Autoscaled}
}

// firstRollout returns the rollout that the other changes of a group travel with.
func (p *planner) firstRollout(group TargetGroup, to v1alpha1.Version) Group {
	first := p.rollout(group, p.before(group.Name), to)
	first.Changes = p.in.Changes[group.Name].replacing()
	if p.changesWithVersion(group.Name) {
		p.scaleGroup(&first, group)
		first.Changes = p.in.Changes[group.Name].ordered()
		first.MachinesReplaced = min(first.MachinesReplaced, p.in.Start.WorkerNodeGroups[group.Name].Machines)
	}
	return first
}

// deferred describes the groups of a topology that are deferred.
func (p *planner) deferred(groups []Group) string {
	text := ""
	for _, group := range groups {
		if why := p.in.TopologyPath.Deferred[group.Name]; why != "" {
			text += fmt.Sprintf("; %s waits until %s is removed", group.Name, why)
		}
	}
	return text
}

// before returns the version that a group has before its first rollout.
func (p *planner) before(group string) v1alpha1.Version {
	if part, exists := p.in.Start.WorkerNodeGroups[group]; exists || p.mover(group) == byRun {
		return part.Version
	}
	return p.in.TopologyPath.arrival(p.in.Target.ControlPlane)
}

// machines returns how many machines of a group that exists are replaced.
func (p *planner) machines(group TargetGroup) int {
	if group.Autoscaled {
		return p.in.Start.WorkerNodeGroups[group.Name].Machines
	}
	return group.Machines
}

// rolloutReason returns why groups move while the control plane is at a position: because
// its next version would leave some of them behind, or because it has arrived.
func (p *planner) rolloutReason(at int, groups []Group, by mover) string {
	for _, next := range p.path.versions[at+1:] {
		var forced []string
		for _, group := range groups {
			if p.path.policy.TooOld(next, group.From) {
				forced = append(forced, group.Name)
			}
		}
		if len(forced) > 0 {
			return fmt.Sprintf("before the control plane goes to %s: %s would be too old for it", next, list(forced))
		}
	}
	if slices.ContainsFunc(groups, func(g Group) bool {
		return by == byTopology && g.To != p.in.Target.ControlPlane
	}) {
		return "before the topology gets its next version: Cluster API brings all parts to one version first"
	}
	return "the version that is asked for"
}

// arrivals returns the new groups at a position: each comes as soon as its version
// may run.
func (p *planner) arrivals(at int) Step {
	step := Step{Kind: CreateWorkers, Reason: "new in the spec"}
	for _, group := range p.in.Target.WorkerNodeGroups {
		if _, exists := p.in.Start.WorkerNodeGroups[group.Name]; exists {
			continue
		}
		version := group.Version
		if p.mover(group.Name) == byTopology {
			version = p.in.TopologyPath.arrival(version)
		}
		earliest := slices.IndexFunc(p.path.versions, func(v v1alpha1.Version) bool { return !version.After(v) })
		switch {
		case p.mover(group.Name) == byTopology:
		case group.Pinned:
			earliest = p.nextBoundary(earliest)
		default:
			earliest = p.path.last()
		}
		if earliest == at {
			step.WorkerNodeGroups = append(step.WorkerNodeGroups, Group{Name: group.Name, To: version, MachinesAdded: group.Machines, Approximate: group.Autoscaled})
		}
	}
	return step
}

// forcedRemovals returns the groups that would be too old at the position after one.
func (p *planner) forcedRemovals(at int) Step {
	step := p.removalsOf(func(r removal) bool { return r.at == at && r.forced })
	step.Reason += fmt.Sprintf(", and too old for a control plane at %s", p.path.versions[min(at+1, p.path.last())])
	return step
}

// otherRemovals returns the groups that are removed at a position for no other reason
// than that they are no longer wanted.
func (p *planner) otherRemovals(at int) Step {
	return p.removalsOf(func(r removal) bool { return r.at == at && !r.forced })
}

func (p *planner) removalsOf(chosen func(removal) bool) Step {
	step := Step{Kind: RemoveWorkers, Reason: "no longer in the spec"}
	for _, r := range p.removals {
		if chosen(r) {
			part := p.in.Start.WorkerNodeGroups[r.group]
			step.WorkerNodeGroups = append(step.WorkerNodeGroups, Group{Name: r.group, From: part.Version, MachinesRemoved: part.Machines})
		}
	}
	return step
}
