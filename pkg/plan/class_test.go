package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// TestClassPlanAdds counts the machines that the clusters of a class lose together.
func TestClassPlanAdds(t *testing.T) {
	t.Parallel()
	first := plan.Plan{Metadata: plan.Metadata{Name: "a"}, MachinesReplaced: plan.Machines{ControlPlane: 3, Workers: 5}}
	second := plan.Plan{Metadata: plan.Metadata{Name: "b"}, MachinesReplaced: plan.Machines{ControlPlane: 1, Workers: 2}}
	var got plan.ClassPlan
	got.Add(first)
	got.Add(second)
	want := plan.ClassPlan{Clusters: []plan.Plan{first, second}, MachinesReplaced: plan.Machines{ControlPlane: 4, Workers: 7}}
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(v1alpha1.Version{})); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}
