package engine

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// twoMinors take the control plane from 1.32 to 1.34.
func twoMinors() []plan.Step {
	return []plan.Step{enginetest.Step(plan.ControlPlane, "v1.32.1", "v1.33.1"), enginetest.Step(plan.ControlPlane, "v1.33.1", "v1.34.1")}
}

// States of a group of one machine that is not as wanted.
func without(p *state.Part) { p.Machines, p.Settled = nil, false }
func blocked(p *state.Part) { without(p); p.Blocked, p.Reason = true, "no machine is made now" }
func booting(p *state.Part) {
	p.Machines, p.Settled = []state.Machine{{Name: "new", Phase: "Pending", Version: p.Version}}, false
}

func notReady(p *state.Part) {
	p.Machines[0].Node, p.Machines[0].Ready, p.Settled = "node", false, false
}

func surplus(p *state.Part) {
	p.Machines, p.Settled = append(p.Machines, state.Machine{Name: "old", Node: "node", Deleting: true, Version: p.Version}), false
}

// TestRunWaitsForHealth: before each step of the control plane after the first one, groups get
// what they lost meanwhile.
func TestRunWaitsForHealth(t *testing.T) {
	t.Parallel()
	scaled := enginetest.Concurrent(enginetest.Step(plan.InPlace, "", "", "md-0"))
	scaled.WorkerNodeGroups[0].MachinesAdded = 1
	workersFirst := []plan.Step{enginetest.Step(plan.Workers, "v1.31.1", "v1.32.1", "md-1"), enginetest.Step(plan.ControlPlane, "v1.32.1", "v1.33.1")}
	tests := map[string]struct {
		steps  []plan.Step // the last one is next
		change func(*state.Part)
		ignore bool
		waits  bool
	}{
		"nothing is wrong":                         {twoMinors(), func(*state.Part) {}, false, false},
		"a machine is missing":                     {twoMinors(), without, false, true},
		"no machine is made":                       {twoMinors(), blocked, false, true},
		"a machine comes":                          {twoMinors(), booting, false, true},
		"a machine is not ready":                   {twoMinors(), notReady, false, true},
		"a machine is missing, health is skipped":  {twoMinors(), without, true, false},
		"a machine too many goes":                  {twoMinors(), surplus, false, false},
		"the first step":                           {twoMinors()[:1], without, false, false},
		"the first step beside a change":           {append([]plan.Step{enginetest.Concurrent(enginetest.Step(plan.InPlace, "", "", "md-1"))}, twoMinors()[0]), without, false, false},
		"after workers":                            {workersFirst, without, false, true},
		"new machines for the control plane":       {[]plan.Step{twoMinors()[0], enginetest.Step(plan.Template, "v1.33.1", "v1.33.1")}, without, false, true},
		"workers are next":                         {[]plan.Step{twoMinors()[0], enginetest.Step(plan.Workers, "v1.32.1", "v1.33.1", "md-1")}, without, false, false},
		"a machine comes that was asked for":       {append([]plan.Step{scaled}, twoMinors()...), booting, false, false},
		"none of those is made that was asked for": {append([]plan.Step{scaled}, twoMinors()...), blocked, false, true},
		"machines that the run replaces":           {append([]plan.Step{enginetest.Concurrent(enginetest.Step(plan.Template, "v1.32.1", "v1.32.1", "md-0"))}, twoMinors()...), without, false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := enginetest.Plan(enginetest.Versions("v1.32.1", "md-0", "v1.32.1", "md-1", "v1.32.1"), enginetest.Versions("v1.34.1", "md-0", "v1.32.1", "md-1", "v1.32.1"), test.steps...)
			next := len(test.steps) - 1
			w := newWorld(t, p.Versions(next))
			r := w.run(p, 1, nil)
			r.IgnoreHealth = test.ignore
			r.at(next)
			test.change(&w.seen.WorkerNodeGroups[0])
			if _, err := r.advance(); err != nil {
				t.Fatal(err)
			}
			var want *state.HealthWait
			if test.waits {
				want = &state.HealthWait{Parts: []string{"md-0"}, Since: w.at, Until: w.at.Add(10 * time.Minute)}
			}
			if diff := cmp.Diff(want, r.shown[0].Cluster.HealthWait); diff != "" {
				t.Errorf("waits for (-want +got):\n%s", diff)
			}
			if wrote := w.writes != nil; wrote == test.waits {
				t.Errorf("it wrote %s", w.writes)
			}
		})
	}
}

// at makes a step the next one, after a beginning of which nothing is noted.
func (r *run) at(step int) {
	_, r.p = r.Begin(r.w.seen)
	r.p.step, r.p.recorded = step, step
}

// TestRunWaitsForHealthForAWhile: a run goes on as soon as the cluster is healthy, and ends
// when the time is over; each wait has its own time.
func TestRunWaitsForHealthForAWhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, enginetest.Versions("v1.32.1", "md-0", "v1.32.1"))
	steps := append(twoMinors(), enginetest.Step(plan.ControlPlane, "v1.34.1", "v1.35.1"))
	r := w.run(enginetest.Plan(w.seen.Versions(), enginetest.Versions("v1.35.1", "md-0", "v1.32.1"), steps...), 1, nil)
	w.begins(r)
	w.sees(r, 0, append(controlPlaneTo("v1.33.1"), "apply MachineDeployment/c-md-0 v1.32.1 behind v1.33.1")...)
	waits := func(step int, until time.Time) {
		t.Helper()
		w.look()
		without(&w.seen.WorkerNodeGroups[0])
		w.writes = nil
		turn, err := r.Next(w.seen, w.at, r.p)
		r.p = turn.Progress
		if err != nil || r.p.step != step || turn.Again || !turn.LookAgain().Equal(until) {
			t.Errorf("in step %d, looks again at %s: %v", r.p.step, turn.LookAgain(), err)
		}
	}
	w.Roll(controlPlane)
	first := w.at.Add(10 * time.Minute)
	waits(1, first)
	w.at = first.Add(-1)
	waits(1, first)
	w.sees(r, 1, append(controlPlaneTo("v1.34.1"), "apply MachineDeployment/c-md-0 v1.32.1 behind v1.34.1")...)
	w.Roll(controlPlane)
	w.at = first
	second := w.at.Add(10 * time.Minute)
	waits(2, second)
	w.at = second
	w.look()
	without(&w.seen.WorkerNodeGroups[0])
	w.seen.Infrastructure = "no network"
	_, err := r.advance()
	unhealthy := (*UnhealthyError)(nil)
	if !errors.As(err, &unhealthy) {
		t.Fatalf("error is %v", err)
	}
	type result struct {
		Place  string
		Waited time.Duration
		Parts  []string
		Text   string
	}
	want := result{
		"step 3 of 3 (the control plane from v1.34.1 to v1.35.1)", 10 * time.Minute, []string{"md-0"},
		"cluster ns/c was not healthy after waiting 10m0s, so step 3 of 3 (the control plane from v1.34.1 to v1.35.1) did not start",
	}
	got := result{Place: unhealthy.Place(), Waited: unhealthy.Waited, Text: err.Error()}
	for _, part := range unhealthy.Parts {
		got.Parts = append(got.Parts, part.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

// TestRunWaitsForSlowMachines: where machines may take longer to become nodes, the run waits
// for as long.
func TestRunWaitsForSlowMachines(t *testing.T) {
	t.Parallel()
	for startup, want := range map[time.Duration]time.Duration{0: 10 * time.Minute, time.Minute: 10 * time.Minute, time.Hour: time.Hour} {
		w := newWorld(t, enginetest.Versions("v1.33.1", "md-0", "v1.32.1"))
		r := w.run(enginetest.Plan(enginetest.Versions("v1.32.1", "md-0", "v1.32.1"), enginetest.Versions("v1.34.1", "md-0", "v1.32.1"), twoMinors()...), 1, nil)
		r.NodeStartup = startup
		r.at(1)
		without(&w.seen.WorkerNodeGroups[0])
		if _, err := r.advance(); err != nil {
			t.Fatal(err)
		}
		if got := r.p.healthWait.Until.Sub(r.p.healthWait.Since); got != want {
			t.Errorf("with machines that may take %s it waits %s, want %s", startup, got, want)
		}
	}
}

// TestRunWaitsForWhatAnEarlierRunLeft: an upgrade that is continued waits before its first
// step, too; the preflight lets pass a machine that is on its way.
func TestRunWaitsForWhatAnEarlierRunLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t, enginetest.Versions("v1.32.1", "md-0", "v1.32.1"))
	r := w.run(enginetest.Plan(w.seen.Versions(), enginetest.Versions("v1.33.1", "md-0", "v1.32.1"), twoMinors()[0]), 1, nil)
	r.Continued = true
	w.begins(r)
	booting(&w.seen.WorkerNodeGroups[0])
	if w.advances(r, 0); r.p.healthWait == nil {
		t.Error("it does not wait")
	}
	w.sees(r, 0, append(controlPlaneTo("v1.33.1"), "apply MachineDeployment/c-md-0 v1.32.1 behind v1.33.1")...)
}

// TestRunWaitsForHealthAfterAHold: while a hold is waited for, no time is running. What is
// waited for is recorded once.
func TestRunWaitsForHealthAfterAHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, enginetest.Versions("v1.33.1", "md-0", "v1.32.1"))
	r := w.run(enginetest.Plan(enginetest.Versions("v1.32.1", "md-0", "v1.32.1"), enginetest.Versions("v1.34.1", "md-0", "v1.32.1"), twoMinors()...), 1, nil)
	r.at(1)
	without(&w.seen.WorkerNodeGroups[0])
	hold := []state.Hold{{Point: state.BeforeControlPlane, Reason: "later"}}
	for _, holds := range [][]state.Hold{nil, hold, nil, nil} {
		w.seen.Holds, w.seen.ToldHeld = holds, holds != nil
		if _, err := r.advance(); err != nil {
			t.Fatal(err)
		}
		w.at = w.at.Add(9 * time.Minute)
	}
	var shown []string
	for _, now := range r.shown {
		shown = append(shown, fmt.Sprintf("held %t, healthWait %t", now.Cluster.Held != nil, now.Cluster.HealthWait != nil))
	}
	if diff := cmp.Diff([]string{"held false, healthWait true", "held true, healthWait false", "held false, healthWait true", "held false, healthWait true"}, shown); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]*state.Hold{&hold[0], nil}, w.holds); diff != "" {
		t.Errorf("holds that were recorded (-want +got):\n%s", diff)
	}
}

// TestTopologyWaitsForHealth: a segment with a step of the control plane begins when
// detached groups are healthy. Those of the topology are waited for without an end.
func TestTopologyWaitsForHealth(t *testing.T) {
	t.Parallel()
	w := topologyWorld(t)
	p := twoSegments()
	p.From.WorkerNodeGroups["own"], p.To.WorkerNodeGroups["own"] = p.From.ControlPlane, p.From.ControlPlane
	r := w.runOf(Program{Plan: p, Topology: true, Desired: segments("", managedStage("v1.31.0", ""))})
	pinned := func(group string, change func(*state.Part)) state.Cluster {
		c := managed("v1.32.0", group, 1, group == "v1.32.0")
		version := v1alpha1.MustParseVersion("v1.31.0")
		own := state.Part{Name: "own", Detached: true, Version: version, Replicas: 1, Settled: true, Machines: []state.Machine{{Name: "own", Ready: true, Version: version, Kubelet: version}}}
		change(&own)
		c.WorkerNodeGroups = append(c.WorkerNodeGroups, own)
		return c
	}
	well := func(*state.Part) {}
	r.begin()
	var said []string
	for _, seen := range []state.Cluster{pinned("v1.31.0", without), pinned("v1.32.0", without), pinned("v1.32.0", booting), pinned("v1.32.0", well)} {
		w.seen, w.writes = seen, nil
		if _, err := r.advance(); err != nil {
			t.Fatal(err)
		}
		now := r.shown[len(r.shown)-1]
		said = append(append(said, fmt.Sprintf("step %d, through %d, healthWait %t", now.Step, now.Through, now.Cluster.HealthWait != nil)), w.writes...)
	}
	want := []string{
		"step 2, through 3, healthWait false", "step 3, through 3, healthWait true", "step 3, through 3, healthWait true", "step 3, through 5, healthWait false", "apply Cluster/c",
	}
	if diff := cmp.Diff(want, said); diff != "" || w.warned != nil {
		t.Errorf("warned of %v; said (-want +got):\n%s", w.warned, diff)
	}
}
