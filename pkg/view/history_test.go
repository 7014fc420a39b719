package view_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// TestHistory: all runs with their results, then the Events.
func TestHistory(t *testing.T) {
	t.Parallel()
	at := func(minute int) time.Time {
		return time.Date(2026, 11, 23, 1, minute, 0, 0, time.FixedZone("elsewhere", 3600))
	}
	whole := state.History{
		Namespace: "ns", Name: "c",
		Runs: []state.Run{
			{Command: "create cluster", User: "jane", Client: "process 1 on laptop", Began: at(1), Ended: at(2), To: enginetest.Versions("v1.34.1", "md-0", "v1.34.1", "md-1", "v1.33.1"), Result: state.RunDone},
			{Command: "upgrade cluster", User: "ci", Client: "process 7 on runner", Began: at(3), Ended: at(4).Add(600 * time.Millisecond), From: enginetest.Versions("v1.34.1", "md-0", "v1.34.1"), To: enginetest.Versions("v1.35.1", "md-0", "v1.35.1"), Steps: 2, Result: state.RunFailed, Reason: "no room"},
			{Command: "rollout restart", Client: "process 2 on laptop", Began: at(5), Parts: []string{"md-0", "md-1"}, Result: state.RunUnderWay},
			{Command: "upgrade cluster", User: "ci", Client: "process 8 on runner", Began: at(6), Parts: []string{"md-1"}, Steps: 1, Result: state.RunLost},
		},
		Events: []state.Event{{Time: at(4), Reason: "UpgradeStepDone", Message: "step 1 of 2: the control plane"}},
	}
	runs := state.History{Namespace: "ns", Name: "c", Runs: whole.Runs[:1]}
	for _, test := range []struct {
		history state.History
		columns view.Columns
		want    string
	}{
		{state.History{Namespace: "ns", Name: "c"}, view.FewColumns, "nothing is recorded of cluster ns/c\n"},
		{whole, view.FewColumns, `BEGAN                  TOOK   COMMAND           USER   PARTS       FROM      TO                      STEPS   RESULT
2026-11-23T00:01:00Z   1m0s   create cluster    jane   all         -         v1.34.1, md-1 v1.33.1   -       Done
2026-11-23T00:03:00Z   1m1s   upgrade cluster   ci     all         v1.34.1   v1.35.1                 2       Failed: no room
2026-11-23T00:05:00Z   -      rollout restart   -      md-0,md-1   -         -                       -       Running
2026-11-23T00:06:00Z   -      upgrade cluster   ci     md-1        -         -                       1       Lost

EVENT AT               REASON            MESSAGE
2026-11-23T00:04:00Z   UpgradeStepDone   step 1 of 2: the control plane
`},
		{runs, view.AllColumns, `BEGAN                  TOOK   COMMAND          USER   CLIENT                PARTS   FROM   TO                      STEPS   RESULT
2026-11-23T00:01:00Z   1m0s   create cluster   jane   process 1 on laptop   all     -      v1.34.1, md-1 v1.33.1   -       Done
`},
	} {
		var out strings.Builder
		if err := view.History(&out, test.history, test.columns); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, out.String()); diff != "" {
			t.Errorf("history (-want +got):\n%s", diff)
		}
	}
}
