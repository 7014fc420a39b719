package state_test

import (
	"testing"
	"time"

	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestPauseSaysWhatCompletesIt names the command of each use case.
func TestPauseSaysWhatCompletesIt(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for use, command := range map[state.PauseFor]string{"": "clusterctl-x upgrade cluster", state.PauseForBackup: "clusterctl-x backup management", state.PauseForRestore: "clusterctl-x restore management"} {
		more := "to do it (me, since 2026-01-02T03:04:05Z); if that was interrupted, '" + command + "' completes it and lifts the pause"
		p := state.Pause{Why: "do it", By: "me", Since: since, For: use}
		if got, want := p.String(), "clusterctl-x paused the cluster "+more; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got, want := p.Waiting(), "the end of the pause that clusterctl-x set "+more; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
