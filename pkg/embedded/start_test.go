package embedded

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sync/errgroup"
)

// running is the status of a stand-in that is ready, without its process ID.
var running = Status{ //nolint:gochecknoglobals // a constant
	Created: true, Running: true, Ports: portBlock(firstBlock),
	Progress: Progress{Ready: true, StartedAt: someTime, ReadyAt: someTime.Add(time.Second)},
}

// stopped is the status of one that has ended.
var stopped = Status{Created: true, Ports: portBlock(firstBlock)} //nolint:gochecknoglobals // a constant

// assertStatus returns the supervisor's process ID, which it leaves to the caller.
func assertStatus(t *testing.T, i Instance, want Status) int {
	t.Helper()
	got, err := i.Status()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Progress{}, "SupervisorPID")); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	return got.SupervisorPID
}

func start(t *testing.T, i Instance) {
	t.Helper()
	if err := i.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestStart(t *testing.T) {
	t.Parallel()
	i := newInstance(t, becomesReady)
	assertStatus(t, i, Status{})
	start(t, i)
	first := assertStatus(t, i, running)
	start(t, i) // finds it
	assertLog(t, i, "began\n")
	if second := assertStatus(t, i, running); first == 0 || second != first {
		t.Errorf("supervisors %d and %d", first, second)
	}
	if diff := cmp.Diff([]string{"ready"}, notes(t, i)); diff != "" {
		t.Errorf("what the supervisors noted (-want +got):\n%s", diff)
	}
}

// TestStartAtOnce has several commands start the same instance for the first time.
func TestStartAtOnce(t *testing.T) {
	t.Parallel()
	i := newInstance(t, becomesReady)
	var starts errgroup.Group
	for range 4 {
		starts.Go(func() error { return i.Start(t.Context()) })
	}
	if err := starts.Wait(); err != nil {
		t.Error(err)
	}
	assertStatus(t, i, running)
	if diff := cmp.Diff([]string{"ready"}, notes(t, i)); diff != "" {
		t.Errorf("what the supervisors noted (-want +got):\n%s", diff)
	}
}

// TestSlowerStart loses the race for the lock: the instance is ready, and the
// log of the one that won goes on.
func TestSlowerStart(t *testing.T) {
	t.Parallel()
	i := newInstance(t, becomesReady)
	start(t, i)
	if err := i.spawn(t.Context()); err != nil {
		t.Error(err)
	}
	assertStatus(t, i, running)
	stop(t, i)
	assertLog(t, i, "ended\n")
}

func assertLog(t *testing.T, i Instance, want string) {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(i.LogsDir(), "supervisor.log"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(log)); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

// TestStartWaits finds a supervisor that has the lock and no ports yet. It is
// not parallel, see lock_test.go.
func TestStartWaits(t *testing.T) {
	i := Instance{Name: "a", Dir: t.TempDir()}
	held := lock(t, i)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := i.Start(ctx)
	want := `waiting for embedded management cluster "a" to become ready: context canceled; its logs are in ` + i.LogsDir()
	if text(err) != want || !errors.Is(err, context.Canceled) {
		t.Errorf("while it goes on: error %v, want %s", err, want)
	}
	closeFile(t, held)
	err = i.waitReady(t.Context())
	if want := `embedded management cluster "a" ended before it was ready; its logs are in ` + i.LogsDir(); text(err) != want {
		t.Errorf("after its end: error %v, want %s", err, want)
	}
}

func TestStartFails(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		why  string
		want Status
	}{
		reports:      {why: "port 20000 is taken", want: stopped},
		endsSilently: {why: "it ended before it was ready (exit status 7)"},
		orphans:      {why: "it ended before it was ready (exit status 7)", want: stopped},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newInstance(t, name)
			err := i.Start(t.Context())
			want := `starting embedded management cluster "` + name + `": ` + test.why + "; its logs are in " + i.LogsDir()
			if diff := cmp.Diff(want, text(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			assertStatus(t, i, test.want)
		})
	}
}

// TestStartInterrupted ends the context while the supervisor, or its child, is
// there and not ready.
func TestStartInterrupted(t *testing.T) {
	t.Parallel()
	for _, name := range []string{hangs, closesEarly} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newInstance(t, name)
			met := meeting(t, i)
			ctx, cancel := context.WithCancelCause(t.Context())
			done := make(chan error, 1)
			go func() { done <- i.Start(ctx) }()
			if err := met(); err != nil {
				t.Error(err)
			}
			assertStatus(t, i, Status{Created: true, Running: true, Ports: portBlock(firstBlock), Progress: Progress{StartedAt: someTime}})
			enough := errors.New("enough")
			cancel(enough)
			err := <-done
			assertStatus(t, i, stopped)
			want := `waiting for embedded management cluster "` + name + `" to become ready: enough; its logs are in ` + i.LogsDir()
			if diff := cmp.Diff(want, text(err)); diff != "" || !errors.Is(err, enough) {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStartAfterKill starts an instance whose supervisor was killed while its
// child lives on.
func TestStartAfterKill(t *testing.T) {
	t.Parallel()
	i := newInstance(t, deaf)
	before := killed(t, i)
	left := running
	left.Ready, left.ReadyAt = false, time.Time{}
	if got := assertStatus(t, i, left); got != before {
		t.Errorf("supervisor %d, want %d", got, before)
	}
	start(t, i)
	if after := assertStatus(t, i, running); after == before {
		t.Errorf("supervisor %d was killed", after)
	}
	if diff := cmp.Diff([]string{"ready", "ready"}, notes(t, i)); diff != "" {
		t.Errorf("what the supervisors noted (-want +got):\n%s", diff)
	}
}
