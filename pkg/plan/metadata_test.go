package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

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
