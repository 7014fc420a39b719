package plan

import (
	"fmt"
	"slices"
)

// besideUnderWay lets worker node groups begin beside rollouts that go on already, where
// more than one group may move at the same time: both become one step. What Cluster API
// moves by itself is left as it is. A group that moves again waits for its own rollout.
func (p *planner) besideUnderWay() {
	if p.in.Concurrency < 2 {
		return
	}
	i := slices.IndexFunc(p.plan.Steps, func(s Step) bool { return s.Kind == Workers && s.UnderWay && !s.Beside })
	if i < 0 || i+1 == len(p.plan.Steps) || p.in.Chain != nil && !p.plan.Steps[i].Detached {
		return
	}
	underWay, next := p.plan.Steps[i], p.plan.Steps[i+1]
	if next.Kind != Workers || next.Beside || next.Detached != underWay.Detached {
		return
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
		return
	}
	merged.Reason += fmt.Sprintf("; beside what is under way already, at most %d groups at the same time", p.in.Concurrency)
	steps := []Step{merged}
	if next.WorkerNodeGroups = again; len(again) > 0 {
		steps = append(steps, next)
	}
	p.plan.Steps = slices.Replace(p.plan.Steps, i, i+2, steps...)
}
