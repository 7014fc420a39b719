package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestTopologyReplacesOneGroupAfterTheOther: of the groups that the topology does not have
// as many get other machines as may move at the same time.
func TestTopologyReplacesOneGroupAfterTheOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t, enginetest.Versions("v1.33.1", "a", "v1.33.1", "b", "v1.33.1"))
	step := enginetest.Detached(enginetest.Concurrent(enginetest.Step(plan.Template, "v1.33.1", "v1.33.1", "a", "b")))
	p := enginetest.Plan(w.seen.Versions(), w.seen.Versions(), step)
	rendering := &enginetest.Rendering{Templates: map[string]string{"a": "-new", "b": "-new"}}
	r := w.runOf(Program{Plan: p, Topology: true, Concurrency: 1, Desired: []Objects{desiredAt(p.Versions(0), rendering), desiredAt(p.Versions(1), rendering)}})
	r.begin()
	looks := func(done bool, want ...string) {
		t.Helper()
		w.look()
		w.seen.Topology = &state.Topology{Settled: true}
		for i := range w.seen.WorkerNodeGroups {
			w.seen.WorkerNodeGroups[i].Detached = true
		}
		w.writes = nil
		got, err := r.advance()
		if err != nil || got != done {
			t.Errorf("done is %t: %v", got, err)
		}
		w.wrote("after a look", want)
	}
	replaced := func(group string) []string {
		return []string{
			"apply DevMachineTemplate/c-" + group + "-v1.33.1-new", "apply KubeadmConfigTemplate/c-" + group + "-v1.33.1-new",
			"apply MachineDeployment/c-" + group + " v1.33.1 of v1.33.1-new", "apply MachineHealthCheck/c-" + group,
		}
	}
	looks(false, replaced("a")...)
	looks(false)
	w.Roll("a")
	looks(false, replaced("b")...)
	w.Roll("b")
	looks(true)
	var queued [][]string
	for _, now := range r.shown {
		queued = append(queued, now.Queued)
	}
	if diff := cmp.Diff([][]string{{"b"}, {"b"}, {}, {}}, queued); diff != "" {
		t.Errorf("queued (-want +got):\n%s", diff)
	}
}
