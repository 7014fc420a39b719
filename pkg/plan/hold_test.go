package plan

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestHeld has a hold at every place, and looks at which of them each step waits.
func TestHeld(t *testing.T) {
	t.Parallel()
	var holds []state.Hold
	for _, point := range state.HoldPoints() {
		holds = append(holds, state.Hold{Point: point})
	}
	upgrade := Plan{Steps: []Step{{Kind: InPlace, Concurrent: true}, {Kind: ControlPlane}, {Kind: ControlPlane}, {Kind: Workers}, {Kind: CreateWorkers}, {Kind: Workers}, {Kind: RemoveWorkers}}}
	const (
		beforeUpgrade, beforeControlPlane, afterControlPlane = state.BeforeUpgrade, state.BeforeControlPlane, state.AfterControlPlane
		beforeWorkers, afterWorkers, afterUpgrade            = state.BeforeWorkers, state.AfterWorkers, state.AfterUpgrade
	)
	type points = []state.HoldPoint
	tests := map[string]struct {
		plan  Plan
		begun bool
		want  []points // at each step, and at the end
	}{
		"upgrade": {upgrade, false, []points{
			nil, {beforeUpgrade, beforeControlPlane}, {beforeControlPlane, afterControlPlane}, {afterControlPlane, beforeWorkers},
			{afterWorkers}, {beforeWorkers, afterWorkers}, {afterWorkers}, {afterWorkers, afterUpgrade},
		}},
		"what is left, after the control plane": {Plan{From: versions("1.34", "1.33"), Steps: []Step{{Kind: Workers}}}, true, []points{{afterControlPlane, beforeWorkers}, {afterWorkers, afterUpgrade}}},
		"what is left, after workers":           {Plan{From: versions("1.34", "1.34"), Steps: []Step{{Kind: ControlPlane}}}, true, []points{{beforeControlPlane, afterWorkers}, {afterControlPlane, afterUpgrade}}},
		"a rollout under way":                   {Plan{Steps: []Step{{Kind: ControlPlane, UnderWay: true}, {Kind: Workers}}}, false, []points{nil, {afterControlPlane, beforeWorkers}, {afterWorkers, afterUpgrade}}},
		"no other version":                      {Plan{Steps: []Step{{Kind: Template}, {Kind: CreateWorkers}}}, false, []points{nil, nil, nil}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []points
			for next := range len(test.plan.Steps) + 1 {
				var met points
				for _, hold := range holds {
					if test.plan.Held(next, test.begun, []state.Hold{hold}) != nil {
						met = append(met, hold.Point)
					}
				}
				got = append(got, met)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("holds (-want +got):\n%s", diff)
			}
		})
	}
}

// versions of a control plane and of a worker node group, as minors.
func versions(controlPlane, worker string) v1alpha1.ClusterVersions {
	return v1alpha1.ClusterVersions{
		ControlPlane:     v1alpha1.MustParseVersion(controlPlane + ".1"),
		WorkerNodeGroups: map[string]v1alpha1.Version{"md-0": v1alpha1.MustParseVersion(worker + ".1")},
	}
}

func TestHeldNotes(t *testing.T) {
	t.Parallel()
	p := Plan{Steps: []Step{{Kind: ControlPlane}, {Kind: Workers}}}
	var want []string
	var holds []state.Hold
	for point, where := range map[state.HoldPoint]string{state.BeforeWorkers: "step 2", state.AfterUpgrade: "the end of the upgrade", state.BeforeControlPlane: "step 1"} {
		hold := state.Hold{Point: point, Reason: "x", Annotation: point.Annotation()}
		holds = append(holds, hold)
		want = append(want, fmt.Sprintf("%s waits: %s", where, hold))
	}
	if diff := cmp.Diff(want, p.HeldNotes(false, holds)); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

func TestEndsDetached(t *testing.T) {
	t.Parallel()
	controlPlane, detached := Step{Kind: ControlPlane}, Step{Kind: Workers, Detached: true}
	tests := map[string]struct {
		steps         []Step
		changes, ends bool
	}{
		"none":                     {nil, false, false},
		"of the topology":          {[]Step{detached, controlPlane}, true, false},
		"of a detached group":      {[]Step{controlPlane, detached, {Kind: Return}}, true, true},
		"without another version":  {[]Step{{Kind: Template, Detached: true}}, false, false},
		"begun beside of the rest": {[]Step{{Kind: Workers, Concurrent: true, Detached: true}}, false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Plan{Steps: test.steps}
			if changes, ends := p.ChangesVersions(), p.EndsDetached(); changes != test.changes || ends != test.ends {
				t.Errorf("changes versions: %t, ends detached: %t", changes, ends)
			}
		})
	}
}
