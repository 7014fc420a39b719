package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// world is a management cluster that notes what is done to it.
type world struct {
	*enginetest.World
	t      *testing.T
	writes []string
	events []string
	warned []string
	holds  []*state.Hold
	// seen is what the run's cache has, at is the time.
	seen state.Cluster
	at   time.Time
	// takes reports whether Cluster API takes the version of a topology now.
	takes func() bool
}

// newWorld has a cluster at these versions, all of it as wanted.
func newWorld(t *testing.T, versions v1alpha1.ClusterVersions) *world {
	t.Helper()
	w := &world{World: enginetest.NewWorld(versions), t: t, at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), takes: func() bool { return true }}
	w.look()
	return w
}

// look brings the run's cache up to date.
func (w *world) look() { w.seen = w.Cluster() }

// desiredAt are the objects of a cluster at versions.
func desiredAt(versions v1alpha1.ClusterVersions, r *enginetest.Rendering) Objects {
	if r == nil {
		r = &enginetest.Rendering{}
	}
	return Objects{Cluster: r.ClusterObjects(), Parts: r.PartObjects(versions)}
}

// run carries out a program in a world.
type run struct {
	Engine
	w     *world
	p     Progress
	shown []Status
}

// run is one of the plan, with objects of the rendering.
func (w *world) run(p plan.Plan, concurrency int, r *enginetest.Rendering) *run {
	program := Program{Plan: p, Concurrency: concurrency}
	for i := range len(p.Steps) + 1 {
		program.Desired = append(program.Desired, desiredAt(p.Versions(i), r))
	}
	return w.runOf(program)
}

func (w *world) runOf(program Program) *run { return &run{Engine: New("ns/c", program), w: w} }

// begin is the run's beginning.
func (r *run) begin() {
	actions, p := r.Begin(r.w.seen)
	r.p = p
	r.do(actions)
}

// advance lets the run look at the cluster as its cache has it.
func (r *run) advance() (bool, error) {
	for {
		turn, err := r.Next(r.w.seen, r.w.at, r.p)
		r.p = turn.Progress
		postponed := r.do(turn.Actions)
		if err == nil && turn.Again && !postponed {
			continue
		}
		r.shown = append(r.shown, r.Status(turn.Cluster, r.p))
		return turn.Done, err
	}
}

// do does actions, and reports whether Cluster API does not take one of them yet.
func (r *run) do(actions []Action) bool {
	postponed := false
	for _, action := range actions {
		written, taken := r.w.do(action)
		postponed = postponed || !taken
		r.p = r.p.After(action, written...)
	}
	return postponed
}

// do does an action, and notes it.
func (w *world) do(action Action) (written []*unstructured.Unstructured, taken bool) {
	note := func(format string, args ...any) { w.writes = append(w.writes, fmt.Sprintf(format, args...)) }
	apply := func(object *unstructured.Unstructured) {
		note("apply %s", enginetest.Describe(object))
		written = append(written, w.Apply(object))
	}
	switch a := action.(type) {
	case Apply:
		apply(a.Object)
	case ApplyInPlace:
		held := a.Object.DeepCopy()
		if err := changes.Hold(held, w.Objects[changes.ObjectName(held)]); err != nil {
			w.t.Fatal(err)
		}
		apply(held)
	case ApplyTopology:
		if !w.takes() {
			note("not taken %s", enginetest.Describe(a.Object))
			return nil, false
		}
		apply(a.Object)
	case Restore:
		for _, object := range a.Objects {
			if _, there := w.Objects[changes.ObjectName(object)]; !there && changes.IsTemplate(object.GetKind()) && w.refersTo(object) {
				apply(object)
			}
		}
	case Remove:
		note("remove %s", a.Object)
		delete(w.Objects, a.Object)
	case Annotate:
		note("annotate %s %s=%s", changes.ObjectName(a.Object), a.Key, a.Value)
	case Pause:
		note("pause %s to %s, without %v", changes.ObjectName(a.Object), a.Why, a.Drop)
		written = append(written, w.Apply(a.Object))
	case Transfer:
		note("%s %s (%s)", strings.ToLower(string(a.Kind)), a.Group, a.Object)
	case RecordHold:
		w.holds = append(w.holds, a.Hold)
	case RecordEvent:
		w.events = append(w.events, a.Reason+": "+a.Message)
	case Warn:
		w.warned = append(w.warned, a.Text)
	}
	return written, true
}

// refersTo reports whether a live object refers to a template.
func (w *world) refersTo(template *unstructured.Unstructured) bool {
	for _, object := range w.Objects {
		for _, path := range changes.References(object.GetKind()) {
			reference, _, err := unstructured.NestedStringMap(object.Object, path...)
			if err == nil && reference["kind"] == template.GetKind() && reference["name"] == template.GetName() {
				return true
			}
		}
	}
	return false
}

// begins is the run's beginning, with what it writes.
func (w *world) begins(r *run, want ...string) {
	w.t.Helper()
	w.writes = nil
	r.begin()
	w.wrote("at the beginning", want)
}

// sees lets the run look at the cluster as it is now. It is to be at a step then,
// and to have written this.
func (w *world) sees(r *run, step int, want ...string) {
	w.t.Helper()
	w.look()
	if w.advances(r, step, want...) {
		w.t.Error("the run is done")
	}
}

// advances lets the run look at the cluster as its cache has it.
func (w *world) advances(r *run, step int, want ...string) bool {
	w.t.Helper()
	w.writes, r.shown = nil, nil
	done, err := r.advance()
	if err != nil {
		w.t.Fatal(err)
	}
	w.wrote(fmt.Sprintf("in step %d", step), want)
	if got := r.shown[len(r.shown)-1].Step; got != step {
		w.t.Errorf("it is in step %d, want %d", got, step)
	}
	return done
}

// ends is sees for the last time.
func (w *world) ends(r *run) {
	w.t.Helper()
	w.look()
	if !w.advances(r, len(r.Plan.Steps)) {
		w.t.Error("the run is not done")
	}
}

func (w *world) wrote(when string, want []string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.writes); diff != "" {
		w.t.Errorf("writes %s (-want +got):\n%s", when, diff)
	}
}
