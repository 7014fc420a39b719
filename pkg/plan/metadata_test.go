package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestMetadata: a plan is made for the generations of all objects that it is
// about; of a cluster from a ClusterClass these are the Cluster and what somebody
// else made.
func TestMetadata(t *testing.T) {
	t.Parallel()
	cluster := state.Cluster{
		Name: "c", Namespace: "ns", UID: "uid", Generation: 3, ControlPlane: state.Part{Object: "KubeadmControlPlane/c", Generation: 4},
		WorkerNodeGroups: []state.Part{{Object: "MachineDeployment/a", Generation: 5}, {Object: "MachineDeployment/b", Generation: 6, Unmanaged: true}},
	}
	managed := cluster
	managed.Topology = &state.Topology{}
	for name, test := range map[string]struct {
		cluster state.Cluster
		want    map[string]int64
	}{
		"without a class": {cluster, map[string]int64{"Cluster/c": 3, "KubeadmControlPlane/c": 4, "MachineDeployment/a": 5, "MachineDeployment/b": 6}},
		"from a class":    {managed, map[string]int64{"Cluster/c": 3, "MachineDeployment/b": 6}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := plan.Metadata{Name: "c", Namespace: "ns", UID: "uid", Spec: "hash", Generations: test.want}
			if diff := cmp.Diff(want, plan.MetadataOf(test.cluster, "hash")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestMoved: an object has moved if its generation is another one, the first one included.
func TestMoved(t *testing.T) {
	t.Parallel()
	of := func(generation int64) plan.Metadata {
		return plan.Metadata{Generations: map[string]int64{"Cluster/c": generation}}
	}
	for name, test := range map[string]struct {
		made, now plan.Metadata
		want      []string
	}{
		"the same":             {of(1), of(1), nil},
		"after the first":      {of(1), of(2), []string{"Cluster/c has changed: its generation is 2, and was 1"}},
		"any, when it is made": {of(plan.AnyGeneration), of(2), nil},
		"any, now":             {of(1), of(plan.AnyGeneration), nil},
		"gone":                 {of(1), plan.Metadata{}, []string{"Cluster/c is gone"}},
		"new":                  {plan.Metadata{}, of(1), []string{"Cluster/c is new"}},
	} {
		if diff := cmp.Diff(test.want, test.made.Moved(test.now)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestSplit: a part moves if a run before this one began it, or this one did.
func TestSplit(t *testing.T) {
	t.Parallel()
	group := func(name string, underWay bool) plan.Group {
		return plan.Group{Name: name, From: version("1.31"), To: version("1.32"), UnderWay: underWay}
	}
	const a, b = "a from v1.31.0 to v1.32.0", "b from v1.31.0 to v1.32.0"
	controlPlane := plan.Step{Kind: plan.ControlPlane, From: version("1.31"), To: version("1.32")}
	for name, test := range map[string]struct {
		step            plan.Step
		begun           []string
		moving, waiting []string
	}{
		"none":                        {plan.Step{Kind: plan.Workers, WorkerNodeGroups: []plan.Group{group("a", false), group("b", false)}}, nil, nil, []string{a, b}},
		"one was begun":               {plan.Step{Kind: plan.Workers, WorkerNodeGroups: []plan.Group{group("a", false), group("b", false)}}, []string{"b"}, []string{b}, []string{a}},
		"one is under way":            {plan.Step{Kind: plan.Workers, WorkerNodeGroups: []plan.Group{group("a", true), group("b", false)}}, nil, []string{a}, []string{b}},
		"the step is under way":       {plan.Step{Kind: plan.Workers, UnderWay: true, WorkerNodeGroups: []plan.Group{group("a", false)}}, nil, []string{a}, nil},
		"the control plane waits":     {controlPlane, []string{"a"}, nil, []string{controlPlane.String()}},
		"the control plane was begun": {controlPlane, []string{v1alpha1.ControlPlaneName}, []string{controlPlane.String()}, nil},
	} {
		moving, waiting := test.step.Split(test.begun)
		if diff := cmp.Diff([][]string{test.moving, test.waiting}, [][]string{moving, waiting}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
