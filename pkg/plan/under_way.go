package plan

import (
	"fmt"
	"slices"
)

// underWay returns the rollouts that an earlier run began.
func (p *planner) underWay() []Step {
	const reason = "under way already"
	var steps []Step
	if cp := p.in.Start.ControlPlane; cp.Outdated > 0 {
		kind := ControlPlane
		if cp.Oldest == cp.Version {
			kind = Template
		}
		steps = append(steps, Step{Kind: kind, From: cp.Oldest, To: cp.Version, MachinesReplaced: cp.Outdated, UnderWay: true, Reason: reason})
	}
	var rolling, replacing []Group
	for _, group := range p.in.Target.WorkerNodeGroups {
		part := p.in.Start.WorkerNodeGroups[group.Name]
		if part.Outdated == 0 || part.GoesBack(group.Version) || !p.in.Scope.covers(group.Name) {
			continue
		}
		left := Group{Name: group.Name, From: part.Oldest, To: part.Version, MachinesReplaced: part.Outdated, Approximate: group.Autoscaled}
		if part.Oldest == part.Version {
			replacing = append(replacing, left)
		} else {
			rolling = append(rolling, left)
		}
	}
	return slices.Concat(steps,
		p.split(Step{Kind: Workers, WorkerNodeGroups: rolling, UnderWay: true, Reason: reason}),
		p.split(Step{Kind: Template, WorkerNodeGroups: replacing, UnderWay: true, Reason: reason}))
}

// calledOff returns the groups that go back to the version that their nodes run.
func (p *planner) calledOff() []Step {
	step := Step{Kind: Workers, Reason: "back to what its nodes run: no machine of the newer version became ready"}
	for _, group := range p.in.Target.WorkerNodeGroups {
		part := p.in.Start.WorkerNodeGroups[group.Name]
		if !part.GoesBack(group.Version) {
			continue
		}
		back := Group{Name: group.Name, From: part.Version, To: group.Version, Changes: p.in.Changes[group.Name].replacing()}
		if back.changeAnything() {
			back.MachinesReplaced, back.Approximate = p.machines(group), group.Autoscaled
		}
		step.WorkerNodeGroups = append(step.WorkerNodeGroups, back)
	}
	return p.split(step)
}

// mergeUnderWay lets worker node groups begin concurrently with rollouts that are under
// way, where more than one group may move at the same time: both become one step. Steps
// that Cluster API takes are left as they are. A group that moves again waits for its
// own rollout.
func (p *planner) mergeUnderWay(all []Step) []Step {
	if p.in.Concurrency < 2 {
		return all
	}
	i := slices.IndexFunc(all, func(s Step) bool { return s.Kind == Workers && s.UnderWay && !s.Concurrent })
	if i < 0 || i+1 == len(all) || p.mover(all[i].WorkerNodeGroups[0].Name) == byTopology {
		return all
	}
	underWay, next := all[i], all[i+1]
	if next.Kind != Workers || next.Concurrent || next.Detached != underWay.Detached {
		return all
	}
	merged := next
	merged.WorkerNodeGroups = nil
	for _, group := range underWay.WorkerNodeGroups {
		group.UnderWay = true
		merged.WorkerNodeGroups = append(merged.WorkerNodeGroups, group)
	}
	var again []Group
	for _, group := range next.WorkerNodeGroups {
		if underWay.Group(group.Name).Name == group.Name {
			again = append(again, group)
		} else {
			merged.WorkerNodeGroups = append(merged.WorkerNodeGroups, group)
		}
	}
	if len(merged.WorkerNodeGroups) == len(underWay.WorkerNodeGroups) {
		return all
	}
	merged.Reason += fmt.Sprintf("; with the rollouts already under way, at most %d groups at the same time", p.in.Concurrency)
	steps := []Step{merged}
	if next.WorkerNodeGroups = again; len(again) > 0 {
		steps = append(steps, next)
	}
	return slices.Replace(all, i, i+2, steps...)
}
