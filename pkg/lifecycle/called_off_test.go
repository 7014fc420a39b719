package lifecycle

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// TestCalledOff: a group that goes back to what its nodes run keeps its machines
// where these were made from the templates that the file asks for, and replaces
// all of them where they were not.
func TestCalledOff(t *testing.T) {
	t.Parallel()
	const text = `{apiVersion: clusterctl-x.io/v1alpha1, kind: Cluster, metadata: {name: c}, spec: {kubernetesVersion: "1.33",
datacenterRef: {kind: InMemoryDatacenterConfig, name: c}, clusterNetwork: {pods: {cidrBlocks: [192.168.0.0/16]}, services: {cidrBlocks: [10.96.0.0/12]}},
workerNodeGroupConfigurations: [{name: md-0, count: 3, kubernetesVersion: "1.32"}]}}`
	bundles, err := versionsbundle.Parse("bundles", config.Bundles)
	if err != nil {
		t.Fatal(err)
	}
	s := Spec{data: []byte(text), Config: providers.BuiltIn().Decode("c.yaml", []byte(text)), providers: providers.BuiltIn(), bundles: bundles}
	old, newer := v1alpha1.MustParseVersion("v1.32.13"), v1alpha1.MustParseVersion("v1.33.13")
	var rendered []string
	planned := func(former []string) plan.Plan {
		group := plan.Part{Version: newer, Oldest: old, Machines: 3, Outdated: 3, Former: former}
		start := plan.Start{ControlPlane: plan.Part{Version: newer, Oldest: newer, Machines: 1, Fresh: 1}, WorkerNodeGroups: map[string]plan.Part{"md-0": group}}
		p, err := prepare(t.Context(), s, current{start: start, running: start.Versions()}, unchanged(), UpgradeOptions{}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range p.Plan.Steps {
			if len(step.WorkerNodeGroups) != 1 || step.WorkerNodeGroups[0].From != newer || step.WorkerNodeGroups[0].To != old {
				t.Errorf("a step of another kind: %s", step)
			}
		}
		if former == nil {
			rendered = changes.Templates(p.States[1].Parts["md-0"])
		}
		return p.Plan
	}
	unknown := planned(nil)
	for name, test := range map[string]struct {
		plan     plan.Plan
		replaced int
		changes  plan.Changes
	}{
		"templates that are not known": {unknown, 3, plan.Changes{Templates: &plan.TemplateChange{New: rendered}}},
		"other templates":              {planned([]string{"other"}), 3, plan.Changes{Templates: &plan.TemplateChange{Old: []string{"other"}, New: rendered}}},
		"the same templates":           {planned(rendered), 0, plan.Changes{}},
	} {
		if diff := cmp.Diff(plan.Machines{Workers: test.replaced}, test.plan.MachinesReplaced); diff != "" {
			t.Errorf("%s: machines (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(test.changes, test.plan.Steps[0].WorkerNodeGroups[0].Changes); diff != "" {
			t.Errorf("%s: changes (-want +got):\n%s", name, diff)
		}
	}
}
