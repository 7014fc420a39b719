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

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) //nolint:gochecknoglobals // a constant

// aCluster has a control plane that is done and a group that is not.
func aCluster(change func(*state.Cluster)) state.Cluster {
	v1, v2 := v1alpha1.MustParseVersion("v1.33.3"), v1alpha1.MustParseVersion("v1.34.2")
	cluster := state.Cluster{
		Name: "prod", Namespace: "team", Created: now.Add(-90 * time.Second), Phase: "Provisioned",
		ControlPlane: state.Part{
			Name: v1alpha1.ControlPlaneName, Object: "KubeadmControlPlane/prod", Version: v2, Replicas: 1, Settled: true,
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
	change(&cluster)
	return cluster
}

// aDoneCluster has a control plane and nothing that is not done.
func aDoneCluster(change func(*state.Cluster)) state.Cluster {
	return aCluster(func(c *state.Cluster) {
		c.WorkerNodeGroups = nil
		change(c)
	})
}

// TestTree shows reasons behind the machines that have one, and no blanks
// behind the others; of add-ons those that are not applied.
func TestTree(t *testing.T) {
	t.Parallel()
	as := func(*state.Cluster) {}
	tests := map[string]struct {
		cluster state.Cluster
		want    string
	}{
		"of others": {aDoneCluster(func(c *state.Cluster) { c.Owner = &state.Owner{Tool: "Flux", Name: "Kustomization apps/web"} }), `✓ Cluster team/prod  Provisioned, created 90s ago
  owner: Flux Kustomization apps/web
└─ ✓ control-plane  KubeadmControlPlane/prod  v1.34.2  1/1 ready
     ✓ prod-1  v1.34.2  Running
`},
		"its own": {aDoneCluster(func(c *state.Cluster) { c.Owner = &state.Owner{Tool: "clusterctl-x"} }), `✓ Cluster team/prod  Provisioned, created 90s ago
└─ ✓ control-plane  KubeadmControlPlane/prod  v1.34.2  1/1 ready
     ✓ prod-1  v1.34.2  Running
`},
		"not done": {aCluster(as), `… Cluster team/prod  Provisioned, created 90s ago
├─ ✓ control-plane  KubeadmControlPlane/prod  v1.34.2  1/1 ready
│    ✓ prod-1  v1.34.2  Running
└─ … md-0  MachineDeployment/prod-md-0  v1.33.3  1/2 ready
     a new machine starts
     ✓ prod-md-0-1   v1.33.3  Running
     … prod-md-0-22  v1.33.3  Provisioning  it boots
`},
		"machines that are under way, and unwell": {aCluster(func(c *state.Cluster) {
			group, v2 := &c.WorkerNodeGroups[0], c.ControlPlane.Version
			group.Version, group.Replicas, group.Reason = v2, 1, ""
			group.Machines[0].Node = "n1"
			group.Machines[1] = state.Machine{Name: "prod-md-0-3", Phase: "Running", Version: v2, Kubelet: v2, Node: "n3", Reason: "no answer"}
		}), `✗ Cluster team/prod  Provisioned, created 90s ago
├─ ✓ control-plane  KubeadmControlPlane/prod  v1.34.2  1/1 ready
│    ✓ prod-1  v1.34.2  Running
└─ ✗ md-0  MachineDeployment/prod-md-0  v1.34.2  0 of 1 machines updated, 1 serving
     … prod-md-0-1  v1.33.3  Running
     ✗ prod-md-0-3  v1.34.2  Running  no answer
`},
		"done, with add-ons": {aDoneCluster(func(c *state.Cluster) { c.AddOns = []state.AddOn{{Name: "cni", Applied: true}} }), `✓ Cluster team/prod  Provisioned, created 90s ago
└─ ✓ control-plane  KubeadmControlPlane/prod  v1.34.2  1/1 ready
     ✓ prod-1  v1.34.2  Running
`},
		"add-ons that are not applied": {
			aDoneCluster(func(c *state.Cluster) {
				c.Paused, c.Infrastructure = true, "no network"
				c.AddOns = []state.AddOn{{Name: "a"}, {Name: "b", Applied: true}, {Name: "c", Reason: "no object (ConfigMap/c)"}}
			}), `✗ Cluster team/prod  Provisioned, created 90s ago
  paused: Cluster API does nothing until spec.paused of the Cluster is false
  infrastructure: no network
  add-on a: not applied yet
  add-on c: no object (ConfigMap/c)
└─ ✓ control-plane  KubeadmControlPlane/prod  v1.34.2  1/1 ready
     ✓ prod-1  v1.34.2  Running
`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got strings.Builder
			if err := (view.Style{}).Tree(&got, view.Described{Cluster: test.cluster}, now); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.String()); diff != "" {
				t.Errorf("tree (-want +got):\n%s", diff)
			}
		})
	}
}
