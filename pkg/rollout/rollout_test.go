package rollout

import (
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// TestCurrent: at the end of the steps a concurrent one goes on, as long as groups of it
// wait for their turn.
func TestCurrent(t *testing.T) {
	t.Parallel()
	concurrent := func(kind plan.Kind, groups ...string) plan.Step {
		step := plan.Step{Kind: kind, Beside: true}
		for _, name := range groups {
			step.WorkerNodeGroups = append(step.WorkerNodeGroups, plan.Group{Name: name})
		}
		return step
	}
	p := plan.Plan{Steps: []plan.Step{concurrent(plan.InPlace, "a"), concurrent(plan.Template, "a", "b"), {Kind: plan.ControlPlane}}}
	for _, test := range []struct {
		step              int
		replacing, queued []string
		want              int
	}{{2, nil, nil, 2}, {2, []string{"a"}, []string{"b"}, 2}, {3, []string{"a"}, []string{"b"}, 1}, {3, []string{"b"}, nil, 1}, {3, nil, []string{"b"}, 1}, {3, nil, nil, 3}} {
		if got := (Status{Plan: p, Step: test.step, Replacing: test.replacing, Queued: test.queued}).Current(); got != test.want {
			t.Errorf("at step %d with %v and %v it is %d, want %d", test.step, test.replacing, test.queued, got, test.want)
		}
	}
}
