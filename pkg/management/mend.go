package management

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// shortestMending is how long an upgrade waits at least, before a step of the control
// plane, until the cluster is healthy: a machine that a group lost has to be made, and to
// become a node.
const shortestMending = 10 * time.Minute

// waitsBefore reports whether the next step waits, for a hold or for the health of the
// cluster, and notes in the cluster for what.
func (r *run) waitsBefore(ctx context.Context, cluster *state.Cluster) (bool, error) {
	if len(r.begun) > 0 {
		return false, nil
	}
	if cluster.Held = r.waitsAt(ctx, *cluster); cluster.Held != nil {
		return true, nil
	}
	err := r.mends(*cluster, r.step, r.step+1)
	cluster.Mending = r.mending
	return r.mending != nil, err
}

// mends looks whether the steps from first on, up to the one before end, wait until the
// cluster is healthy, and notes it. Cluster API makes no machine for a worker node group
// while the control plane rolls, so that a group gets between two steps of the control
// plane what it lost during the first one. The error is a *PreflightError once the time
// is over.
func (r *run) mends(cluster state.Cluster, first, end int) error {
	if !r.mayWait(first, end) {
		return nil
	}
	parts := unwell(cluster, r.ahead(first), r.Groups, r.wellEnough)
	if len(parts) == 0 && cluster.Infrastructure == "" {
		return nil
	}
	r.wait(parts)
	if time.Now().Before(r.mending.Until) {
		return nil
	}
	unhealthy := &PreflightError{
		Cluster: r.key.String(), Step: fmt.Sprintf("step %d of %d (%s)", first+1, len(r.Plan.Steps), r.Plan.Steps[first]), Waited: r.mending.Until.Sub(r.mending.Since),
	}
	for _, reason := range healthReasons(cluster, parts) {
		unhealthy.Findings = append(unhealthy.Findings, plan.Finding{Check: CheckHealth, Reason: reason})
	}
	return unhealthy
}

// mayWait reports whether one of the steps rolls the control plane, after a step that
// replaced machines. Before the first one the preflight has looked, which lets pass what an
// earlier run left on its way: so that an upgrade that is continued waits there too.
func (r *run) mayWait(first, end int) bool {
	after := slices.ContainsFunc(r.Plan.Steps[:first], func(s plan.Step) bool { return !s.Beside && len(s.Parts()) > 0 })
	rolls := slices.ContainsFunc(r.Plan.Steps[first:end], func(s plan.Step) bool { return s.Moves(v1alpha1.ControlPlaneName) && !s.UnderWay })
	return (after || r.Continued) && rolls && !slices.Contains(r.Skip, CheckHealth)
}

// wait notes which parts are waited for, and since when.
func (r *run) wait(parts []state.Part) {
	now, within := time.Now(), max(shortestMending, r.NodeStartup)
	r.mending = &state.Mending{Parts: []string{}, Since: now, Until: now.Add(within)}
	if r.waited != nil {
		r.mending.Since, r.mending.Until = r.waited.Since, r.waited.Until
	} else {
		time.AfterFunc(within, func() {
			select {
			case r.wake <- struct{}{}:
			default: // is to look again already
			}
		})
	}
	for _, part := range parts {
		r.mending.Parts = append(r.mending.Parts, part.Name)
	}
}

// again signals when the time to wait is over.
func (r *run) again() <-chan struct{} { return r.wake }

// ahead is the plan from a step on, with what was begun beside the steps.
func (r *run) ahead(first int) plan.Plan {
	var p plan.Plan
	for i, step := range r.Plan.Steps {
		if i >= first || step.Beside {
			p.Steps = append(p.Steps, step)
		}
	}
	return p
}

// wellEnough reports whether a part keeps no step waiting though it is not as wanted:
// surplus machines go, or those come that the upgrade itself asked for.
func (r *run) wellEnough(part state.Part) bool {
	scaled := slices.ContainsFunc(r.Plan.Steps, func(s plan.Step) bool { return s.Beside && s.Group(part.Name).Scales() })
	return part.Name != v1alpha1.ControlPlaneName && part.ComesUp() && (scaled || part.Ready() >= part.Replicas)
}
