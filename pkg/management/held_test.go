package management

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestStillHeld: who has the lock is read before a write, not remembered from
// the last renewal.
func TestStillHeld(t *testing.T) {
	t.Parallel()
	const works = " works on cluster ns/c now, so this run wrote nothing more, and what it started continues"
	const nobody = "the lock of cluster ns/c was taken over, so this run wrote nothing more, and what it started continues"
	tests := map[string]struct {
		then func(l *leases)
		want string
	}{
		"this run":      {func(*leases) {}, ""},
		"another":       {func(l *leases) { l.renewedBy("another") }, "another" + works},
		"given back":    {func(l *leases) { l.renewedBy("") }, nobody},
		"deleted":       {(*leases).lose, nobody},
		"no answer":     {func(l *leases) { l.answer(func(context.Context, string) error { return errors.New("no answer") }) }, "no answer"},
		"with an extra": {func(l *leases) { l.change(wholeCluster, func(lease *coordinationv1.Lease) { lease.Labels["a"] = "b" }) }, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var l leases
				held, _ := l.try(t, t.Context(), false)
				test.then(&l)
				got, wrote := "", false
				if err := l.client().whileHeld(held, func() error { wrote = true; return nil }); err != nil {
					got = err.Error()
				}
				if diff := cmp.Diff(test.want, got); diff != "" || wrote != (test.want == "") {
					t.Errorf("wrote is %t; error (-want +got):\n%s", wrote, diff)
				}
			})
		})
	}
	t.Run("without a lock", func(t *testing.T) {
		t.Parallel()
		wrote := false
		if err := clientOf(interceptor.Funcs{}).whileHeld(t.Context(), func() error { wrote = true; return nil }); err != nil || !wrote {
			t.Errorf("wrote is %t, error is %v", wrote, err)
		}
	})
}

// TestRunLooksAtItsLock before each write, whichever it is: its turn was ended,
// and no renewal has told it yet.
func TestRunLooksAtItsLock(t *testing.T) {
	t.Parallel()
	for name, steps := range everyWrite() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var l leases
				held, _ := l.try(t, t.Context(), false)
				l.renewedBy("another")
				w := newWorld(t, enginetest.Versions("v1.32.1", "md-0", "v1.32.1"))
				err := beginAndAdvance(held, w, w.run(enginetest.Plan(w.seen.Versions(), w.seen.Versions(), steps...)))
				if lost := (*LockedError)(nil); !errors.As(err, &lost) || lost.Holder != "another" || !lost.Lost {
					t.Errorf("error is %v", err)
				}
				w.wrote("after its turn", nil)
			})
		})
	}
	t.Run("between two writes", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var l leases
			held, _ := l.try(t, t.Context(), false)
			w := newWorld(t, enginetest.Versions("v1.32.1", "md-0", "v1.32.1"))
			w.apply = func(o *unstructured.Unstructured) error {
				if o.GetKind() == "KubeadmControlPlane" {
					l.renewedBy("another")
				}
				return nil
			}
			x := w.run(enginetest.Plan(w.seen.Versions(), enginetest.Versions("v1.33.1"), everyWrite()["control plane"]...))
			x.Desired[1].Parts, x.Desired[1].Others = map[string][]*unstructured.Unstructured{controlPlane: x.Desired[1].Parts[controlPlane]}, others("yes")
			if lost := (*LockedError)(nil); !errors.As(beginAndAdvance(held, w, x), &lost) {
				t.Error("it did not notice")
			}
			w.wrote("before its turn ended", controlPlaneTo("v1.33.1"))
		})
	})
}

// others is md-0 of an upgrade that is not about it.
func others(value string) map[string][]*unstructured.Unstructured {
	objects := desiredAt(enginetest.Versions("v1.33.1", "md-0", "v1.32.1")).Parts["md-0"]
	annotations := map[string]string{clusterv1.MachineSetSkipPreflightChecksAnnotation: value, "more": "x"}
	if value == "" {
		annotations = nil
	}
	for _, object := range objects {
		object.SetAnnotations(annotations)
	}
	return map[string][]*unstructured.Unstructured{"md-0": objects}
}

// TestRunAnnotatesOthers: of a group that the upgrade is not about one
// annotation is written, after the control plane, where it is to have it.
func TestRunAnnotatesOthers(t *testing.T) {
	t.Parallel()
	const patch = `patch MachineDeployment/c-md-0 application/merge-patch+json {"metadata":{"annotations":{"machineset.cluster.x-k8s.io/skip-preflight-checks":"KubeadmVersionSkew"}}}`
	tests := map[string]struct {
		others map[string][]*unstructured.Unstructured
		gone   bool
		want   []string
	}{
		"is to have it": {others("KubeadmVersionSkew"), false, append(controlPlaneTo("v1.33.1"), patch)},
		"is not to":     {others(""), false, controlPlaneTo("v1.33.1")},
		"is gone":       {others("KubeadmVersionSkew"), true, append(controlPlaneTo("v1.33.1"), patch)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, enginetest.Versions("v1.32.1", "md-0", "v1.32.1"))
			x := w.run(enginetest.Plan(enginetest.Versions("v1.32.1"), enginetest.Versions("v1.33.1"), everyWrite()["control plane"]...))
			for i := range x.Desired {
				x.Desired[i].Others = test.others
			}
			if test.gone {
				delete(w.Objects, "MachineDeployment/c-md-0")
			}
			w.begins(x)
			w.sees(x, 0, test.want...)
		})
	}
}

// TestRunLeavesNobodyBehind: a machine that came since the plan was made keeps
// the control plane where it is; nothing of the step is written.
func TestRunLeavesNobodyBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t, enginetest.Versions("v1.32.1"))
	w.seen.Others = []state.Other{{Object: "Machine/x", Version: enginetest.Versions("v1.29.1").ControlPlane}}
	x := w.run(enginetest.Plan(enginetest.Versions("v1.32.1"), enginetest.Versions("v1.33.1"), everyWrite()["control plane"]...))
	want := &engine.StalePlanError{Cluster: "ns/c", Reasons: []string{"Machine/x is at v1.29.1, which would be too old for a control plane at v1.33.1; upgrade or delete it"}}
	var got *engine.StalePlanError
	errors.As(beginAndAdvance(t.Context(), w, x), &got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	w.wrote("all the same", nil)
}

// TestTurns are who works on a cluster now, and on what.
func TestTurns(t *testing.T) {
	t.Parallel()
	another := func(group string) HeldLock { return HeldLock{Holder: "another", Cluster: "ns/c", Group: group} }
	tests := map[string]struct {
		given func(l *leases)
		after time.Duration
		want  []HeldLock
		err   string
	}{
		"none":              {given: func(*leases) {}},
		"somebody":          {func(l *leases) { l.heldBy("another") }, DefaultLeaseDuration, []HeldLock{another("")}, ""},
		"somebody who died": {func(l *leases) { l.heldBy("another") }, DefaultLeaseDuration + time.Second, nil, ""},
		"given back":        {func(l *leases) { l.heldBy("") }, 0, nil, ""},
		"never renewed": {func(l *leases) {
			l.heldBy("x")
			l.change(wholeCluster, func(lease *coordinationv1.Lease) { lease.Spec.RenewTime = nil })
		}, 0, nil, ""},
		"on groups": {func(l *leases) {
			l.heldBy("")
			for _, group := range []string{"md-1", "md-0"} {
				l.groupHeldBy(group, "another")
			}
		}, 0, []HeldLock{another("md-0"), another("md-1")}, ""},
		"without any answer": {func(l *leases) { l.answer(func(context.Context, string) error { return errors.New("no") }) }, 0, nil, "looking up who works on cluster ns/c: no"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var l leases
				test.given(&l)
				until := time.Now().Add(DefaultLeaseDuration)
				time.Sleep(test.after)
				got, err := l.client().HeldLocks(t.Context(), clusterKey())
				text := ""
				if err != nil {
					text = err.Error()
				}
				for i := range test.want {
					test.want[i].Until = until
				}
				if diff := cmp.Diff(test.want, got); diff != "" || text != test.err {
					t.Errorf("error is %q, want %q; held (-want +got):\n%s", text, test.err, diff)
				}
			})
		})
	}
}

// TestRunEndsThoughNothingCanBeRemoved: what is left over is a warning, and what
// somebody changed is not.
func TestRunEndsThoughNothingCanBeRemoved(t *testing.T) {
	t.Parallel()
	versions := enginetest.Versions("v1.33.1", "md-0", "v1.33.1")
	old := ofCluster(infrastructure, "DevMachineTemplate", "old", "c", nil)
	for name, moved := range map[string]bool{"": false, "and somebody changed something": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, versions)
			a := remains{objects: []*unstructured.Unstructured{old}, deleteErr: errors.New("no")}
			x := w.run(plan.Plan{From: versions, To: versions})
			x.c = both(x.c, a.client())
			x.progress = begun(x).After(engine.Apply{Object: w.Main("md-0"), Part: "md-0"}, w.Main("md-0"))
			if moved {
				delete(w.Objects, "MachineDeployment/c-md-0")
			}
			var warned []string
			x.Warn = func(text string) { warned = append(warned, text) }
			err := x.finish(t.Context())
			want := []string{"the upgrade is done, but objects that it no longer needs could not be removed: deleting DevMachineTemplate/old, which is no longer used: no"}
			if moved {
				want = nil
			}
			if diff := cmp.Diff(want, warned); diff != "" || (err != nil) != moved {
				t.Errorf("error is %v; warnings (-want +got):\n%s", err, diff)
			}
			if moved && a.deleted != nil {
				t.Errorf("%s was deleted", a.deleted)
			}
		})
	}
}
