package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// TestReleased: a part keeps the templates that it has until a step replaces its
// machines.
func TestReleased(t *testing.T) {
	t.Parallel()
	of := func(kind plan.Kind, groups ...string) plan.Step {
		step := plan.Step{Kind: kind}
		for _, name := range groups {
			step.WorkerNodeGroups = append(step.WorkerNodeGroups, plan.Group{Name: name})
		}
		return step
	}
	beside := func(step plan.Step) plan.Step { step.Concurrent = true; return step }
	underWay := func(step plan.Step) plan.Step { step.UnderWay = true; return step }
	tests := map[string]struct {
		part  string
		steps []plan.Step
		want  []bool // after no step, after the first one, and so on
	}{
		"a group without steps":                     {"a", nil, []bool{false}},
		"a group that moves":                        {"a", []plan.Step{of(plan.ControlPlane), of(plan.Workers, "b", "a"), of(plan.Workers, "a")}, []bool{false, false, true, true}},
		"a group that only others move beside":      {"a", []plan.Step{of(plan.Workers, "b"), beside(of(plan.Template, "b"))}, []bool{false, false, false}},
		"a new group":                               {"a", []plan.Step{of(plan.ControlPlane), of(plan.CreateWorkers, "a")}, []bool{false, false, true}},
		"a group that goes":                         {"a", []plan.Step{of(plan.ControlPlane), of(plan.RemoveWorkers, "a")}, []bool{false, false, true}},
		"a group that gets other machines":          {"a", []plan.Step{of(plan.ControlPlane), of(plan.Template, "a")}, []bool{false, false, true}},
		"a group that gets other machines at once":  {"a", []plan.Step{of(plan.ControlPlane), beside(of(plan.Template, "a"))}, []bool{true, true, true}},
		"a group that changes in place":             {"a", []plan.Step{beside(of(plan.InPlace, "a"))}, []bool{false, false}},
		"a group that changes in place, and moves":  {"a", []plan.Step{beside(of(plan.InPlace, "a")), of(plan.Workers, "a")}, []bool{false, false, true}},
		"a group under way":                         {"a", []plan.Step{underWay(of(plan.Workers, "a"))}, []bool{false, false}},
		"a group under way that moves afterwards":   {"a", []plan.Step{underWay(of(plan.Workers, "a")), of(plan.Template, "a")}, []bool{false, false, true}},
		"a control plane without steps":             {controlPlaneName, nil, []bool{true}},
		"a control plane that only groups follow":   {controlPlaneName, []plan.Step{of(plan.Workers, "a"), of(plan.Template, "a")}, []bool{true, true, true}},
		"a control plane that changes in place":     {controlPlaneName, []plan.Step{beside(of(plan.InPlace))}, []bool{true, true}},
		"a control plane that moves":                {controlPlaneName, []plan.Step{beside(of(plan.InPlace)), of(plan.ControlPlane), of(plan.ControlPlane)}, []bool{false, false, true, true}},
		"a control plane that gets other machines":  {controlPlaneName, []plan.Step{of(plan.Workers, "a"), of(plan.Template)}, []bool{false, false, true}},
		"a control plane under way":                 {controlPlaneName, []plan.Step{underWay(of(plan.ControlPlane))}, []bool{true, true}},
		"a control plane under way, and then moves": {controlPlaneName, []plan.Step{underWay(of(plan.ControlPlane)), of(plan.ControlPlane)}, []bool{false, false, true}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []bool
			for begun := range len(test.steps) + 1 {
				got = append(got, plan.Plan{Steps: test.steps}.Released(test.part, begun))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("released (-want +got):\n%s", diff)
			}
		})
	}
}
