package lifecycle

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestResultsOfRuns: a run whose end was not written is running where it holds a lock.
func TestResultsOfRuns(t *testing.T) {
	t.Parallel()
	recorded := []state.Run{{Client: "a", Result: state.RunDone}, {Client: "b"}, {Client: "c"}, {Client: "d", Result: state.RunFailed}}
	held := []management.HeldLock{{Holder: "a"}, {Holder: "c"}, {Holder: "e"}}
	want := []state.Run{
		{Client: "a", Result: state.RunDone}, {Client: "b", Result: state.RunLost},
		{Client: "c", Result: state.RunUnderWay}, {Client: "d", Result: state.RunFailed},
	}
	if diff := cmp.Diff(want, withResults(recorded, held), cmpopts.EquateComparable(v1alpha1.Version{})); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]state.Run{}, withResults(nil, held)); diff != "" {
		t.Errorf("no runs (-want +got):\n%s", diff)
	}
}
