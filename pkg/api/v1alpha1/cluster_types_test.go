package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

func TestSelfManaged(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		name, management string
		want             bool
	}{
		"its own name":     {"prod", "prod", true},
		"another name":     {"prod", "mgmt", false},
		"no name":          {"prod", "", false},
		"neither has name": {"", "", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := v1alpha1.Cluster{
				Metadata: v1alpha1.Meta{Name: test.name},
				Spec:     v1alpha1.ClusterSpec{ManagementCluster: v1alpha1.ManagementCluster{Name: test.management}},
			}
			if got := cluster.SelfManaged(); got != test.want {
				t.Errorf("SelfManaged() = %t", got)
			}
		})
	}
}

func TestReplicas(t *testing.T) {
	t.Parallel()
	got := []int{
		v1alpha1.ControlPlaneConfiguration{}.Replicas(),
		v1alpha1.ControlPlaneConfiguration{Count: new(3)}.Replicas(),
		v1alpha1.WorkerNodeGroupConfiguration{}.Replicas(),
		v1alpha1.WorkerNodeGroupConfiguration{Count: new(0)}.Replicas(),
	}
	if diff := cmp.Diff([]int{1, 3, 1, 0}, got); diff != "" {
		t.Errorf("replicas (-want +got):\n%s", diff)
	}
}

func TestConcurrency(t *testing.T) {
	t.Parallel()
	got := []int{
		v1alpha1.UpgradePolicy{}.Concurrency(),
		v1alpha1.UpgradePolicy{MaxConcurrentWorkerGroups: new(1)}.Concurrency(),
		v1alpha1.UpgradePolicy{MaxConcurrentWorkerGroups: new(4)}.Concurrency(),
	}
	if diff := cmp.Diff([]int{1, 1, 4}, got); diff != "" {
		t.Errorf("concurrency (-want +got):\n%s", diff)
	}
}

func TestPinned(t *testing.T) {
	t.Parallel()
	got := []bool{
		v1alpha1.WorkerNodeGroupConfiguration{}.Pinned(),
		v1alpha1.WorkerNodeGroupConfiguration{KubernetesVersion: new(kubernetesVersion("1.34"))}.Pinned(),
	}
	if diff := cmp.Diff([]bool{false, true}, got); diff != "" {
		t.Errorf("pinned (-want +got):\n%s", diff)
	}
}
