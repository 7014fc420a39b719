package lifecycle

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// TestStepsLeft: what watch says is left is what an upgrade would do, with as many groups
// at the same time.
func TestStepsLeft(t *testing.T) {
	t.Parallel()
	s := stagesSpecOf(t, "1.32", "{name: md-0}, {name: md-1}")
	two := 2
	s.Config.Cluster.Spec.UpgradePolicy = v1alpha1.UpgradePolicy{MaxConcurrentWorkerGroups: &two}
	resolved, err := Options{}.resolve(s, v1alpha1.ClusterVersions{})
	if err != nil {
		t.Fatal(err)
	}
	before, after, three := v1alpha1.MustParseVersion("v1.31.9"), v1alpha1.MustParseVersion("v1.32.7"), int32(3)
	underWay := managedPart("md-0", "MachineDeployment/prod-md-0", before, nil)
	underWay.Version, underWay.Settled = after, false
	cluster := state.Cluster{
		Name: "prod", Namespace: "default", ControlPlane: managedPart(v1alpha1.ControlPlaneName, "KubeadmControlPlane/prod", after, &three),
		WorkerNodeGroups: []state.Part{underWay, managedPart("md-1", "MachineDeployment/prod-md-1", before, nil)},
	}
	left, err := lastApplied{resolved: validations.Resolved{Config: resolved.Config, Versions: resolved.Versions}, spec: s}.left(t.Context(), cluster)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Workers: md-0 from v1.31.9 to v1.32.7, md-1 from v1.31.9 to v1.32.7"}
	if diff := cmp.Diff(want, linesOf(left)); diff != "" {
		t.Errorf("steps left (-want +got):\n%s", diff)
	}
}
