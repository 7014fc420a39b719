package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// stepOf is a step about groups.
func stepOf(kind plan.Kind, change func(*plan.Step), groups ...string) plan.Step {
	step := plan.Step{Kind: kind}
	for _, group := range groups {
		step.WorkerNodeGroups = append(step.WorkerNodeGroups, plan.Group{Name: group})
	}
	if change != nil {
		change(&step)
	}
	return step
}

func concurrently(s *plan.Step) { s.Concurrent = true }

// TestMayLeave: a run may end where it would only wait, and not in a transfer, for which
// the cluster is paused.
func TestMayLeave(t *testing.T) {
	t.Parallel()
	moves, detaches := stepOf(plan.Workers, nil, "a"), stepOf(plan.Detach, nil, "a")
	halfWay := state.Cluster{Pause: &state.Pause{}, Topology: &state.Topology{}}
	for name, test := range map[string]struct {
		turn turn
		want bool
	}{
		"it waits for machines":             {turn{Engine: Engine{Program: Program{Plan: plan.Plan{Steps: []plan.Step{moves}}}}}, true},
		"it has more to write":              {turn{Engine: Engine{Program: Program{Plan: plan.Plan{Steps: []plan.Step{moves}}}}, again: true}, false},
		"its write is not seen":             {turn{Engine: Engine{Program: Program{Plan: plan.Plan{Steps: []plan.Step{moves}}}}, p: Progress{generations: map[string]int64{wholeCluster: 1}}}, false},
		"a transfer is half-way":            {turn{Engine: Engine{Program: Program{Plan: plan.Plan{Steps: []plan.Step{moves}}}}, now: halfWay}, false},
		"a transfer is next":                {turn{Engine: Engine{Program: Program{Plan: plan.Plan{Steps: []plan.Step{detaches}}}}}, false},
		"a transfer is next, after a hold":  {turn{Engine: Engine{Program: Program{Plan: plan.Plan{Steps: []plan.Step{detaches}}}}, now: state.Cluster{Held: &state.Hold{}}}, true},
		"a transfer waits for health":       {turn{Engine: Engine{Program: Program{Plan: plan.Plan{Steps: []plan.Step{detaches}}}}, p: Progress{healthWait: &state.HealthWait{}}}, true},
		"a transfer was the last step":      {turn{Engine: Engine{Program: Program{Plan: plan.Plan{Steps: []plan.Step{detaches}}}}, p: Progress{step: 1}}, true},
		"a hold, and a transfer is halfway": {turn{Engine: Engine{Program: Program{Plan: plan.Plan{Steps: []plan.Step{moves}}}}, now: state.Cluster{Held: &state.Hold{}, Pause: &state.Pause{}, Topology: &state.Topology{}}}, false},
	} {
		if got := test.turn.mayLeave(); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}

// instant is a driver that takes each step at once, and finds the cluster disturbed after some.
type instant struct{ disturbedAfter int }

func (instant) begin(*turn)        {}
func (instant) arrived(*turn) bool { return true }

func (d instant) disturbed(t *turn) []string {
	if t.p.step == d.disturbedAfter {
		return []string{fmt.Sprintf("changed after step %d", t.p.step)}
	}
	return nil
}

func (instant) take(t *turn) (bool, error) {
	t.p.step++
	return true, nil
}

// TestDisturbedBetweenSteps: the cluster is compared with the plan before each step, also where
// several are taken at once.
func TestDisturbedBetweenSteps(t *testing.T) {
	t.Parallel()
	steps := []plan.Step{stepOf(plan.Workers, nil, "a"), stepOf(plan.Workers, nil, "b"), stepOf(plan.Workers, nil, "c")}
	for after, want := range []string{0: "changed after step 0", 1: "changed after step 1", 2: "changed after step 2", 3: "changed after step 3", 4: ""} {
		e := Engine{Program: Program{Plan: plan.Plan{Steps: steps}}, cluster: "default/c", driver: instant{after}}
		turn, err := e.Next(state.Cluster{Name: "c"}, time.Time{}, Progress{})
		var stale *StalePlanError
		reason := ""
		if errors.As(err, &stale) {
			reason = strings.Join(stale.Reasons, ", ")
		}
		if reason != want || turn.Progress.step != min(after, len(steps)) || turn.Done != (want == "") {
			t.Errorf("after %d steps: %q (%v), step %d, done %t", after, reason, err, turn.Progress.step, turn.Done)
		}
	}
}

// busy is a driver that notes something in everything that a progress has.
type busy struct{ instant }

func (busy) take(t *turn) (bool, error) {
	t.p.begun["a"], t.p.scaled["a"] = true, true
	t.p.last["a"], t.p.generations["a"] = nil, 1
	t.p.replacements.queue[0], t.p.replacements.moving[0] = "x", "x"
	return false, nil
}

// TestProgressIsAValue: a turn changes a copy of the progress that it is given, so that a turn whose
// actions failed can be tried again.
func TestProgressIsAValue(t *testing.T) {
	t.Parallel()
	given := func() Progress {
		return Progress{
			begun: map[string]bool{}, scaled: map[string]bool{}, last: map[string]*unstructured.Unstructured{}, generations: map[string]int64{},
			replacements: replacements{queue: []string{"q"}, moving: []string{"m"}},
		}
	}
	e := Engine{Program: Program{Plan: plan.Plan{Steps: []plan.Step{stepOf(plan.Workers, nil, "a")}}}, driver: busy{instant{-1}}}
	p := given()
	turn, err := e.Next(state.Cluster{Name: "c"}, time.Time{}, p)
	if err != nil || len(turn.Progress.begun) != 1 {
		t.Fatalf("begun after the turn: %v, %v", turn.Progress.begun, err)
	}
	if diff := cmp.Diff(given(), p, cmp.AllowUnexported(Progress{}, replacements{})); diff != "" {
		t.Errorf("the progress that was given (-want +got):\n%s", diff)
	}
}

// TestDetachedGroupDisturbed: the version of a detached group is compared while it is the
// group's turn, and not where Cluster API or an earlier run moves it.
func TestDetachedGroupDisturbed(t *testing.T) {
	t.Parallel()
	seen := managed("v1.32.0", "v1.30.0", 0, true)
	seen.WorkerNodeGroups[0].Detached, seen.Topology.Groups = true, nil
	seen.WorkerNodeGroups[0].Object = "MachineDeployment/c-a"
	const changed = "MachineDeployment/c-a was changed by someone else: its version is v1.30.0, and the plan has v1.32.0"
	detached := func(more func(*plan.Step)) plan.Step {
		step := versionsStep(plan.Workers, more)
		return step
	}
	for name, test := range map[string]struct {
		step plan.Step
		at   int
		want []string
	}{
		"its turn":              {detached(nil), 0, []string{changed}},
		"after the last step":   {detached(nil), 1, nil},
		"Cluster API takes it":  {detached(func(s *plan.Step) { s.Detached = false }), 0, nil},
		"a concurrent step":     {detached(concurrently), 0, nil},
		"a rollout under way":   {detached(func(s *plan.Step) { s.UnderWay = true }), 0, nil},
		"machines are replaced": {versionsStep(plan.Template, nil), 0, nil},
		"it is taken out of it": {versionsStep(plan.Detach, nil), 0, nil},
	} {
		from := enginetest.Versions("v1.32.0", "a", "v1.31.0")
		turn := turn{now: seen, p: Progress{step: test.at}, Engine: Engine{Program: Program{Plan: plan.Plan{From: from, To: enginetest.Versions("v1.32.0", "a", "v1.32.0"), Steps: []plan.Step{test.step}}}}}
		if diff := cmp.Diff(test.want, (topology{}).disturbed(&turn)); diff != "" {
			t.Errorf("%s: reasons (-want +got):\n%s", name, diff)
		}
	}
}

// TestQueueOfReplacements: groups are queued whose machines clusterctl-x is to replace
// concurrently, and whose turn has not come yet.
func TestQueueOfReplacements(t *testing.T) {
	t.Parallel()
	detached := func(s *plan.Step) { s.Concurrent, s.Detached = true, true }
	turn := turn{Engine: Engine{Program: Program{Plan: plan.Plan{Steps: []plan.Step{
		stepOf(plan.Template, detached, "a", "b"),
		stepOf(plan.Template, nil, "in order"),
		stepOf(plan.InPlace, detached, "in place"),
		stepOf(plan.Template, func(s *plan.Step) { detached(s); s.UnderWay = true }, "under way"),
		stepOf(plan.Template, concurrently, "of the topology"),
	}}}}}
	turn.queueReplacements(func(s plan.Step) bool { return s.Detached })
	if diff := cmp.Diff([]string{"a", "b"}, turn.p.replacements.queue); diff != "" {
		t.Errorf("queue (-want +got):\n%s", diff)
	}
}

// TestReplacementsAreOfTheStep: machines that are replaced concurrently are made as the
// step under way has them, and before one as the step before it had them.
func TestReplacementsAreOfTheStep(t *testing.T) {
	t.Parallel()
	desired := make([]Objects, 3)
	for i := range desired {
		desired[i].Parts = map[string][]*unstructured.Unstructured{"a": {enginetest.Object("cluster.x-k8s.io", "MachineDeployment", "c-a", fmt.Sprint(i), map[string]any{})}}
	}
	for name, test := range map[string]struct {
		step  int
		begun map[string]bool
		want  string
	}{
		"no step has begun":   {0, nil, "MachineDeployment/c-a  x0 label=0"},
		"the first has begun": {0, map[string]bool{"b": true}, "MachineDeployment/c-a  x0 label=1"},
		"the first is done":   {1, nil, "MachineDeployment/c-a  x0 label=1"},
		"all are done":        {2, map[string]bool{"b": true}, "MachineDeployment/c-a  x0 label=2"},
	} {
		turn := turn{Engine: Engine{Program: Program{Concurrency: 1, Desired: desired}}, p: Progress{
			step: test.step, begun: test.begun, replacements: replacements{open: true, queue: []string{"a"}},
			last: map[string]*unstructured.Unstructured{}, generations: map[string]int64{}, scaled: map[string]bool{},
		}}
		turn.replaceMachines()
		var got []string
		for _, action := range turn.actions {
			if apply, is := action.(ApplyInPlace); is {
				got = append(got, enginetest.Describe(apply.Object))
			}
		}
		if diff := cmp.Diff([]string{test.want}, got); diff != "" {
			t.Errorf("%s: writes (-want +got):\n%s", name, diff)
		}
	}
}

// TestLooksAtHealth: before a step that rolls the control plane, if machines were replaced
// before it, or an earlier run was stopped.
func TestLooksAtHealth(t *testing.T) {
	t.Parallel()
	controlPlane := plan.Step{Kind: plan.ControlPlane, From: v1alpha1.MustParseVersion("v1.31.0"), To: v1alpha1.MustParseVersion("v1.32.0")}
	for name, test := range map[string]struct {
		before    []plan.Step
		continued bool
		want      bool
	}{
		"the first step":                     {nil, false, false},
		"the first step, continued":          {nil, true, true},
		"after the workers":                  {[]plan.Step{stepOf(plan.Workers, nil, "a")}, false, true},
		"after a concurrent step":            {[]plan.Step{stepOf(plan.Template, concurrently, "a")}, false, false},
		"after one that replaces no machine": {[]plan.Step{stepOf(plan.Detach, nil, "a")}, false, false},
	} {
		turn := turn{Engine: Engine{Program: Program{Continued: test.continued, Plan: plan.Plan{Steps: append(test.before, controlPlane)}}}}
		if got := turn.looksAtHealth(len(test.before), len(test.before)+1); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}

// TestAhead: the steps from one on, that one included, and the concurrent ones.
func TestAhead(t *testing.T) {
	t.Parallel()
	steps := []plan.Step{stepOf(plan.InPlace, concurrently, "a"), stepOf(plan.Workers, nil, "b"), stepOf(plan.Workers, nil, "c"), stepOf(plan.Workers, nil, "d")}
	turn := turn{Engine: Engine{Program: Program{Plan: plan.Plan{Steps: steps}}}}
	want := plan.Plan{Steps: []plan.Step{steps[0], steps[2], steps[3]}}
	if diff := cmp.Diff(want, turn.ahead(2), cmpopts.EquateComparable(v1alpha1.Version{})); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

// TestSegmentEnd: a segment goes on as long as the Cluster stays the same, to the next step
// of a detached group.
func TestSegmentEnd(t *testing.T) {
	t.Parallel()
	ofAPI, own := stepOf(plan.Workers, nil, "a"), stepOf(plan.Workers, func(s *plan.Step) { s.Detached = true }, "b")
	for name, test := range map[string]struct {
		steps    []plan.Step
		labels   string // of the Clusters of the desired states
		from, to int
	}{
		"to the end":                {[]plan.Step{ofAPI, ofAPI}, "011", 1, 2},
		"to another Cluster":        {[]plan.Step{ofAPI, ofAPI, ofAPI}, "0112", 1, 2},
		"to a detached group":       {[]plan.Step{ofAPI, ofAPI, own, ofAPI}, "01111", 1, 2},
		"the last one":              {[]plan.Step{ofAPI, ofAPI}, "012", 2, 2},
		"with the group right next": {[]plan.Step{ofAPI, own}, "011", 1, 1},
	} {
		program := Program{Plan: plan.Plan{Steps: test.steps}}
		for _, label := range test.labels {
			program.Desired = append(program.Desired, Objects{Cluster: []*unstructured.Unstructured{enginetest.Object("cluster.x-k8s.io", "Cluster", "c", string(label), nil)}})
		}
		turn := turn{Engine: Engine{Program: program}}
		if got := turn.segmentEnd(test.from); got != test.to {
			t.Errorf("%s: %d, want %d", name, got, test.to)
		}
	}
}

// TestAnnotateOthers: a group that the upgrade is not about gets the annotation on its
// MachineDeployment, if the version of the control plane requires it there.
func TestAnnotateOthers(t *testing.T) {
	t.Parallel()
	object := func(kind string, annotations map[string]string) *unstructured.Unstructured {
		o := enginetest.Object("cluster.x-k8s.io", kind, "c-a", "", map[string]any{})
		o.SetAnnotations(annotations)
		return o
	}
	skips := map[string]string{clusterv1.MachineSetSkipPreflightChecksAnnotation: "KubeadmVersionSkew"}
	annotated := object("MachineDeployment", skips)
	var turn turn
	turn.annotateOthers(Objects{Others: map[string][]*unstructured.Unstructured{
		"a": {object("MachineHealthCheck", skips), annotated},
		"b": {object("MachineDeployment", map[string]string{"other": "x"})},
	}})
	want := []Action{Annotate{annotated, clusterv1.MachineSetSkipPreflightChecksAnnotation, "KubeadmVersionSkew"}}
	if diff := cmp.Diff(want, turn.actions); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
}
