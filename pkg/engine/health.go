package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// shortestWait is how long an upgrade waits at least, before a step of the control
// plane, until the cluster is healthy: a machine that a group lost has to be made, and to
// become a node.
const shortestWait = 10 * time.Minute

// UnhealthyError says that a step did not begin because the cluster was not healthy.
type UnhealthyError struct {
	Plan plan.Plan
	// Step is the index of the step.
	Step   int
	Waited time.Duration
	// Cluster is the last observed state, Parts are the parts that are not healthy.
	Cluster state.Cluster
	Parts   []state.Part
}

// Place is the step, with its number.
func (e *UnhealthyError) Place() string {
	return fmt.Sprintf("step %d of %d (%s)", e.Step+1, len(e.Plan.Steps), e.Plan.Steps[e.Step])
}

func (e *UnhealthyError) Error() string {
	return fmt.Sprintf("cluster %s/%s was not healthy after waiting %s, so %s did not start", e.Cluster.Namespace, e.Cluster.Name, e.Waited, e.Place())
}

// waitsForHealth reports whether the steps from first to the one before end wait for a
// healthy cluster. Cluster API makes no machine for a worker node group while the
// control plane rolls, so a group gets its lost machines back between two steps of the
// control plane. The error is an *UnhealthyError once the wait has timed out.
func (t *turn) waitsForHealth(first, end int) (bool, error) {
	if !t.looksAtHealth(first, end) {
		return false, nil
	}
	parts := Unwell(t.now, t.ahead(first), t.Groups, t.tolerated)
	if len(parts) == 0 && t.now.Infrastructure == "" {
		return false, nil
	}
	t.p.healthWait = &state.HealthWait{Parts: []string{}, Since: t.at, Until: t.at.Add(max(shortestWait, t.NodeStartup))}
	if t.waited != nil {
		t.p.healthWait.Since, t.p.healthWait.Until = t.waited.Since, t.waited.Until
	}
	for _, part := range parts {
		t.p.healthWait.Parts = append(t.p.healthWait.Parts, part.Name)
	}
	t.now.HealthWait = t.p.healthWait
	if t.at.Before(t.p.healthWait.Until) {
		return true, nil
	}
	return true, &UnhealthyError{Plan: t.Plan, Step: first, Waited: t.p.healthWait.Until.Sub(t.p.healthWait.Since), Cluster: t.now, Parts: parts}
}

// looksAtHealth reports whether one of the steps rolls the control plane, after a step
// that replaced machines. Before the first one the preflight has looked, which lets pass
// what an earlier run left on its way: so that an upgrade that is continued waits there
// too.
func (t *turn) looksAtHealth(first, end int) bool {
	after := slices.ContainsFunc(t.Plan.Steps[:first], func(s plan.Step) bool { return !s.Concurrent && len(s.Parts()) > 0 })
	rolls := slices.ContainsFunc(t.Plan.Steps[first:end], func(s plan.Step) bool { return s.Moves(v1alpha1.ControlPlaneName) && !s.UnderWay })
	return (after || t.Continued) && rolls && !t.IgnoreHealth
}

// ahead is the plan from a step on, with the concurrent steps, which were begun.
func (t *turn) ahead(first int) plan.Plan {
	var p plan.Plan
	for i, step := range t.Plan.Steps {
		if i >= first || step.Concurrent {
			p.Steps = append(p.Steps, step)
		}
	}
	return p
}

// tolerated reports whether a part keeps no step waiting though it is not as wanted:
// surplus machines go, or those come that the upgrade itself asked for.
func (t *turn) tolerated(part state.Part) bool {
	scaled := slices.ContainsFunc(t.Plan.Steps, func(s plan.Step) bool { return s.Concurrent && s.Group(part.Name).Scales() })
	return part.Name != v1alpha1.ControlPlaneName && part.ComesUp() && (scaled || part.Ready() >= part.Replicas)
}

// Unwell returns the parts of a cluster that are not healthy, without those that the
// plan or a rollout under way repairs, and those that are well enough. If groups are
// given it checks no others.
func Unwell(cluster state.Cluster, p plan.Plan, groups []string, tolerated func(state.Part) bool) []state.Part {
	repaired := repairedParts(p)
	var parts []state.Part
	for _, part := range cluster.Parts() {
		if len(groups) > 0 && part.Name != v1alpha1.ControlPlaneName && !slices.Contains(groups, part.Name) {
			continue
		}
		// As long as clusterctl-x has it paused, that is so.
		unseen := cluster.Pause != nil && part.Unseen && part.Ready() == part.Replicas
		if !repaired[part.Name] && !part.Unmanaged && !unseen && !part.Done() && !tolerated(part) {
			parts = append(parts, part)
		}
	}
	return parts
}

// repairedParts returns the parts whose machines a plan replaces or removes, or whose rollout
// is under way.
func repairedParts(p plan.Plan) map[string]bool {
	parts := map[string]bool{}
	for _, step := range p.Steps {
		for _, name := range step.Parts() {
			group := step.Group(name)
			back := step.Kind == plan.Workers && group.To.Before(group.From)
			if step.UnderWay || group.UnderWay || back || step.Kind == plan.RemoveWorkers || step.Kind == plan.Template {
				parts[name] = true
			}
		}
	}
	return parts
}
