package management

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
)

// TestLocksExclude: a run locks what it may write. Runs on other groups go on side by
// side; the whole cluster excludes every group, and each group the whole cluster.
func TestLocksExclude(t *testing.T) {
	t.Parallel()
	type result struct {
		Locked  locked
		Holders map[string]string
	}
	until := time.Date(2000, 1, 1, 0, 0, 19, 0, time.UTC).Local().Format(time.TimeOnly) // it is renewed after 4.5 s
	works := func(on string) string {
		return "another works on " + on + ", at least until " + until + "; wait until it is done, or take over its lock with --take-over"
	}
	const cluster, md0, md1 = "cluster ns/c", "worker node group md-0 of cluster ns/c", "worker node group md-1 of cluster ns/c"
	another := []string{"another"}
	tests := map[string]struct {
		held  []string // by another run that is alive
		claim Claim
		want  result
	}{
		"another group": {[]string{"md-0"}, Claim{Groups: []string{"md-1"}}, result{Holders: map[string]string{"md-0": "another", "md-1": "mine"}}},
		"other groups": {
			[]string{"md-0", "md-1"}, Claim{Groups: []string{"md-3", "md-2", "md-3"}},
			result{Holders: map[string]string{"md-0": "another", "md-1": "another", "md-2": "mine", "md-3": "mine"}},
		},
		"the same group": {
			[]string{"md-0"}, Claim{Groups: []string{"md-0"}},
			result{locked{Err: works(md0), After: 5 * time.Second, Waiting: another}, map[string]string{"md-0": "another"}},
		},
		"one of two groups": {
			[]string{"md-1"}, Claim{Groups: []string{"md-0", "md-1"}},
			result{locked{Err: works(md1), After: 5 * time.Second, Waiting: another}, map[string]string{"md-1": "another"}},
		},
		"a group of a cluster that is held": {
			[]string{wholeCluster}, Claim{Groups: []string{"md-0"}},
			result{locked{Err: works(cluster), After: 5 * time.Second, Waiting: another}, map[string]string{wholeCluster: "another"}},
		},
		"a cluster of which a group is held": {
			[]string{"md-1"}, Claim{},
			result{locked{Err: works(md1), After: 5 * time.Second, Waiting: another}, map[string]string{"md-1": "another"}},
		},
		"take over the same group":   {[]string{"md-0"}, Claim{Groups: []string{"md-0"}, TakeOver: true}, result{Holders: map[string]string{"md-0": "mine"}}},
		"take over from the cluster": {[]string{wholeCluster}, Claim{Groups: []string{"md-0"}, TakeOver: true}, result{Holders: map[string]string{wholeCluster: "", "md-0": "mine"}}},
		"take over from groups": {
			[]string{"md-0", "md-1"}, Claim{TakeOver: true},
			result{Holders: map[string]string{wholeCluster: "mine", "md-0": "", "md-1": ""}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var l leases
				for _, group := range test.held {
					l.groupHeldBy(group, "another")
				}
				time.AfterFunc(4500*time.Millisecond, func() {
					for _, group := range test.held {
						if l.holders()[group] == "another" {
							l.groupRenewedBy(group, "another")
						}
					}
				})
				_, got := l.claim(t, t.Context(), test.claim)
				if diff := cmp.Diff(test.want, result{got, l.holders()}); diff != "" {
					t.Errorf("lock (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestLocksOfTheDead: what a run that was killed holds is taken away from it after it
// was not renewed for 15 s, and it writes nothing more should it wake up.
func TestLocksOfTheDead(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		dead, mine Claim
		want       map[string]string
		lost       string
	}{
		"of a group, for the cluster": {Claim{Groups: []string{"md-0"}}, Claim{}, map[string]string{wholeCluster: "mine", "md-0": ""}, "cluster ns/c"},
		"of the cluster, for a group": {Claim{}, Claim{Groups: []string{"md-0"}}, map[string]string{wholeCluster: "", "md-0": "mine"}, "worker node group md-0 of cluster ns/c"},
		"of a group, for the group":   {Claim{Groups: []string{"md-0"}}, Claim{Groups: []string{"md-0"}}, map[string]string{"md-0": "mine"}, "worker node group md-0 of cluster ns/c"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var l leases
				asleep := newLock(l.client(), clusterKey(), test.dead, "dead")
				if err := asleep.write(t.Context()); err != nil {
					t.Fatal(err)
				}
				_, got := l.claim(t, t.Context(), test.mine)
				if diff := cmp.Diff(locked{After: 16 * time.Second, Waiting: []string{"dead"}}, got); diff != "" {
					t.Errorf("lock (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(test.want, l.holders()); diff != "" {
					t.Errorf("holders (-want +got):\n%s", diff)
				}
				mine := l.lease(leaseName("c", test.mine.lockedGroups()[0]))
				err := stillHeld(context.WithValue(t.Context(), lockKey{}, asleep))
				if want := holder(mine.Spec) + " works on " + test.lost + " now, so this run wrote nothing more, and what it started continues"; err == nil || err.Error() != want {
					t.Errorf("the dead one that wakes up: %v, want %s", err, want)
				}
			})
		})
	}
}

// TestLocksAtTheSameTime: of two runs that exclude each other and begin in the same
// moment one goes on, whatever the order of their requests.
func TestLocksAtTheSameTime(t *testing.T) {
	t.Parallel()
	type outcome struct {
		Whole, Part bool // it has its lock
		Holders     map[string]string
	}
	whole := outcome{Whole: true, Holders: map[string]string{wholeCluster: "mine", "md-0": ""}}
	part := outcome{Part: true, Holders: map[string]string{wholeCluster: "", "md-0": "mine"}}
	tests := map[string]struct {
		first Claim
		both  bool // have written when one of them reads again
		want  outcome
	}{
		"the group is through when the cluster is written": {Claim{}, false, part},
		"the cluster is through when the group is written": {Claim{Groups: []string{"md-0"}}, false, whole},
		"both are written, the cluster last":               {Claim{}, true, whole},
		"both are written, the group last":                 {Claim{Groups: []string{"md-0"}}, true, whole},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var l leases
				var creates atomic.Int32
				l.answer(func(_ context.Context, verb string) error {
					switch {
					case verb == "create":
						if creates.Add(1) == 1 { // the second run has seen nothing of it
							time.Sleep(DefaultRetryPeriod / 2)
						}
					case creates.Load() == 2 && test.both:
						time.Sleep(DefaultRetryPeriod / 2)
					}
					return nil
				})
				second := Claim{Groups: []string{"md-0"}}
				if len(test.first.Groups) > 0 {
					second = Claim{}
				}
				got := outcome{}
				var runs sync.WaitGroup
				for _, claim := range []Claim{test.first, second} {
					runs.Go(func() {
						_, locked := l.claim(t, t.Context(), claim)
						if len(claim.Groups) > 0 {
							got.Part = locked.Err == ""
						} else {
							got.Whole = locked.Err == ""
						}
					})
					time.Sleep(DefaultRetryPeriod / 4) // runs have other names then
				}
				runs.Wait()
				got.Holders = l.holders()
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("locks (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestLockWithoutACluster: create and delete have no Cluster that could own their
// Lease all the time. Afterwards it belongs to the Cluster, or goes with it.
func TestLockWithoutACluster(t *testing.T) {
	t.Parallel()
	for name, gone := range map[string]bool{"a Cluster that was made": false, "no Cluster was made": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := leases{gone: true}
				held, release, err := l.client().Lock(t.Context(), clusterKey(), Claim{Unowned: true})
				if err != nil {
					t.Fatal(err)
				}
				if owners := l.lease("c-clusterctl-x").OwnerReferences; owners != nil {
					t.Errorf("the Lease is owned by %v while it is held", owners)
				}
				time.Sleep(2 * DefaultLeaseDuration)
				l.setGone(gone)
				release()
				var want map[string]*coordinationv1.Lease
				if !gone {
					want = map[string]*coordinationv1.Lease{"c-clusterctl-x": l.lease("c-clusterctl-x")}
					want["c-clusterctl-x"].OwnerReferences = ownedByTheCluster()
				}
				if diff := cmp.Diff(len(want), len(l.holders())); diff != "" || context.Cause(held) != context.Canceled { //nolint:errorlint // and no error that wraps it
					t.Errorf("the context has %v; number of Leases (-want +got):\n%s", context.Cause(held), diff)
				}
				for name, lease := range want {
					if diff := cmp.Diff(lease, l.lease(name)); diff != "" {
						t.Errorf("Lease %s (-want +got):\n%s", name, diff)
					}
				}
			})
		})
	}
}
