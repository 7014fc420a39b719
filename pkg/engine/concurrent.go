package engine

import (
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// replacements are the groups of concurrent steps whose machines are replaced at the
// version that they have.
type replacements struct {
	// queue has the groups that wait, in the order of the plan.
	queue []string
	// moving has the groups that were started and are not done.
	moving []string
	// open is true once the first of them may begin.
	open bool
}

// queueReplacements queues the groups of the concurrent steps that clusterctl-x takes.
func (t *turn) queueReplacements(takes func(plan.Step) bool) {
	for _, step := range t.Plan.Steps {
		if step.Kind != plan.Template || !step.Concurrent || step.UnderWay || !takes(step) {
			continue
		}
		for _, group := range step.WorkerNodeGroups {
			t.p.replacements.queue = append(t.p.replacements.queue, group.Name)
		}
	}
}

// next lets as many groups begin as may move at the same time, and returns them.
func (r *replacements) next(concurrency int) []string {
	count := min(len(r.queue), max(1, concurrency)-len(r.moving))
	begun := slices.Clone(r.queue[:count])
	r.queue, r.moving = r.queue[count:], append(r.moving, begun...)
	return begun
}

// replaceMachines starts to replace the machines of further groups, concurrently with
// the steps, as soon as the limit of concurrent groups allows it.
func (t *turn) replaceMachines() {
	if !t.p.replacements.open {
		return
	}
	t.p.replacements.moving = slices.DeleteFunc(t.p.replacements.moving, func(name string) bool {
		part, exists := t.now.Group(name)
		return !exists || t.p.settled(part)
	})
	steps := t.p.step
	if len(t.p.begun) > 0 {
		steps++
	}
	for _, group := range t.p.replacements.next(t.Concurrency) {
		t.writePart(min(steps, len(t.Desired)-1), group)
	}
}
