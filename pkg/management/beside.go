package management

import (
	"context"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// replacing are the groups of steps beside the others whose machines are replaced at the
// version that they have.
type replacing struct {
	// queue are those that wait for their turn, in the order of the plan.
	queue []string
	// moving are those that were begun and are not done.
	moving []string
	// open is true once the first of them may begin.
	open bool
}

// replacingOf are those of an upgrade that Cluster API does not begin by itself.
func replacingOf(upgrade Upgrade) replacing {
	var r replacing
	for _, step := range upgrade.Plan.Steps {
		if step.Kind != plan.Template || !step.Beside || step.UnderWay || upgrade.Native || upgrade.Managed && !step.Detached {
			continue
		}
		for _, group := range step.WorkerNodeGroups {
			r.queue = append(r.queue, group.Name)
		}
	}
	return r
}

// next lets as many groups begin as may move at the same time, and returns them.
func (r *replacing) next(concurrency int) []string {
	count := min(len(r.queue), max(1, concurrency)-len(r.moving))
	if count <= 0 {
		return nil
	}
	begun := slices.Clone(r.queue[:count])
	r.queue, r.moving = r.queue[count:], append(r.moving, begun...)
	return begun
}

// beside writes a step that stands beside the others.
func (r *run) beside(ctx context.Context, step plan.Step) error {
	if !step.Beside {
		return nil
	}
	for _, group := range step.WorkerNodeGroups {
		if r.begun[group.Name] || step.Kind == plan.Template && slices.Contains(r.replacing.queue, group.Name) {
			continue // its count changes too, or its turn comes later
		}
		r.begun[group.Name] = true
		if err := r.writePart(ctx, 0, group.Name); err != nil {
			return err
		}
	}
	if len(step.WorkerNodeGroups) > 0 {
		return nil
	}
	if err := r.writeAll(ctx, r.Stages[0].Cluster); err != nil {
		return err
	}
	return r.writePart(ctx, 0, v1alpha1.ControlPlaneName)
}

// replaceBeside begins to replace the machines of further groups beside the steps, as soon
// as fewer groups move than may.
func (r *run) replaceBeside(ctx context.Context, cluster state.Cluster) error {
	if !r.replacing.open {
		return nil
	}
	r.replacing.moving = slices.DeleteFunc(r.replacing.moving, func(name string) bool {
		part, exists := cluster.Group(name)
		return !exists || r.settled(part)
	})
	steps := r.step
	if len(r.begun) > 0 {
		steps++
	}
	for _, group := range r.replacing.next(r.Concurrency) {
		if err := r.writePart(ctx, min(steps, len(r.Stages)-1), group); err != nil {
			return err
		}
	}
	return nil
}
