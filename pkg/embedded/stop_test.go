package embedded

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
)

func stop(t *testing.T, i Instance) {
	t.Helper()
	if ran, err := i.Stop(t.Context()); !ran || err != nil {
		t.Errorf("stop: %v, %v; want true", ran, err)
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	i := newInstance(t, becomesReady)
	if ran, err := i.Stop(t.Context()); ran || err != nil {
		t.Errorf("stop of what was never started: %v, %v; want false", ran, err)
	}
	start(t, i)
	stop(t, i)
	assertStatus(t, i, stopped)
	if ran, err := i.Stop(t.Context()); ran || err != nil {
		t.Errorf("stop of what is stopped: %v, %v; want false", ran, err)
	}
	start(t, i)
	assertStatus(t, i, running)
	if diff := cmp.Diff([]string{"ready", "ready"}, notes(t, i)); diff != "" {
		t.Errorf("what the supervisors noted (-want +got):\n%s", diff)
	}
}

func TestStopAtOnce(t *testing.T) {
	t.Parallel()
	i := newInstance(t, becomesReady)
	start(t, i)
	var stops errgroup.Group
	for range 4 {
		stops.Go(func() error {
			_, err := i.Stop(t.Context())
			return err
		})
	}
	if err := stops.Wait(); err != nil {
		t.Error(err)
	}
	assertStatus(t, i, stopped)
}

// TestStopOfTheDeaf kills what does not end when asked to.
func TestStopOfTheDeaf(t *testing.T) {
	t.Parallel()
	i := newInstance(t, deaf)
	start(t, i)
	i.StopGrace = time.Millisecond
	stop(t, i)
	assertStatus(t, i, stopped)
}

// TestStopInterrupted ends the context while the processes have time left.
func TestStopInterrupted(t *testing.T) {
	t.Parallel()
	i := newInstance(t, deaf)
	start(t, i)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	ran, err := i.Stop(ctx)
	if want := `waiting for embedded management cluster "deaf" to end: enough`; !ran || text(err) != want || !errors.Is(err, enough) {
		t.Errorf("stop: %v, %v; want true, %s", ran, err, want)
	}
	assertStatus(t, i, running)
}

// TestStopAfterKill ends the child that a killed supervisor left behind, and
// does not wait for an orderly end that cannot come.
func TestStopAfterKill(t *testing.T) {
	t.Parallel()
	i := newInstance(t, deaf)
	killed(t, i)
	i.StopGrace = 2 * standInLife
	stop(t, i)
	assertStatus(t, i, stopped)
}
