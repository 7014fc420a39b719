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

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// refusedConnection is what a client says of an API server that is not there.
func refusedConnection() error {
	return &url.Error{Op: "Patch", URL: "https://host", Err: &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}}
}

// everyWrite are plans of which each begins with another kind of write.
func everyWrite() map[string][]plan.Step {
	return map[string][]plan.Step{
		"control plane": {stepOf(plan.ControlPlane, "v1.32.1", "v1.33.1")},
		"cluster":       {beside(stepOf(plan.InPlace, "", ""))},
		"in place":      {beside(stepOf(plan.InPlace, "", "", "md-0"))},
		"templates":     {beside(stepOf(plan.Template, "v1.32.1", "v1.32.1", "md-0"))},
		"workers":       {stepOf(plan.Workers, "v1.32.1", "v1.33.1", "md-0")},
		"new group":     {stepOf(plan.CreateWorkers, "", "v1.32.1", "new")},
		"removal":       {stepOf(plan.RemoveWorkers, "v1.32.1", "", "md-0")},
	}
}

// goOn begins the run and lets it look once.
func goOn(ctx context.Context, w *world, r *run) error {
	if err := r.begin(ctx, w.seen); err != nil {
		return err
	}
	_, err := r.advance(ctx, w.seen)
	return err
}

// TestRunWritesNothingOnceItsLockIsLost: whatever it is about to write; the
// error is the one of the lock.
func TestRunWritesNothingOnceItsLockIsLost(t *testing.T) {
	t.Parallel()
	lost := &LockedError{Turn: Turn{Cluster: "ns/c", Holder: "another"}, Lost: true}
	for name, steps := range everyWrite() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, versionsOf("v1.32.1", "md-0", "v1.32.1"))
			held, lose := context.WithCancelCause(t.Context())
			lose(lost)
			r := w.run(aPlan(w.seen.Versions(), w.seen.Versions(), steps...), 1, nil)
			err := r.c.explain(held, goOn(held, w, r))
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
		w := newWorld(t, versionsOf("v1.32.1", "md-0", "v1.32.1"))
		held, lose := context.WithCancelCause(t.Context())
		w.apply = func(*unstructured.Unstructured) error { lose(lost); return nil }
		r := w.run(aPlan(w.seen.Versions(), versionsOf("v1.33.1", "md-0", "v1.32.1"), everyWrite()["control plane"]...), 1, nil)
		err := r.c.explain(held, goOn(held, w, r))
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
				w := newWorld(t, versionsOf("v1.32.1", "md-0", "v1.32.1"))
				back := time.Now().Add(5 * time.Second)
				w.apply = func(*unstructured.Unstructured) error {
					if time.Now().Before(back) {
						return refusedConnection()
					}
					return nil
				}
				r := w.run(aPlan(w.seen.Versions(), w.seen.Versions(), steps...), 1, nil)
				if err := goOn(t.Context(), w, r); err != nil {
					t.Error(err)
				}

				w.apply = func(*unstructured.Unstructured) error { return refusedConnection() }
				began := time.Now()
				err := goOn(t.Context(), w, w.run(r.Plan, 1, nil))
				if took := time.Since(began); !errors.Is(err, syscall.ECONNREFUSED) || took < lockDuration/2 || took >= lockDuration-lockMargin {
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
	of := func(w *world, r *run) error { return goOn(w.t.Context(), w, r) }
	tests := map[string]struct {
		run  func(w *world, r *run) error
		want result
	}{
		"a conflict": {
			func(w *world, r *run) error {
				w.apply = func(o *unstructured.Unstructured) error {
					if o.GetKind() == "KubeadmControlPlane" {
						return conflict
					}
					return nil
				}
				return of(w, r)
			},
			result{Err: `applying KubeadmControlPlane/c: Operation cannot be fulfilled on kubeadmcontrolplanes "c": somebody owns it`, Writes: controlPlaneTo("v1.33.1")},
		},
		"a cluster that is gone": {
			func(w *world, r *run) error {
				_, err := r.advance(w.t.Context(), state.Cluster{})
				return err
			},
			result{Err: "somebody deleted it", Moved: true},
		},
		"a cluster that is being deleted": {
			func(w *world, r *run) error { w.seen.Deleting = true; return of(w, r) }, result{Err: "somebody deleted it", Moved: true},
		},
		"another version": {
			func(w *world, r *run) error {
				w.seen.ControlPlane.Version = versionsOf("v1.34.1").ControlPlane
				return of(w, r)
			},
			result{Err: "somebody changed KubeadmControlPlane/c: its version is v1.34.1, and the plan has v1.33.1", Moved: true},
		},
		"a group of which the MachineDeployment went away between the looks": {
			func(w *world, r *run) error { delete(w.objects, "MachineDeployment/c-md-0"); return of(w, r) },
			result{Err: "somebody deleted MachineDeployment/c-md-0", Moved: true, Writes: controlPlaneTo("v1.33.1")},
		},
		"a group that would change in place and of which the MachineDeployment went away": {
			func(w *world, _ *run) error {
				delete(w.objects, "MachineDeployment/c-md-0")
				return of(w, w.run(aPlan(w.seen.Versions(), w.seen.Versions(), everyWrite()["in place"]...), 1, nil))
			},
			result{Err: "somebody deleted MachineDeployment/c-md-0", Moved: true},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, versionsOf("v1.32.1", "md-0", "v1.32.1"))
			r := w.run(aPlan(w.seen.Versions(), versionsOf("v1.33.1", "md-0", "v1.32.1"), everyWrite()["control plane"]...), 1, nil)
			err := test.run(w, r)
			if err == nil {
				t.Fatal("no error")
			}
			got := result{Err: err.Error(), Writes: w.writes}
			if moved := (*rollout.StalePlanError)(nil); errors.As(err, &moved) {
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
	w := newWorld(t, versionsOf("v1.32.1"))
	r := w.run(aPlan(w.seen.Versions(), versionsOf("v1.33.1"), everyWrite()["control plane"]...), 1, nil)
	r.Force = true
	w.begins(r)
	w.sees(r, 0, "force DevMachineTemplate/c-v1.33.1", "force KubeadmControlPlane/c v1.33.1")
}
