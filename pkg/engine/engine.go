package engine

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Turn is the result of Next.
type Turn struct {
	// Actions have to be done in their order. RecordEvents have to be done even if an
	// action before them failed.
	Actions []Action
	// Progress is the receiver of After, for each action that was done.
	Progress Progress
	// Again is true where there may be more to do for the same state of the cluster once
	// the actions are done. Otherwise the next turn is for another state.
	Again bool
	// Done is true at the end of the plan.
	Done bool
	// MayLeave is true where a run may end and nothing is half-way: what was begun goes on
	// by itself, and what is left to do needs another run.
	MayLeave bool
	// Cluster is the cluster with what its upgrade waits for.
	Cluster state.Cluster
}

// LookAgain returns when there is another turn though nothing changed; zero where there
// is none.
func (t Turn) LookAgain() time.Time {
	if t.Progress.healthWait == nil {
		return time.Time{}
	}
	return t.Progress.healthWait.Until
}

// turn is a Turn on its way.
type turn struct {
	Engine
	now state.Cluster
	at  time.Time
	p   Progress
	// waited is the health wait of the previous turn.
	waited  *state.HealthWait
	actions []Action
	again   bool
	// changedParts are the objects of parts that someone else changed.
	changedParts []string
}

// Begin returns what waits for nothing in a cluster, and the progress to begin with.
func (e Engine) Begin(cluster state.Cluster) ([]Action, Progress) {
	t := &turn{Engine: e, now: cluster, p: Progress{
		begun: map[string]bool{}, scaled: map[string]bool{},
		last: map[string]*unstructured.Unstructured{}, generations: map[string]int64{},
	}}
	t.do(RecordEvent{"UpgradeBegun", fmt.Sprintf("upgrade to %s in %d steps", e.Plan.To.ControlPlane, len(e.Plan.Steps))}, Restore{e.Desired[0].All()})
	e.driver.begin(t)
	return t.actions, t.p
}

// Next returns the actions for an observed cluster at a time. The error is a
// *StalePlanError or an *UnhealthyError; the actions have to be done in any case.
func (e Engine) Next(cluster state.Cluster, at time.Time, p Progress) (Turn, error) {
	t := &turn{Engine: e, now: cluster, at: at, p: p.clone()}
	done, err := t.next()
	t.recordSteps()
	return Turn{Actions: t.actions, Progress: t.p, Again: t.again, Done: done, MayLeave: err == nil && t.mayLeave(), Cluster: t.now}, err
}

// mayLeave reports whether nothing more can be written for this state of the cluster, and
// Cluster API is not paused for a transfer.
func (t *turn) mayLeave() bool {
	switch {
	case t.again || !t.p.seen(t.now) || transferUnseen(t.now):
		return false
	case t.now.Held != nil || t.p.healthWait != nil || t.p.step == len(t.Plan.Steps):
		return true
	}
	return !t.step().Transfers()
}

func (t *turn) next() (bool, error) {
	if t.now.Name == "" || t.now.Deleting {
		return false, t.stale("it was deleted")
	}
	t.now = t.now.Claim(t.Claimed)
	if err := t.disturbed(); err != nil {
		return false, err
	}
	t.replaceMachines()
	if t.again {
		return false, nil
	}
	t.waited, t.p.healthWait = t.p.healthWait, nil
	for t.p.step < len(t.Plan.Steps) {
		done, err := t.driver.take(t)
		if !done || t.again || err != nil {
			return false, err
		}
		if err := t.disturbed(); err != nil {
			return false, err
		}
	}
	return !t.again && t.driver.arrived(t), nil
}

// disturbed is the error about what others did that is not in the plan.
func (t *turn) disturbed() error {
	reasons := t.driver.disturbed(t)
	if len(reasons) == 0 {
		return nil
	}
	return &StalePlanError{Cluster: t.cluster, Reasons: reasons, Changed: t.changedParts}
}

// do adds actions after which the cluster is looked at anew.
func (t *turn) do(actions ...Action) { t.actions = append(t.actions, actions...) }

// write adds actions whose outcome decides how the run continues.
func (t *turn) write(actions ...Action) {
	t.do(actions...)
	t.again = t.again || len(actions) > 0
}

// recordSteps records the end of steps. It comes after all writes: machines come first.
func (t *turn) recordSteps() {
	for i := t.p.recorded; i < t.p.step; i++ {
		if step := t.Plan.Steps[i]; !step.Concurrent {
			t.do(RecordEvent{"UpgradeStepDone", fmt.Sprintf("step %d of %d: %s", i+1, len(t.Plan.Steps), step)})
		}
	}
	t.p.recorded = t.p.step
}

// step is the present one.
func (t *turn) step() plan.Step { return t.Plan.Steps[t.p.step] }

// stale is the error for a cluster that is not what the plan expects.
func (e Engine) stale(reasons ...string) error {
	return &StalePlanError{Cluster: e.cluster, Reasons: reasons}
}

// waitsBefore reports whether the steps from first on, up to the one before end, wait
// for a hold or for the health of the cluster.
func (t *turn) waitsBefore(first, end int) (bool, error) {
	if len(t.p.begun) > 0 {
		return false, nil
	}
	if t.waitsAtHold() {
		return true, nil
	}
	return t.waitsForHealth(first, end)
}

// waitsAtHold reports whether a hold keeps the upgrade from its next step. It is
// recorded on the Cluster, and again where that was taken away.
func (t *turn) waitsAtHold() bool {
	hold := t.Plan.Held(t.p.step, t.Continued, t.now.Holds)
	t.now.Held = hold
	text := ""
	if hold != nil {
		text = hold.String()
	}
	// What a run on groups has not recorded it does not take back: another run may wait.
	missing := hold != nil && !t.now.ToldHeld
	outdated := hold == nil && t.now.ToldHeld && len(t.Groups) == 0
	if text != t.p.hold || missing || outdated {
		t.p.hold, t.now.ToldHeld = text, hold != nil
		t.do(RecordHold{hold})
	}
	return hold != nil
}
