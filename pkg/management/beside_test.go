package management

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestFollowReplacesOneGroupAfterTheOther: of the groups that the topology does not have
// as many get other machines as may move at the same time.
func TestFollowReplacesOneGroupAfterTheOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t, versionsOf("v1.33.1", "a", "v1.33.1", "b", "v1.33.1"))
	step := beside(stepOf(plan.Template, "v1.33.1", "v1.33.1", "a", "b"))
	step.Detached = true
	p := aPlan(w.seen.Versions(), w.seen.Versions(), step)
	rendering := &rendering{templates: map[string]string{"a": "-new", "b": "-new"}}
	var queued [][]string
	f := newFollower(w.client(), clusterKey(), Upgrade{
		Plan: p, Managed: true, Concurrency: 1, Warn: func(text string) { t.Error(text) },
		Show:   func(now rollout.Status) { queued = append(queued, now.Queued) },
		Stages: []rollout.Objects{stageOf(p.Versions(0), rendering), stageOf(p.Versions(1), rendering)},
	})
	looks := func(done bool, want ...string) {
		t.Helper()
		w.look()
		w.seen.Topology = &state.Topology{Settled: true}
		for i := range w.seen.WorkerNodeGroups {
			w.seen.WorkerNodeGroups[i].Detached = true
		}
		w.writes = nil
		got, err := f.advance(t.Context(), w.seen)
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
	w.roll("a")
	looks(false, replaced("b")...)
	w.roll("b")
	looks(true)
	if diff := cmp.Diff([][]string{{"b"}, {"b"}, {}, {}}, queued); diff != "" {
		t.Errorf("queued (-want +got):\n%s", diff)
	}
}
