package plan_test

import (
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestReached: a step is reached once its parts are done at its versions or beyond, whoever
// takes it.
func TestReached(t *testing.T) {
	t.Parallel()
	v := v1alpha1.MustParseVersion
	part := func(name, version string, generation int64, done bool) state.Part {
		p := state.Part{Name: name, Object: "MachineDeployment/c-" + name, Version: v(version), Generation: generation, Settled: true}
		if !done {
			p.Replicas = 1
		}
		return p
	}
	cluster := func(controlPlane string, groups ...state.Part) state.Cluster {
		return state.Cluster{ControlPlane: part(v1alpha1.ControlPlaneName, controlPlane, 2, true), WorkerNodeGroups: groups}
	}
	p := plan.Plan{
		Metadata: plan.Metadata{Name: "c", Generations: map[string]int64{"MachineDeployment/c-b": 1}},
		From:     v1alpha1.ClusterVersions{ControlPlane: v("v1.33.1"), WorkerNodeGroups: map[string]v1alpha1.Version{"a": v("v1.33.1"), "b": v("v1.33.1"), "old": v("v1.33.1")}},
		To:       v1alpha1.ClusterVersions{ControlPlane: v("v1.34.1"), WorkerNodeGroups: map[string]v1alpha1.Version{"a": v("v1.34.1"), "b": v("v1.33.1")}},
		Steps: []plan.Step{
			{Kind: plan.ControlPlane, From: v("v1.33.1"), To: v("v1.34.1")},
			{Kind: plan.Workers, WorkerNodeGroups: []plan.Group{{Name: "a", From: v("v1.33.1"), To: v("v1.34.1")}}},
			{Kind: plan.Template, WorkerNodeGroups: []plan.Group{{Name: "b", From: v("v1.33.1"), To: v("v1.33.1")}}},
			{Kind: plan.RemoveWorkers, WorkerNodeGroups: []plan.Group{{Name: "old", From: v("v1.33.1")}}},
		},
	}
	a, b, old := part("a", "v1.33.1", 1, true), part("b", "v1.33.1", 1, true), part("old", "v1.33.1", 1, true)
	moved := part("a", "v1.34.1", 2, true)
	for name, c := range map[string]struct {
		cluster state.Cluster
		want    int // steps that are reached
	}{
		"nothing":                      {cluster("v1.33.1", a, b, old), 0},
		"the control plane":            {cluster("v1.34.1", a, b, old), 1},
		"a group is on its way":        {cluster("v1.34.1", part("a", "v1.34.1", 2, false), b, old), 1},
		"a group":                      {cluster("v1.34.1", moved, b, old), 2},
		"machines are replaced":        {cluster("v1.34.1", moved, part("b", "v1.33.1", 2, true), old), 3},
		"a group is removed":           {cluster("v1.34.1", moved, part("b", "v1.33.1", 2, true)), 4},
		"beyond the plan":              {cluster("v1.35.1", moved, part("b", "v1.33.1", 2, true)), 4},
		"a group that is to be is not": {cluster("v1.34.1", b, old), 0},
	} {
		got := 0
		for got < len(p.Steps) && p.HasReached(got+1, c.cluster) {
			got++
		}
		if got != c.want {
			t.Errorf("%s: %d steps are reached, want %d", name, got, c.want)
		}
	}
	for step, want := range map[int]string{0: "the plan has no step 0: it has 4", 1: "", 4: "", 5: "the plan has no step 5: it has 4"} {
		got := ""
		if err := p.CheckStep(step); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("step %d: %q, want %q", step, got, want)
		}
	}
}
