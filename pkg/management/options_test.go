package management

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
)

// shortDurations are options with short durations.
func shortDurations() Options {
	return Options{LeaseDuration: 3 * time.Second, RenewInterval: time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 500 * time.Millisecond, RetryTimeout: time.Second}
}

// writtenBy has somebody take the lock of the cluster now, with the options of the cluster.
func (l *leases) writtenBy(t *testing.T, who string) {
	t.Helper()
	if err := newLock(l.client(), clusterKey(), Claim{}, who).write(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestConnectRefusesOptions with which two runs could write at the same time.
func TestConnectRefusesOptions(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		options Options
		want    string
	}{
		"part of a second":              {Options{LeaseDuration: 14500 * time.Millisecond}, "LeaseDuration is 14.5s; a Lease has whole seconds"},
		"lease shorter than a second":   {Options{LeaseDuration: -time.Second}, "LeaseDuration is -1s; a Lease has whole seconds"},
		"lease runs out first":          {Options{LeaseDuration: 12 * time.Second}, "RenewDeadline is 12s; it must be shorter than LeaseDuration, 12s"},
		"renewed too late":              {Options{RenewInterval: 12 * time.Second}, "RenewInterval is 12s; it must be shorter than RenewDeadline, 12s"},
		"asked for longer than it runs": {Options{RetryTimeout: 12 * time.Second}, "RetryTimeout is 12s; it must be shorter than RenewDeadline, 12s"},
		"no pause":                      {Options{RetryPeriod: -1}, "RenewInterval is 5s, RetryPeriod -1ns and RetryTimeout 10s; they must be longer than 0"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Connect(t.Context(), &rest.Config{Host: "https://host"}, test.options)
			if want := "options of the management cluster https://host: " + test.want; err == nil || err.Error() != want {
				t.Errorf("error is %v, want %s", err, want)
			}
		})
	}
	for name, options := range map[string]Options{"the defaults": {}, "short ones": shortDurations()} {
		if err := options.withDefaults().check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLockDurationsAreOptions: how long a lock lasts says its Lease, and how often it is
// looked at says who wants it.
func TestLockDurationsAreOptions(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		dead, mine Options
		after      time.Duration
		seconds    int32
	}{
		"of the dead":       {shortDurations(), Options{}, 4 * time.Second, 15},
		"of the one who is": {Options{}, shortDurations(), 15*time.Second + 500*time.Millisecond, 3},
		"of both":           {shortDurations(), shortDurations(), 3*time.Second + 500*time.Millisecond, 3},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := leases{options: test.dead}
				l.writtenBy(t, "dead")
				l.options = test.mine
				held, got := l.try(t, t.Context(), false)
				if diff := cmp.Diff(locked{After: test.after, Waiting: []string{"dead"}}, got); diff != "" {
					t.Errorf("lock (-want +got):\n%s", diff)
				}
				time.Sleep(time.Minute)
				lease, interval := l.lease("c-clusterctl-x"), test.mine.withDefaults().RenewInterval
				if age := time.Since(lease.Spec.RenewTime.Time); held.Err() != nil || age > interval || *lease.Spec.LeaseDurationSeconds != test.seconds {
					t.Errorf("it lasts %d s and was renewed %s ago; the run has %v", *lease.Spec.LeaseDurationSeconds, age, held.Err())
				}
			})
		})
	}
}

// TestRetriesAreOptions: for how long, and with which pauses.
func TestRetriesAreOptions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := (&leases{options: Options{RetryTimeout: time.Second, RetryBackoff: wait.Backoff{Duration: 300 * time.Millisecond}}}).client()
		began, asked := time.Now(), []time.Duration(nil)
		err := c.retrying(t.Context(), func() error {
			asked = append(asked, time.Since(began))
			return refusedConnection()
		})
		want := []time.Duration{0, 300 * time.Millisecond, 600 * time.Millisecond, 900 * time.Millisecond}
		if diff := cmp.Diff(want, asked); diff != "" || !isUnreachable(err) {
			t.Errorf("error %v, asked at (-want +got):\n%s", err, diff)
		}
	})
}

// TestClockIsAnOption: the time of a management cluster is that of the clock.
func TestClockIsAnOption(t *testing.T) {
	t.Parallel()
	then := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	clock := clocktesting.NewFakeClock(then)
	l := leases{options: Options{Clock: clock}}
	l.writtenBy(t, "another")
	var got [][]HeldLock
	for range 2 {
		held, err := l.client().HeldLocks(t.Context(), clusterKey())
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, held)
		clock.Step(16 * time.Second)
	}
	want := [][]HeldLock{{{Holder: "another", Cluster: "ns/c", Until: then.Add(15 * time.Second)}}, nil}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("who works on the cluster, then and after its Lease ran out (-want +got):\n%s", diff)
	}
}
