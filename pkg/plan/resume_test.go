package plan_test

import (
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// TestUnderWay: what goes on already is finished first.
func TestUnderWay(t *testing.T) {
	t.Parallel()
	testPossible(t, short, map[string]possible{
		"the control plane": {with(input("1.32", "1.33", "a 1.31 1.33"), underWay("", "1.31", 2, 1)), []string{
			"ControlPlane (under way): 1.31->1.32", "ControlPlane: 1.32->1.33", "Workers: a 1.31->1.33",
		}},
		"the last step of the control plane": {with(input("1.33", "1.33", "a 1.31 1.33"), underWay("", "1.32", 1, 2)), []string{
			"ControlPlane (under way): 1.32->1.33", "Workers: a 1.31->1.33",
		}},
		"the control plane, and nobody waits for it": {with(input("1.33", "1.33", "a 1.31 1.31"), underWay("", "1.32", 3, 0)), []string{
			"ControlPlane (under way): 1.32->1.33",
		}},
		"a group": {with(input("1.34", "1.35", "a 1.34 1.35", "b 1.34 1.35"), underWay("a", "1.31", 2, 1)), []string{
			"Workers (under way): a 1.31->1.34", "ControlPlane: 1.34->1.35", "Workers: a 1.34->1.35, b 1.34->1.35",
		}},
		"one group is done, one under way, one has not begun": {with(input("1.34", "1.35", "a 1.34 1.35", "b 1.34 1.35", "c 1.31 1.35"), underWay("b", "1.31", 1, 1)), []string{
			"Workers (under way): b 1.31->1.34", "Workers: c 1.31->1.34", "ControlPlane: 1.34->1.35", "Workers: a 1.34->1.35, b 1.34->1.35, c 1.34->1.35",
		}},
		"two groups, in the order of the spec": {with(input("1.34", "1.34", "b 1.34 1.34", "a 1.34 1.34"), underWay("a", "1.32", 1, 1), underWay("b", "1.31", 2, 1)), []string{
			"Workers (under way): b 1.31->1.34, a 1.32->1.34",
		}},
		"the control plane and a group": {with(input("1.32", "1.33", "a 1.31 1.33"), underWay("", "1.31", 1, 2), underWay("a", "1.30", 1, 2)), []string{
			"ControlPlane (under way): 1.31->1.32", "Workers (under way): a 1.30->1.31", "ControlPlane: 1.32->1.33", "Workers: a 1.31->1.33",
		}},
		"a new target in the middle of the control plane's step": {with(input("1.32", "1.36", "a 1.31 1.36"), underWay("", "1.31", 2, 1)), []string{
			"ControlPlane (under way): 1.31->1.32", "ControlPlane: 1.32->1.33", "ControlPlane: 1.33->1.34", "Workers: a 1.31->1.34",
			"ControlPlane: 1.34->1.35", "ControlPlane: 1.35->1.36", "Workers: a 1.34->1.36",
		}},
		"a new target in the middle of a group's step": {with(input("1.34", "1.35", "a 1.33 1.34"), underWay("a", "1.31", 2, 1)), []string{
			"Workers (under way): a 1.31->1.33", "ControlPlane: 1.34->1.35", "Workers: a 1.33->1.34",
		}},
		"a group that leaves the policy's bounds by its rollout": {with(input("1.34", "1.35", "a 1.34 1.35"), underWay("a", "1.29", 1, 2)), []string{
			"Workers (under way): a 1.29->1.34", "ControlPlane: 1.34->1.35", "Workers: a 1.34->1.35",
		}},
		"other templates of the control plane": {with(input("1.31", "1.32", "a 1.31 1.32"), underWay("", "1.31", 2, 1)), []string{
			"Template (under way): 1.31->1.31", "ControlPlane: 1.31->1.32", "Workers: a 1.31->1.32",
		}},
		"other templates of groups, and a version": {with(input("1.31", "1.31", "a 1.31 1.31", "b 1.31 1.31", "c 1.30 1.30"), underWay("a", "1.31", 2, 1), underWay("b", "1.30", 1, 1), underWay("c", "1.30", 3, 0)), []string{
			"Workers (under way): b 1.30->1.31", "Template (under way): a 1.31->1.31, c 1.30->1.30",
		}},
		"a group that is removed does not wait for its rollout": {with(input("1.34", "1.34", "a 1.34 -"), underWay("a", "1.33", 2, 1)), []string{"RemoveWorkers: a 1.34->-"}},
		"new groups wait for it": {with(input("1.32", "1.32", "a - 1.32", "b - 1.31"), underWay("", "1.31", 2, 1)), []string{
			"ControlPlane (under way): 1.31->1.32", "CreateWorkers: a -->1.32, b -->1.31",
		}},
	})
	testImpossible(t, map[string]impossible{
		"the control plane does not turn round": {with(input("1.32", "1.31"), underWay("", "1.31", 3, 0)), []string{
			"control plane: v1.31.0 is older than v1.32.0, which it already has; downgrades are not supported: use v1.32.0 or newer",
		}},
		"a group goes farther than it is wanted": {with(input("1.34", "1.35", "a 1.34 1.33"), underWay("a", "1.31", 2, 1)), []string{
			"group a: v1.33.0 is older than v1.34.0, which it already has; downgrades are not supported: use v1.34.0 or newer",
		}},
	})
}

// TestMachinesUnderWay: only those that are left count, and no change travels
// with what began without it.
func TestMachinesUnderWay(t *testing.T) {
	t.Parallel()
	rolling := func(in *plan.Input) {
		in.Changes = map[string]plan.Changes{"a": fieldsOf([]string{"labels"}, nil), controlPlaneName: fieldsOf([]string{"audit"}, nil)}
	}
	testPossible(t, long, map[string]possible{
		"both": {with(input("1.32", "1.33", "a 1.31 1.33"), underWay("", "1.31", 2, 1), underWay("a", "1.30", 1, 2)), []string{
			"ControlPlane (under way): 1.31->1.32 replaces 2",
			"Workers (under way): a 1.30->1.31 replaces 1",
			"ControlPlane: 1.32->1.33 replaces 3",
			"Workers: a 1.31->1.33 replaces 3",
			"all: control plane +0 -0 ~5, workers +0 -0 ~4",
		}},
		"changes come with the next version": {with(input("1.32", "1.33", "a 1.31 1.33"), rolling, underWay("", "1.31", 2, 1), underWay("a", "1.30", 1, 2)), []string{
			"ControlPlane (under way): 1.31->1.32 replaces 2",
			"Workers (under way): a 1.30->1.31 replaces 1",
			"ControlPlane: 1.32->1.33 replaces 3 [audit]",
			"Workers: a 1.31->1.33 replaces 3 [labels]",
			"all: control plane +0 -0 ~5, workers +0 -0 ~4",
		}},
		"changes come after it": {with(input("1.32", "1.32", "a 1.31 1.31"), rolling, underWay("", "1.31", 2, 1), underWay("a", "1.30", 1, 2)), []string{
			"ControlPlane (under way): 1.31->1.32 replaces 2",
			"Workers (under way): a 1.30->1.31 replaces 1",
			"Template: 1.32->1.32 replaces 3 [audit]",
			"Template: a 1.31->1.31 replaces 3 [labels]",
			"all: control plane +0 -0 ~5, workers +0 -0 ~4",
		}},
		"more are left than are wanted": {with(input("1.32", "1.32", "a 1.32 1.32"), underWay("a", "1.31", 4, 1)), []string{
			"Workers (under way): a 1.31->1.32 replaces 4",
			"all: control plane +0 -0 ~0, workers +0 -0 ~4",
		}},
	})
}

// TestGoesBack: a rollout that brought no ready machine may be called off.
func TestGoesBack(t *testing.T) {
	t.Parallel()
	testPossible(t, long, map[string]possible{
		"none of its machines became ready": {with(input("1.34", "1.34", "a 1.34 1.33"), underWay("a", "1.33", 3, 0)), []string{
			"Workers: a 1.34->1.33",
			"all: control plane +0 -0 ~0, workers +0 -0 ~0",
		}},
		"before the control plane goes on": {with(input("1.34", "1.35", "a 1.34 1.33", "b 1.34 1.35"), underWay("a", "1.33", 2, 0)), []string{
			"Workers: a 1.34->1.33",
			"ControlPlane: 1.34->1.35 replaces 3",
			"Workers: b 1.34->1.35 replaces 3",
			"all: control plane +0 -0 ~3, workers +0 -0 ~3",
		}},
		"with the rollouts of others": {with(input("1.34", "1.34", "a 1.34 1.33", "b 1.33 1.34"), underWay("a", "1.33", 2, 0)), []string{
			"Workers: a 1.34->1.33",
			"Workers: b 1.33->1.34 replaces 3",
			"all: control plane +0 -0 ~0, workers +0 -0 ~3",
		}},
		"with other templates its machines are replaced": {
			with(input("1.34", "1.34", "a 1.34 1.33"), underWay("a", "1.33", 3, 0), func(in *plan.Input) {
				in.Changes = map[string]plan.Changes{"a": {Templates: &plan.TemplateChange{Old: []string{"old"}, New: []string{"new"}}}}
			}),
			[]string{
				"Workers: a 1.34->1.33 replaces 3 [[old] -> [new]]",
				"all: control plane +0 -0 ~0, workers +0 -0 ~3",
			},
		},
	})
	testPossible(t, reasons, map[string]possible{
		"why": {with(input("1.34", "1.34", "a 1.34 1.33", "b 1.33 1.34"), underWay("a", "1.33", 2, 0)), []string{
			"Workers: back to what its nodes run: no machine of the newer version became ready",
			"Workers: the version that is asked for",
		}},
		"after what is under way, before other templates": {
			with(input("1.34", "1.34", "a 1.34 1.33", "b 1.34 1.34"), underWay("a", "1.33", 2, 0), underWay("b", "1.33", 2, 0), changed(controlPlaneName, "audit", "")),
			[]string{
				"Workers (under way): under way already",
				"Workers: back to what its nodes run: no machine of the newer version became ready",
				"Template: same version; machines are replaced for these changes",
			},
		},
	})
	testImpossible(t, map[string]impossible{
		"one of its machines became ready": {with(input("1.34", "1.34", "a 1.34 1.33"), underWay("a", "1.33", 2, 1)), []string{
			"group a: v1.33.0 is older than v1.34.0, which it already has; downgrades are not supported: use v1.34.0 or newer",
		}},
		"to another version than its nodes run": {with(input("1.34", "1.34", "a 1.34 1.33"), underWay("a", "1.32", 3, 0)), []string{
			"group a: v1.33.0 is older than v1.34.0, which it already has; downgrades are not supported: use v1.34.0 or newer",
		}},
		"to where the control plane would leave it behind": {with(input("1.34", "1.35", "a 1.34 1.31"), underWay("a", "1.31", 3, 0)), []string{
			"group a: it stays at v1.31.0, so the control plane cannot go to v1.35.0: the group must not be more than 3 minors older than the control plane (v1.35.0); use v1.34.0 at most, or upgrade the group to 1.32 or newer",
		}},
		"nothing is to be replaced, and a node still reports the older version": {with(input("1.34", "1.34", "a 1.34 1.33"), underWay("a", "1.33", 0, 0)), []string{
			"group a: v1.33.0 is older than v1.34.0, which it already has; downgrades are not supported: use v1.34.0 or newer",
		}},
		"its rollout is done": {input("1.34", "1.34", "a 1.34 1.33"), []string{
			"group a: v1.33.0 is older than v1.34.0, which it already has; downgrades are not supported: use v1.34.0 or newer",
		}},
	})
}
