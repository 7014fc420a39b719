package management

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// locked says what came of a try to lock.
type locked struct {
	Err     string
	After   time.Duration
	Waiting []string
	// Lost is true for a *LockedError of a lock that was held before.
	Lost bool
}

// try locks the cluster, and releases it when the test is over.
func (l *leases) try(t *testing.T, ctx context.Context, takeOver bool) (context.Context, locked) { //nolint:revive // t first, as everywhere
	t.Helper()
	return l.claim(t, ctx, Claim{TakeOver: takeOver})
}

// claim locks what is claimed, and releases it when the test is over.
func (l *leases) claim(t *testing.T, ctx context.Context, claim Claim) (context.Context, locked) { //nolint:revive // t first, as everywhere
	t.Helper()
	began := time.Now()
	var got locked
	claim.Waiting = func(turn HeldLock) { got.Waiting = append(got.Waiting, turn.Holder) }
	held, release, err := l.client().Lock(ctx, clusterKey(), claim)
	got.After = time.Since(began)
	if err != nil {
		got.Err = err.Error()
		return nil, got
	}
	t.Cleanup(release)
	return held, got
}

// lost waits until a lock that was held is lost.
func lost(held context.Context) locked {
	began := time.Now()
	<-held.Done()
	err := context.Cause(held)
	var e *LockedError
	return locked{Err: err.Error(), After: time.Since(began), Lost: errors.As(err, &e) && e.Lost}
}

func TestLockIsAcquired(t *testing.T) {
	t.Parallel()
	const works = "another works on cluster ns/c, at least until "
	const remedy = "; wait until it is done, or take over its lock with --take-over"
	at := func(after time.Duration) string { // synctest begins at midnight UTC of 2000-01-01
		return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(after).Local().Format(time.TimeOnly)
	}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "leases"}, "c-clusterctl-x", errors.New("no"))
	canceled := func(ctx context.Context) context.Context {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(3*time.Second+DefaultRetryPeriod/2, cancel)
		return ctx
	}
	ending := func(ctx context.Context) context.Context {
		ctx, cancel := context.WithTimeout(ctx, 3*time.Second+DefaultRetryPeriod/2)
		time.AfterFunc(time.Hour, cancel)
		return ctx
	}
	tests := map[string]struct {
		takeOver bool
		ctx      func(context.Context) context.Context
		given    func(l *leases)
		want     locked
	}{
		"there is none":      {false, nil, func(*leases) {}, locked{}},
		"it was given back":  {false, nil, func(l *leases) { l.heldBy("") }, locked{}},
		"its holder is dead": {false, nil, func(l *leases) { l.heldBy("another") }, locked{After: 16 * time.Second, Waiting: []string{"another"}}},
		"its holder lives": {
			false, nil, func(l *leases) {
				l.heldBy("another")
				time.AfterFunc(4500*time.Millisecond, func() { l.renewedBy("another") })
			},
			locked{Err: works + at(19500*time.Millisecond) + remedy, After: 5 * time.Second, Waiting: []string{"another"}},
		},
		"its holder comes back at the last moment": {
			false, nil, func(l *leases) {
				l.heldBy("another")
				time.AfterFunc(15500*time.Millisecond, func() { l.renewedBy("another") })
			},
			locked{Err: works + at(30500*time.Millisecond) + remedy, After: 16 * time.Second, Waiting: []string{"another"}},
		},
		"its holder gives it back meanwhile": {
			false, nil, func(l *leases) {
				l.heldBy("another")
				time.AfterFunc(4500*time.Millisecond, func() { l.renewedBy("") })
			},
			locked{After: 5 * time.Second, Waiting: []string{"another"}},
		},
		"a third one takes it": {
			false, nil, func(l *leases) {
				l.heldBy("dead")
				time.AfterFunc(14500*time.Millisecond, func() { l.renewedBy("another") })
			},
			locked{Err: works + at(29500*time.Millisecond) + remedy, After: 15 * time.Second, Waiting: []string{"dead"}},
		},
		"a third one takes it, and its clock stands still": {
			false, nil, func(l *leases) {
				l.heldBy("dead")
				time.AfterFunc(4500*time.Millisecond, func() {
					l.change(wholeCluster, func(lease *coordinationv1.Lease) { lease.Spec.HolderIdentity = new("another") })
				})
			},
			locked{Err: works + at(15*time.Second) + remedy, After: 5 * time.Second, Waiting: []string{"dead"}},
		},
		"another makes it at the same time": {
			false, nil, func(l *leases) {
				l.answer(func(_ context.Context, verb string) error {
					if verb == "create" {
						l.heldBy("another")
					}
					return nil
				})
			}, locked{After: 17 * time.Second, Waiting: []string{"another"}},
		},
		"it is no lock of ours": {
			false, nil, func(l *leases) {
				l.heldBy("dead")
				time.AfterFunc(4500*time.Millisecond, func() {
					l.change(wholeCluster, func(lease *coordinationv1.Lease) {
						lease.Spec = coordinationv1.LeaseSpec{HolderIdentity: new("another")}
					})
				})
			},
			locked{Err: works + at(5*time.Second) + remedy, After: 5 * time.Second, Waiting: []string{"dead"}},
		},
		"its holder is to go": {true, nil, func(l *leases) { l.heldBy("another") }, locked{}},
		"others write it at the same time": {
			true, nil, func(l *leases) {
				l.heldBy("another")
				tries := 0
				l.answer(func(_ context.Context, verb string) error {
					if verb == "update" && tries < 2 {
						tries++
						l.change(wholeCluster, func(*coordinationv1.Lease) {})
					}
					return nil
				})
			}, locked{After: 2 * time.Second},
		},
		"it may not be written": {
			false, nil, func(l *leases) {
				l.answer(func(_ context.Context, verb string) error {
					if verb == "create" {
						return forbidden
					}
					return nil
				})
			},
			locked{Err: `locking cluster ns/c: leases "c-clusterctl-x" is forbidden: no; give the user of this kubeconfig the privileges of 'clusterctl-x generate rbac', or use another kubeconfig`},
		},
		"the command is stopped while it waits": {
			false, canceled, func(l *leases) { l.heldBy("another") },
			locked{Err: "interrupted; run the same command again to continue", After: 3500 * time.Millisecond, Waiting: []string{"another"}},
		},
		"the time of the command is over": {false, ending, func(l *leases) { l.heldBy("another") }, locked{Err: "timed out", After: 3500 * time.Millisecond, Waiting: []string{"another"}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var l leases
				test.given(&l)
				ctx := t.Context()
				if test.ctx != nil {
					ctx = test.ctx(ctx)
				}
				_, got := l.try(t, ctx, test.takeOver)
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("lock (-want +got):\n%s", diff)
				}
				if holders := l.holders(); (holders[wholeCluster] == "mine") != (got.Err == "") {
					t.Errorf("the holders are %v", holders)
				}
			})
		})
	}
}

func ownedByTheCluster() []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Cluster", Name: "c", UID: "uid"}}
}

// TestLockIsALease: what others see of it, and that it is given back.
func TestLockIsALease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l leases
		held, release, err := l.client().Lock(t.Context(), clusterKey(), Claim{})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		time.Sleep(12 * time.Second)
		synctest.Wait()
		who := l.holder()
		want := &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "ns", Name: "c-clusterctl-x", ResourceVersion: "3", Labels: map[string]string{v1alpha1.ClusterLabel: "c"},
				OwnerReferences: ownedByTheCluster(),
			},
			Spec: coordinationv1.LeaseSpec{HolderIdentity: &who, LeaseDurationSeconds: new(int32(15)), RenewTime: new(metav1.NewMicroTime(began.Add(10 * time.Second)))},
		}
		if diff := cmp.Diff(want, l.lease("c-clusterctl-x")); diff != "" || held.Err() != nil {
			t.Errorf("the context has %v; Lease (-want +got):\n%s", held.Err(), diff)
		}
		release()
		if l.holder() != "" || !errors.Is(held.Err(), context.Canceled) {
			t.Errorf("after it was given back %q holds it, and the context has %v", l.holder(), held.Err())
		}
	})
}

// TestLockOfTheDeadIsInheritedOnce: of two that wait for it one gets it.
func TestLockOfTheDeadIsInheritedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l leases
		l.heldBy("dead")
		results := make(chan locked, 2)
		for range 2 {
			go func() {
				_, got := l.try(t, t.Context(), false)
				got.Err, _, _ = strings.Cut(got.Err, " works on")
				results <- got
			}()
			time.Sleep(10 * time.Millisecond)
		}
		first, second := <-results, <-results
		who := l.holder()
		want := []locked{{After: 16 * time.Second, Waiting: []string{"dead"}}, {Err: who, After: 16 * time.Second, Waiting: []string{"dead"}}}
		if diff := cmp.Diff(want, []locked{first, second}); diff != "" {
			t.Errorf("locks (-want +got):\n%s", diff)
		}
	})
}

// TestLockIsLost: the run that held it is told, before it runs out; its context
// says why. It gives back no lock that is another's.
func TestLockIsLost(t *testing.T) {
	t.Parallel()
	after := func(d time.Duration, err error) func(*leases) {
		return func(l *leases) {
			began := time.Now()
			l.answer(func(context.Context, string) error {
				if time.Since(began) > d {
					return err
				}
				return nil
			})
		}
	}
	const gone = " works on cluster ns/c now, so this run wrote nothing more, and what it started continues"
	const nobody = "the lock of cluster ns/c was taken over, so this run wrote nothing more, and what it started continues"
	const notRenewed = "the lock of cluster ns/c could not be renewed, so this run stops writing; run the same command again to continue: "
	tests := map[string]struct {
		then func(l *leases)
		want locked
		// holder of the Lease at the end
		holder string
	}{
		"to another": {func(l *leases) { time.AfterFunc(7*time.Second, func() { l.renewedBy("another") }) }, locked{Err: "another" + gone, After: 10 * time.Second, Lost: true}, "another"},
		"to nobody": {func(l *leases) {
			time.AfterFunc(7*time.Second, l.lose)
		}, locked{Err: nobody, After: 10 * time.Second, Lost: true}, ""},
		"no API server": {
			after(6*time.Second, refusedConnection()),
			locked{Err: notRenewed + "the management cluster https://host cannot be reached: " + refusedConnection().Error() + "; check that it runs and that the kubeconfig is right", After: 17 * time.Second}, "mine",
		},
		"no answer": {
			func(l *leases) {
				began := time.Now()
				l.answer(func(ctx context.Context, _ string) error {
					if time.Since(began) > 6*time.Second {
						<-ctx.Done()
						return ctx.Err()
					}
					return nil
				})
			},
			locked{Err: notRenewed + "timed out: the management cluster https://host does not answer: context deadline exceeded", After: 17*time.Second + DefaultRetryPeriod}, "mine",
		},
		"to another, while no renewal arrives": {
			func(l *leases) {
				l.answer(func(_ context.Context, verb string) error {
					if verb == "update" {
						return refusedConnection()
					}
					return nil
				})
				time.AfterFunc(10*time.Second, func() { l.renewedBy("another") })
			},
			locked{Err: "another" + gone, After: 12 * time.Second, Lost: true}, "another",
		},
		"to nobody, given back by hand": {func(l *leases) { time.AfterFunc(7*time.Second, func() { l.renewedBy("") }) }, locked{Err: nobody, After: 10 * time.Second, Lost: true}, ""},
		"an answer that comes late": { // what was renewed at 5 s is known at 9 s
			func(l *leases) {
				slow := true
				l.answer(func(_ context.Context, verb string) error {
					if slow && verb == "update" {
						slow = false
						time.Sleep(4 * time.Second)
						return nil
					}
					return refusedConnection()
				})
			},
			locked{Err: notRenewed + "the management cluster https://host cannot be reached: " + refusedConnection().Error() + "; check that it runs and that the kubeconfig is right", After: 17 * time.Second}, "mine",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var l leases
				held, release, err := l.client().Lock(t.Context(), clusterKey(), Claim{})
				if err != nil {
					t.Fatal(err)
				}
				test.then(&l)
				if diff := cmp.Diff(test.want, lost(held)); diff != "" {
					t.Errorf("lost (-want +got):\n%s", diff)
				}
				release()
				if test.holder == "another" && l.holder() != "another" {
					t.Errorf("%q holds it after another's was given back", l.holder())
				}
			})
		})
	}
}

// TestLockSurvives: what is no loss. The API server may be away for a while, and
// somebody may write a label.
func TestLockSurvives(t *testing.T) {
	t.Parallel()
	away := func(outage time.Duration) func(*leases) {
		return func(l *leases) {
			began := time.Now()
			l.answer(func(context.Context, string) error {
				if time.Since(began) < outage {
					return refusedConnection()
				}
				return nil
			})
		}
	}
	tests := map[string]func(l *leases){
		"no API server for eleven seconds":       away(11 * time.Second),
		"the own API server away for 45 seconds": away(45 * time.Second),
		"a label": func(l *leases) {
			time.AfterFunc(7*time.Second, func() { l.change(wholeCluster, func(lease *coordinationv1.Lease) { lease.Labels["a"] = "b" }) })
		},
		"an answer that was not heard": func(l *leases) {
			heard := false
			l.answer(func(_ context.Context, verb string) error {
				if verb == "update" && !heard {
					heard = true
					who := l.holder()
					l.renewedBy(who)
					return syscall.ECONNRESET
				}
				return nil
			})
		},
	}
	for name, then := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := leases{managesItself: strings.HasPrefix(name, "the own")}
				held, _ := l.try(t, t.Context(), false)
				then(&l)
				time.Sleep(time.Minute)
				synctest.Wait()
				if age := time.Since(l.lease("c-clusterctl-x").Spec.RenewTime.Time); held.Err() != nil || age > DefaultRenewInterval {
					t.Errorf("%v; the lock was renewed %s ago", context.Cause(held), age)
				}
			})
		})
	}
}
