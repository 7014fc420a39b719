package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestTransferDone: a group is out of the topology, or in it again, once it is so by its
// entry and by its owner, and Cluster API reconciles the cluster.
func TestTransferDone(t *testing.T) {
	t.Parallel()
	cluster := func(inTopology, detached bool, pause *state.Pause) state.Cluster {
		c := state.Cluster{Topology: &state.Topology{}, Pause: pause, WorkerNodeGroups: []state.Part{{Name: "a", Detached: detached}}}
		if inTopology {
			c.Topology.Groups = []state.TopologyGroup{{Name: "a"}}
		}
		return c
	}
	gone := cluster(false, true, nil)
	gone.WorkerNodeGroups = nil
	returned := cluster(true, false, nil)
	returned.WorkerNodeGroups = nil
	for name, test := range map[string]struct {
		seen             state.Cluster
		detach, returned bool
	}{
		"in the topology":                      {cluster(true, false, nil), false, true},
		"out of it":                            {cluster(false, true, nil), true, false},
		"its entry is gone, and not its owner": {cluster(false, false, nil), false, false},
		"its owner is gone, and not its entry": {cluster(true, true, nil), false, false},
		"in it, and paused":                    {cluster(true, false, &state.Pause{}), false, false},
		"out of it, and paused":                {cluster(false, true, &state.Pause{}), false, false},
		"deleted, without an entry":            {gone, false, false},
		"deleted, with an entry":               {returned, false, false},
	} {
		for kind, want := range map[plan.Kind]bool{plan.Detach: test.detach, plan.Return: test.returned} {
			step := plan.Step{Kind: kind, WorkerNodeGroups: []plan.Group{{Name: "a"}}}
			if got := step.Done(test.seen); got != want {
				t.Errorf("%s: %s is done: %t, want %t", name, kind, got, want)
			}
		}
	}
}

// TestMetadataOfGroups: a plan about some groups is made for these and the control plane.
func TestMetadataOfGroups(t *testing.T) {
	t.Parallel()
	cluster := state.Cluster{
		Name: "c", Namespace: "ns", UID: "u", Generation: 1, ControlPlane: state.Part{Name: v1alpha1.ControlPlaneName, Object: "KubeadmControlPlane/c", Generation: 2},
		WorkerNodeGroups: []state.Part{{Name: "a", Object: "MachineDeployment/c-a", Generation: 3}, {Name: "b", Object: "MachineDeployment/c-b", Generation: 4}},
	}
	want := plan.Metadata{Name: "c", Namespace: "ns", UID: "u", Spec: "hash", Generations: map[string]int64{"Cluster/c": 1, "KubeadmControlPlane/c": 2, "MachineDeployment/c-b": 4}}
	if diff := cmp.Diff(want, plan.MetadataOf(cluster, "hash", "b")); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
}

// TestMetadataOfPools: others write the spec of a MachinePool at any time.
func TestMetadataOfPools(t *testing.T) {
	t.Parallel()
	cluster := state.Cluster{Name: "c", WorkerNodeGroups: []state.Part{{Name: "a", Object: "MachinePool/c-a", Generation: 3}}}
	want := map[string]int64{"Cluster/c": 0, "": 0, "MachinePool/c-a": plan.AnyGeneration}
	if diff := cmp.Diff(want, plan.MetadataOf(cluster, "").Generations); diff != "" {
		t.Errorf("generations (-want +got):\n%s", diff)
	}
}
