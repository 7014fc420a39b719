package view_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// TestPlanWithImages: a plan says what the new machines of each part are made from.
func TestPlanWithImages(t *testing.T) {
	t.Parallel()
	version := func(text string) v1alpha1.Version {
		parsed, err := v1alpha1.ParseVersion(text)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	from, to := version("v1.35.0"), version("v1.36.1")
	p := plan.Plan{Metadata: plan.Metadata{Name: "prod", Namespace: "fleet"}, Steps: []plan.Step{
		{Kind: plan.ControlPlane, From: from, To: to, MachinesReplaced: 1, Image: `{"ami":"a36"}`, Reason: "why"},
		{Kind: plan.Workers, Reason: "why", WorkerNodeGroups: []plan.Group{{Name: "a", From: from, To: to, MachinesReplaced: 1, Image: `{"ami":"b36"}`}, {Name: "b", From: from, To: to, MachinesReplaced: 1}}},
	}}
	var out strings.Builder
	if err := (view.Style{}).Plan(&out, p); err != nil {
		t.Fatal(err)
	}
	const want = `Plan for cluster fleet/prod, 2 steps:
 1. control plane  v1.35.0 -> v1.36.1  1 machine replaced
      why
      image: {"ami":"a36"}
 2. a              v1.35.0 -> v1.36.1  1 machine replaced
    b              v1.35.0 -> v1.36.1  1 machine replaced
      why
      image of a: {"ami":"b36"}
In all: no machine is replaced, added or removed.
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}
