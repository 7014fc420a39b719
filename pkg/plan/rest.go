package plan

import (
	"fmt"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// rest is what happens while the control plane rests at a stop. What Cluster API
// takes along comes first: nothing waits in between.
func (p *planner) rest(stop int) {
	before := len(p.plan.Steps)
	p.addGroups(p.rollouts(stop, byTopology))
	p.addGroups(p.rollouts(stop, byRun))
	p.addGroups(p.arrivals(stop))
	p.addGroups(p.forcedRemovals(stop))
	p.addGroups(p.removals(func(d departure) bool { return d.stop == stop && !d.forced }))
	slices.SortStableFunc(p.plan.Steps[before:], func(a, b Step) int { return compareBools(a.Detached, b.Detached) })
}

// mover is who moves a group.
type mover string

const (
	byTopology mover = "Cluster API, which takes it along with the topology"
	byRun      mover = "the run of the upgrade"
)

func (p *planner) mover(group string) mover {
	if p.own[group] {
		return byRun
	}
	return byTopology
}

// rollouts of the groups that move while the control plane rests at a stop: those
// that Cluster API takes along, or the others.
func (p *planner) rollouts(stop int, by mover) Step {
	step := Step{Kind: Workers}
	for _, group := range p.in.Target.WorkerNodeGroups {
		if p.mover(group.Name) != by {
			continue
		}
		i := slices.IndexFunc(p.hops[group.Name], func(h hop) bool { return h.stop == stop })
		if i < 0 {
			continue
		}
		from := p.before(group.Name)
		if i > 0 {
			from = p.hops[group.Name][i-1].to
		}
		move := Group{Name: group.Name, From: from, To: p.hops[group.Name][i].to, MachinesReplaced: p.machines(group), Approximate: group.Autoscaled}
		move.Changes = p.rolling(group.Name)
		if i == 0 && p.frozen(group.Name) {
			p.scaleGroup(&move, group)
			move.Changes = slices.Concat(move.Changes, p.in.Changes[group.Name].InPlace)
			move.MachinesReplaced = min(move.MachinesReplaced, p.in.Start.WorkerNodeGroups[group.Name].Machines)
		}
		step.WorkerNodeGroups = append(step.WorkerNodeGroups, move)
	}
	step.Reason = p.whyNow(stop, step.WorkerNodeGroups, by) + p.deferred(step.WorkerNodeGroups)
	return step
}

// deferred says which groups of a step are told to wait.
func (p *planner) deferred(groups []Group) string {
	if p.in.Chain == nil {
		return ""
	}
	text := ""
	for _, group := range groups {
		if why := p.in.Chain.Deferred[group.Name]; why != "" {
			text += fmt.Sprintf("; %s waits until %s is taken away", group.Name, why)
		}
	}
	return text
}

// before is the version that a group has before its first rollout.
func (p *planner) before(group string) v1alpha1.Version {
	if part, exists := p.in.Start.WorkerNodeGroups[group]; exists || p.in.Chain == nil {
		return part.Version
	}
	return p.in.Chain.arrival(p.in.Target.ControlPlane)
}

// machines counts those of a group that is there already, as it is to be.
func (p *planner) machines(group TargetGroup) int {
	if group.Autoscaled {
		return p.in.Start.WorkerNodeGroups[group.Name].Machines
	}
	return group.Machines
}

// whyNow says why groups move while the control plane rests at a stop: because
// its next move would leave some of them behind, or because it has arrived.
func (p *planner) whyNow(stop int, groups []Group, by mover) string {
	for _, next := range p.road.stops[stop+1:] {
		var forced []string
		for _, group := range groups {
			if p.road.policy.TooOld(next, group.From) {
				forced = append(forced, group.Name)
			}
		}
		if len(forced) > 0 {
			return fmt.Sprintf("before the control plane goes to %s: %s would be too old beside it", next, list(forced))
		}
	}
	if slices.ContainsFunc(groups, func(g Group) bool { return p.in.Chain != nil && by == byTopology && g.To != p.in.Target.ControlPlane }) {
		return "before the topology gets its next version: Cluster API takes all parts to one first"
	}
	return "the version that the spec asks for"
}

// arrivals are the new groups that come at a stop: each as soon as its version
// may run.
func (p *planner) arrivals(stop int) Step {
	step := Step{Kind: CreateWorkers, Reason: "new in the spec"}
	for _, group := range p.in.Target.WorkerNodeGroups {
		if _, exists := p.in.Start.WorkerNodeGroups[group.Name]; exists {
			continue
		}
		version := group.Version
		if p.in.Chain != nil && !group.Pinned {
			version = p.in.Chain.arrival(version)
		}
		earliest := slices.IndexFunc(p.road.stops, func(v v1alpha1.Version) bool { return !version.After(v) })
		switch {
		case p.own[group.Name]:
			earliest = p.nextBoundary(earliest)
		case !group.Pinned && p.in.Chain == nil:
			earliest = p.road.last()
		}
		if earliest == stop {
			step.WorkerNodeGroups = append(step.WorkerNodeGroups, Group{Name: group.Name, To: version, MachinesAdded: group.Machines, Approximate: group.Autoscaled})
		}
	}
	return step
}

// forcedRemovals are those of groups that would be too old after a stop.
func (p *planner) forcedRemovals(stop int) Step {
	step := p.removals(func(d departure) bool { return d.stop == stop && d.forced })
	step.Reason += fmt.Sprintf(", and too old beside a control plane at %s", p.road.stops[min(stop+1, p.road.last())])
	return step
}

func (p *planner) removals(chosen func(departure) bool) Step {
	step := Step{Kind: RemoveWorkers, Reason: "no longer in the spec"}
	for _, leaves := range p.removed {
		if chosen(leaves) {
			part := p.in.Start.WorkerNodeGroups[leaves.group]
			step.WorkerNodeGroups = append(step.WorkerNodeGroups, Group{Name: leaves.group, From: part.Version, MachinesRemoved: part.Machines})
		}
	}
	return step
}
