package view_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// TestTree shows reasons behind the machines that have one, and no blanks
// behind the others.
func TestTree(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	v1, v2 := v1alpha1.MustParseVersion("v1.33.3"), v1alpha1.MustParseVersion("v1.34.2")
	cluster := state.Cluster{
		Name: "prod", Namespace: "team", Created: now.Add(-90 * time.Second), Phase: "Provisioned",
		ControlPlane: state.Part{
			Name: state.ControlPlaneName, Object: "KubeadmControlPlane/prod", Version: v2, Replicas: 1, Settled: true,
			Machines: []state.Machine{{Name: "prod-1", Phase: "Running", Version: v2, Kubelet: v2, Ready: true}},
		},
		WorkerNodeGroups: []state.Part{{
			Name: "md-0", Object: "MachineDeployment/prod-md-0", Version: v1, Replicas: 2, Reason: "a new machine starts",
			Machines: []state.Machine{
				{Name: "prod-md-0-1", Phase: "Running", Version: v1, Kubelet: v1, Ready: true},
				{Name: "prod-md-0-22", Phase: "Provisioning", Version: v1, Reason: "it boots"},
			},
		}},
	}
	var got strings.Builder
	if err := (view.Style{}).Tree(&got, cluster, now); err != nil {
		t.Fatal(err)
	}
	want := `✗ Cluster team/prod  Provisioned, created 90s ago
├─ ✓ control-plane  KubeadmControlPlane/prod  v1.34.2  1/1 ready
│    ✓ prod-1  v1.34.2  Running
└─ ✗ md-0  MachineDeployment/prod-md-0  v1.33.3  1/2 ready
     a new machine starts
     ✓ prod-md-0-1   v1.33.3  Running
     ✗ prod-md-0-22  v1.33.3  Provisioning  it boots
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
}
