package management

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// refusedConnection is what a client says of an API server that is not there.
func refusedConnection() error {
	return &url.Error{Op: "Patch", URL: "https://host", Err: &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}}
}

// everyWrite are plans of which each begins with another kind of write.
func everyWrite() map[string][]plan.Step {
	return map[string][]plan.Step{
		"control plane": {enginetest.Step(plan.ControlPlane, "v1.32.1", "v1.33.1")},
		"cluster":       {enginetest.Concurrent(enginetest.Step(plan.InPlace, "", ""))},
		"in place":      {enginetest.Concurrent(enginetest.Step(plan.InPlace, "", "", "md-0"))},
		"templates":     {enginetest.Concurrent(enginetest.Step(plan.Template, "v1.32.1", "v1.32.1", "md-0"))},
		"workers":       {enginetest.Step(plan.Workers, "v1.32.1", "v1.33.1", "md-0")},
		"new group":     {enginetest.Step(plan.CreateWorkers, "", "v1.32.1", "new")},
		"removal":       {enginetest.Step(plan.RemoveWorkers, "v1.32.1", "", "md-0")},
	}
}

// beginAndAdvance begins the run and advances it once.
func beginAndAdvance(ctx context.Context, w *world, x *execution) error {
	if err := x.begin(ctx, w.seen); err != nil {
		return err
	}
	_, err := x.advance(ctx, w.seen)
	return err
}

// TestRunWritesNothingOnceItsLockIsLost: whatever it is about to write; the
// error is the one of the lock.
func TestRunWritesNothingOnceItsLockIsLost(t *testing.T) {
	t.Parallel()
	lost := &LockedError{HeldLock: HeldLock{Cluster: "ns/c", Holder: "another"}, Lost: true}
	for name, steps := range everyWrite() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, enginetest.Versions("v1.32.1", "md-0", "v1.32.1"))
			held, lose := context.WithCancelCause(t.Context())
			lose(lost)
			x := w.run(enginetest.Plan(w.seen.Versions(), w.seen.Versions(), steps...))
			err := x.c.explain(held, beginAndAdvance(held, w, x))
			if got := (*LockedError)(nil); !errors.As(err, &got) || got != lost {
				t.Errorf("error is %v, want %v", err, lost)
			}
			if w.writes != nil {
				t.Errorf("it wrote %s", w.writes)
			}
		})
	}
	t.Run("in the middle", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, enginetest.Versions("v1.32.1", "md-0", "v1.32.1"))
		held, lose := context.WithCancelCause(t.Context())
		w.apply = func(*unstructured.Unstructured) error { lose(lost); return nil }
		x := w.run(enginetest.Plan(w.seen.Versions(), enginetest.Versions("v1.33.1", "md-0", "v1.32.1"), everyWrite()["control plane"]...))
		err := x.c.explain(held, beginAndAdvance(held, w, x))
		if got := (*LockedError)(nil); !errors.As(err, &got) || got != lost {
			t.Errorf("error is %v, want %v", err, lost)
		}
		w.wrote("before it was lost", []string{"apply DevMachineTemplate/c-v1.33.1"})
	})
}

// TestRunIsPatient: an API server that is away for a moment ends no run; one
// that stays away does, within the time that a lock lasts, and so does a command
// that is stopped.
func TestRunIsPatient(t *testing.T) {
	t.Parallel()
	for name, steps := range everyWrite() {
		if name == "removal" { // is no apply
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, enginetest.Versions("v1.32.1", "md-0", "v1.32.1"))
				back := time.Now().Add(5 * time.Second)
				w.apply = func(*unstructured.Unstructured) error {
					if time.Now().Before(back) {
						return refusedConnection()
					}
					return nil
				}
				x := w.run(enginetest.Plan(w.seen.Versions(), w.seen.Versions(), steps...))
				if err := beginAndAdvance(t.Context(), w, x); err != nil {
					t.Error(err)
				}

				w.apply = func(*unstructured.Unstructured) error { return refusedConnection() }
				began := time.Now()
				err := beginAndAdvance(t.Context(), w, w.run(x.Plan))
				if took := time.Since(began); !errors.Is(err, syscall.ECONNREFUSED) || took < DefaultLeaseDuration/2 || took >= DefaultRenewDeadline {
					t.Errorf("after %s: %v", took, err)
				}
			})
		})
	}
}

// TestRunStopsAt: what a run cannot or may not go on with.
func TestRunStopsAt(t *testing.T) {
	t.Parallel()
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "kubeadmcontrolplanes"}, "c", errors.New("somebody owns it"))
	type result struct {
		Err    string
		Moved  bool
		Writes []string
	}
	of := func(w *world, x *execution) error { return beginAndAdvance(w.t.Context(), w, x) }
	tests := map[string]struct {
		run  func(w *world, x *execution) error
		want result
	}{
		"a conflict": {
			func(w *world, x *execution) error {
				w.apply = func(o *unstructured.Unstructured) error {
					if o.GetKind() == "KubeadmControlPlane" {
						return conflict
					}
					return nil
				}
				return of(w, x)
			},
			result{Err: `applying KubeadmControlPlane/c: Operation cannot be fulfilled on kubeadmcontrolplanes "c": somebody owns it`, Writes: controlPlaneTo("v1.33.1")},
		},
		"a cluster that is gone": {
			func(w *world, x *execution) error {
				_, err := x.advance(w.t.Context(), state.Cluster{})
				return err
			},
			result{Err: "it was deleted", Moved: true},
		},
		"a cluster that is being deleted": {
			func(w *world, x *execution) error { w.seen.Deleting = true; return of(w, x) }, result{Err: "it was deleted", Moved: true},
		},
		"another version": {
			func(w *world, x *execution) error {
				w.seen.ControlPlane.Version = enginetest.Versions("v1.34.1").ControlPlane
				return of(w, x)
			},
			result{Err: "KubeadmControlPlane/c was changed by someone else: its version is v1.34.1, and the plan has v1.33.1", Moved: true},
		},
		"a group of which the MachineDeployment went away between the looks": {
			func(w *world, x *execution) error { delete(w.Objects, "MachineDeployment/c-md-0"); return of(w, x) },
			result{Err: "MachineDeployment/c-md-0 was deleted", Moved: true, Writes: controlPlaneTo("v1.33.1")},
		},
		"a group that would change in place and of which the MachineDeployment went away": {
			func(w *world, _ *execution) error {
				delete(w.Objects, "MachineDeployment/c-md-0")
				return of(w, w.run(enginetest.Plan(w.seen.Versions(), w.seen.Versions(), everyWrite()["in place"]...)))
			},
			result{Err: "MachineDeployment/c-md-0 was deleted", Moved: true},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, enginetest.Versions("v1.32.1", "md-0", "v1.32.1"))
			x := w.run(enginetest.Plan(w.seen.Versions(), enginetest.Versions("v1.33.1", "md-0", "v1.32.1"), everyWrite()["control plane"]...))
			err := test.run(w, x)
			if err == nil {
				t.Fatal("no error")
			}
			got := result{Err: err.Error(), Writes: w.writes}
			if moved := (*engine.StalePlanError)(nil); errors.As(err, &moved) {
				got.Err, got.Moved = moved.Reasons[0], true
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("stopped (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRunWithForce takes over fields, and only then.
func TestRunWithForce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, enginetest.Versions("v1.32.1"))
	x := w.run(enginetest.Plan(w.seen.Versions(), enginetest.Versions("v1.33.1"), everyWrite()["control plane"]...))
	x.Takeover.All = true
	w.begins(x)
	w.sees(x, 0, "force DevMachineTemplate/c-v1.33.1", "force KubeadmControlPlane/c v1.33.1")
}

// TestRunRecordsStepsThoughAWriteFails: the Event about a step that is done comes after the
// writes of the next one, and though one of them fails.
func TestRunRecordsStepsThoughAWriteFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, enginetest.Versions("v1.32.1", "md-0", "v1.32.1"))
	x := w.run(enginetest.Plan(w.seen.Versions(), enginetest.Versions("v1.34.1", "md-0", "v1.32.1"),
		enginetest.Step(plan.ControlPlane, "v1.32.1", "v1.33.1"), enginetest.Step(plan.ControlPlane, "v1.33.1", "v1.34.1")))
	w.begins(x)
	w.sees(x, 0, append(controlPlaneTo("v1.33.1"), "apply MachineDeployment/c-md-0 v1.32.1 behind v1.33.1")...)
	w.Roll(controlPlane)
	w.look()
	failed := errors.New("no")
	w.apply = func(*unstructured.Unstructured) error { return failed }
	w.writes = nil
	if _, err := x.advance(t.Context(), w.seen); !errors.Is(err, failed) {
		t.Errorf("error is %v", err)
	}
	w.wrote("when one failed", []string{"apply DevMachineTemplate/c-v1.34.1"})
	want := []string{"UpgradeBegun: upgrade to v1.34.1 in 2 steps", "UpgradeStepDone: step 1 of 2: the control plane from v1.32.1 to v1.33.1"}
	if diff := cmp.Diff(want, w.events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
