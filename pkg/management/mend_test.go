package management

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// twoMinors take the control plane from 1.32 to 1.34.
func twoMinors() []plan.Step {
	return []plan.Step{stepOf(plan.ControlPlane, "v1.32.1", "v1.33.1"), stepOf(plan.ControlPlane, "v1.33.1", "v1.34.1")}
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

// TestRunMends: before each step of the control plane after the first one, groups get
// what they lost meanwhile.
func TestRunMends(t *testing.T) {
	t.Parallel()
	scaled := beside(stepOf(plan.InPlace, "", "", "md-0"))
	scaled.WorkerNodeGroups[0].MachinesAdded = 1
	workersFirst := []plan.Step{stepOf(plan.Workers, "v1.31.1", "v1.32.1", "md-1"), stepOf(plan.ControlPlane, "v1.32.1", "v1.33.1")}
	tests := map[string]struct {
		steps  []plan.Step // the last one is next
		change func(*state.Part)
		skip   []string
		waits  bool
	}{
		"nothing is wrong":                         {twoMinors(), func(*state.Part) {}, nil, false},
		"a machine is missing":                     {twoMinors(), without, nil, true},
		"no machine is made":                       {twoMinors(), blocked, nil, true},
		"a machine comes":                          {twoMinors(), booting, nil, true},
		"a machine is not ready":                   {twoMinors(), notReady, nil, true},
		"a machine is missing, health is skipped":  {twoMinors(), without, []string{CheckHealth}, false},
		"another check is left out":                {twoMinors(), without, []string{CheckPaused}, true},
		"a machine too many goes":                  {twoMinors(), surplus, nil, false},
		"the first step":                           {twoMinors()[:1], without, nil, false},
		"the first step beside a change":           {append([]plan.Step{beside(stepOf(plan.InPlace, "", "", "md-1"))}, twoMinors()[0]), without, nil, false},
		"after workers":                            {workersFirst, without, nil, true},
		"other machines for the control plane":     {[]plan.Step{twoMinors()[0], stepOf(plan.Template, "v1.33.1", "v1.33.1")}, without, nil, true},
		"workers are next":                         {[]plan.Step{twoMinors()[0], stepOf(plan.Workers, "v1.32.1", "v1.33.1", "md-1")}, without, nil, false},
		"a machine comes that was asked for":       {append([]plan.Step{scaled}, twoMinors()...), booting, nil, false},
		"none of those is made that was asked for": {append([]plan.Step{scaled}, twoMinors()...), blocked, nil, true},
		"machines that the run replaces":           {append([]plan.Step{beside(stepOf(plan.Template, "v1.32.1", "v1.32.1", "md-0"))}, twoMinors()...), without, nil, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := aPlan(versionsOf("v1.32.1", "md-0", "v1.32.1", "md-1", "v1.32.1"), versionsOf("v1.34.1", "md-0", "v1.32.1", "md-1", "v1.32.1"), test.steps...)
				next := len(test.steps) - 1
				w := newWorld(t, p.Versions(next))
				r := w.run(p, 1, nil)
				r.step, r.Skip = next, test.skip
				test.change(&w.seen.WorkerNodeGroups[0])
				var got *state.Mending
				r.Show = func(now rollout.Status) { got = now.Cluster.Mending }
				if _, err := r.advance(t.Context(), w.seen); err != nil {
					t.Fatal(err)
				}
				var want *state.Mending
				if test.waits {
					want = &state.Mending{Parts: []string{"md-0"}, Since: time.Now(), Until: time.Now().Add(10 * time.Minute)}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("waits for (-want +got):\n%s", diff)
				}
				if wrote := w.writes != nil; wrote == test.waits {
					t.Errorf("it wrote %s", w.writes)
				}
			})
		})
	}
}

// TestRunMendsForAWhile: a run goes on as soon as the cluster is healthy, and ends when
// the time is over; each wait has its own time.
func TestRunMendsForAWhile(t *testing.T) {
	t.Parallel()
	const refused = "cluster ns/c: step 3 of 3 (the control plane from v1.34.1 to v1.35.1) did not begin, since the cluster was not healthy after 10m0s of waiting; mend it and run the same command again, or go on as it is with --skip-preflight health" +
		"\n  health: infrastructure: no network" +
		"\n  health: md-0: 0 of 1 machines ready at v1.32.1; mend it first: an upgrade takes further machines away"
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, versionsOf("v1.32.1", "md-0", "v1.32.1"))
		steps := append(twoMinors(), stepOf(plan.ControlPlane, "v1.34.1", "v1.35.1"))
		r := w.run(aPlan(w.seen.Versions(), versionsOf("v1.35.1", "md-0", "v1.32.1"), steps...), 1, nil)
		w.begins(r)
		w.sees(r, 0, append(controlPlaneTo("v1.33.1"), "apply MachineDeployment/c-md-0 v1.32.1 beside v1.33.1")...)
		looks := func(change func(*state.Part)) error {
			w.look()
			change(&w.seen.WorkerNodeGroups[0])
			w.writes = nil
			_, err := r.advance(t.Context(), w.seen)
			return err
		}
		waits := func(step int) {
			t.Helper()
			if err := looks(without); err != nil || r.step != step || w.writes != nil {
				t.Errorf("in step %d, wrote %s: %v", r.step, w.writes, err)
			}
		}
		w.roll(controlPlane)
		waits(1)
		time.Sleep(10*time.Minute - 1)
		waits(1)
		w.sees(r, 1, append(controlPlaneTo("v1.34.1"), "apply MachineDeployment/c-md-0 v1.32.1 beside v1.34.1")...)
		<-r.again() // which it no longer needs
		w.roll(controlPlane)
		waits(2)
		began := time.Now()
		<-r.again()
		if took := time.Since(began); took != 10*time.Minute {
			t.Errorf("it is to look again after %s", took)
		}
		w.seen.Infrastructure = "no network"
		err := looks(func(p *state.Part) { without(p); w.seen.Infrastructure = "no network" })
		if unhealthy := (*PreflightError)(nil); !errors.As(err, &unhealthy) || unhealthy.Waited != 10*time.Minute {
			t.Fatalf("error is %v", err)
		}
		if diff := cmp.Diff(refused, err.Error()); diff != "" {
			t.Errorf("error (-want +got):\n%s", diff)
		}
	})
}

// TestRunMendsSlowMachines: where machines may take longer to become nodes, the run waits
// for as long.
func TestRunMendsSlowMachines(t *testing.T) {
	t.Parallel()
	for startup, want := range map[time.Duration]time.Duration{0: 10 * time.Minute, time.Minute: 10 * time.Minute, time.Hour: time.Hour} {
		w := newWorld(t, versionsOf("v1.33.1", "md-0", "v1.32.1"))
		r := w.run(aPlan(versionsOf("v1.32.1", "md-0", "v1.32.1"), versionsOf("v1.34.1", "md-0", "v1.32.1"), twoMinors()...), 1, nil)
		r.step, r.NodeStartup = 1, startup
		without(&w.seen.WorkerNodeGroups[0])
		if _, err := r.advance(t.Context(), w.seen); err != nil {
			t.Fatal(err)
		}
		if got := r.mending.Until.Sub(r.mending.Since); got != want {
			t.Errorf("with machines that may take %s it waits %s, want %s", startup, got, want)
		}
	}
}

// TestRunMendsWhatAnEarlierRunLeft: an upgrade that is continued waits before its first
// step, too; the preflight lets pass a machine that is on its way.
func TestRunMendsWhatAnEarlierRunLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t, versionsOf("v1.32.1", "md-0", "v1.32.1"))
	r := w.run(aPlan(w.seen.Versions(), versionsOf("v1.33.1", "md-0", "v1.32.1"), twoMinors()[0]), 1, nil)
	r.Continued = true
	w.begins(r)
	booting(&w.seen.WorkerNodeGroups[0])
	if w.advances(r, 0); r.mending == nil {
		t.Error("it does not wait")
	}
	w.sees(r, 0, append(controlPlaneTo("v1.33.1"), "apply MachineDeployment/c-md-0 v1.32.1 beside v1.33.1")...)
}

// TestRunMendsAfterAHold: while a hold is waited for, no time is running.
func TestRunMendsAfterAHold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, versionsOf("v1.33.1", "md-0", "v1.32.1"))
		r := w.run(aPlan(versionsOf("v1.32.1", "md-0", "v1.32.1"), versionsOf("v1.34.1", "md-0", "v1.32.1"), twoMinors()...), 1, nil)
		r.step = 1
		r.c = clientOf(interceptor.Funcs{SubResourceApply: func(context.Context, client.Client, string, runtime.ApplyConfiguration, ...client.SubResourceApplyOption) error {
			return nil
		}})
		without(&w.seen.WorkerNodeGroups[0])
		var shown []string
		r.Show = func(now rollout.Status) {
			shown = append(shown, fmt.Sprintf("held %t, mending %t", now.Cluster.Held != nil, now.Cluster.Mending != nil))
		}
		hold := []state.Hold{{Point: state.BeforeControlPlane, Reason: "later"}}
		for _, holds := range [][]state.Hold{nil, hold, nil, nil} {
			w.seen.Holds = holds
			if _, err := r.advance(t.Context(), w.seen); err != nil {
				t.Fatal(err)
			}
			time.Sleep(9 * time.Minute)
		}
		if diff := cmp.Diff([]string{"held false, mending true", "held true, mending false", "held false, mending true", "held false, mending true"}, shown); diff != "" {
			t.Errorf("shown (-want +got):\n%s", diff)
		}
	})
}

// TestFollowMends: a leg with a step of the control plane begins when detached groups
// are healthy. Those of the topology are waited for without an end.
func TestFollowMends(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, objects: map[string]*unstructured.Unstructured{}}
		var said []string
		p := twoLegs()
		p.From.WorkerNodeGroups["own"], p.To.WorkerNodeGroups["own"] = p.From.ControlPlane, p.From.ControlPlane
		f := newFollower(w.client(), clusterKey(), Upgrade{
			Plan: p, Managed: true, Warn: func(text string) { t.Error(text) },
			Show: func(now rollout.Status) {
				said = append(said, fmt.Sprintf("step %d, through %d, mending %t", now.Step, now.Through, now.Cluster.Mending != nil))
			},
			Stages: []rollout.Objects{managedStage("v1.31.0", ""), managedStage("v1.31.0", ""), managedStage("v1.32.0", ""), managedStage("v1.32.0", ""), managedStage("v1.33.0", ""), managedStage("v1.33.0", "")},
		})
		pinned := func(group string, change func(*state.Part)) state.Cluster {
			c := managed("v1.32.0", group, 1, group == "v1.32.0")
			version := v1alpha1.MustParseVersion("v1.31.0")
			own := state.Part{Name: "own", Detached: true, Version: version, Replicas: 1, Settled: true, Machines: []state.Machine{{Name: "own", Ready: true, Version: version, Kubelet: version}}}
			change(&own)
			c.WorkerNodeGroups = append(c.WorkerNodeGroups, own)
			return c
		}
		well := func(*state.Part) {}
		if err := f.begin(t.Context(), pinned("v1.31.0", well)); err != nil {
			t.Fatal(err)
		}
		w.writes = nil
		for _, seen := range []state.Cluster{pinned("v1.31.0", without), pinned("v1.32.0", without), pinned("v1.32.0", booting), pinned("v1.32.0", well)} {
			if _, err := f.advance(t.Context(), seen); err != nil {
				t.Fatal(err)
			}
			if w.writes != nil {
				said = append(said, w.writes...)
			}
		}
		want := []string{
			"step 2, through 3, mending false", "step 3, through 3, mending true", "step 3, through 3, mending true", "step 3, through 5, mending false", "apply Cluster/c",
		}
		if diff := cmp.Diff(want, said); diff != "" {
			t.Errorf("said (-want +got):\n%s", diff)
		}
	})
}
