package plan_test

import (
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// TestNoPlan: what has no plan, why not, and what has one instead.
func TestNoPlan(t *testing.T) {
	t.Parallel()
	testImpossible(t, map[string]impossible{
		"the control plane down by a minor": {input("1.32", "1.31", "a 1.31 1.31"), []string{
			"control plane: v1.31.0 is older than v1.32.0, which it already has; downgrades are not supported: use v1.32.0 or newer",
		}},
		"the control plane down by a patch": {input("1.32.3", "1.32.2"), []string{
			"control plane: v1.32.2 is older than v1.32.3, which it already has; downgrades are not supported: use v1.32.3 or newer",
		}},
		"another major version": {input("1.36", "2.0"), []string{
			"control plane: v2.0.0 has another major version than v1.36.0, which it has; there is no upgrade between major versions",
		}},
		"an older major version": {input("2.0", "1.36"), []string{
			"control plane: v1.36.0 is older than v2.0.0, which it already has; downgrades are not supported: use v2.0.0 or newer",
		}},
		"a minor without a bundle": {with(input("1.31", "1.35", "a 1.31 1.35"), bundles("1.31", "1.32", "1.34", "1.35")), []string{
			"control plane: it goes from v1.31.0 to v1.35.0 one minor at a time, and there is no versions bundle of 1.33; use a file that has it with --bundles, or go no further than 1.32",
		}},
		"two minors without a bundle": {with(input("1.31", "1.35"), bundles("1.31", "1.33", "1.35")), []string{
			"control plane: it goes from v1.31.0 to v1.35.0 one minor at a time, and there is no versions bundle of 1.32, 1.34; use a file that has it with --bundles, or go no further than 1.31",
		}},
		"a group down by a minor": {input("1.34", "1.35", "a 1.33 1.32"), []string{
			"group a: v1.32.0 is older than v1.33.0, which it already has; downgrades are not supported: use v1.33.0 or newer",
		}},
		"a group down by a patch": {input("1.34.3", "1.34.3", "a 1.34.2 1.34.1"), []string{
			"group a: v1.34.1 is older than v1.34.2, which it already has; downgrades are not supported: use v1.34.2 or newer",
		}},
		"a pin that stays too far behind": {input("1.31", "1.35", "a 1.31 1.31"), []string{
			"group a: it stays at v1.31.0, so the control plane cannot go to v1.35.0: the group must not be more than 3 minors older than the control plane (v1.35.0); use v1.34.0 at most, or upgrade the group to 1.32 or newer",
		}},
		"a pin that moves, and is too far behind": {input("1.31", "1.36", "a 1.30 1.32"), []string{
			"group a: it stays at v1.32.0, so the control plane cannot go to v1.36.0: the group must not be more than 3 minors older than the control plane (v1.36.0); use v1.35.0 at most, or upgrade the group to 1.33 or newer",
		}},
		"a pin too far behind for the policy of the cluster": {with(input("1.31", "1.33", "a 1.31 1.31"), maxLag(1)), []string{
			"group a: it stays at v1.31.0, so the control plane cannot go to v1.33.0: the group must not be more than 1 minor older than the control plane (v1.33.0); use v1.32.0 at most, or upgrade the group to 1.32 or newer",
		}},
		"a pin older than 1.25": {input("1.25", "1.27", "a 1.24 1.24"), []string{
			"group a: it stays at v1.24.0, so the control plane cannot go to v1.27.0: the group must not be more than 2 minors older than the control plane (v1.27.0); use v1.26.0 at most, or upgrade the group to 1.25 or newer",
		}},
		"a pin ahead of the control plane": {input("1.31", "1.34", "a 1.31 1.35"), []string{
			"group a: it cannot go to v1.35.0: it must not be newer than the control plane (v1.34.0); it can go to v1.34.0 at most",
		}},
		"a pin ahead by a patch": {input("1.31", "1.34", "a 1.31 1.34.1"), []string{
			"group a: it cannot go to v1.34.1: it must not be newer than the control plane (v1.34.0); it can go to v1.34.0 at most",
		}},
		"a new group ahead of the control plane": {input("1.31", "1.34", "a - 1.35"), []string{
			"group a: it cannot go to v1.35.0: it must not be newer than the control plane (v1.34.0); it can go to v1.34.0 at most",
		}},
		"a new group that would be left too far behind": {input("1.31", "1.35", "a - 1.30"), []string{
			"group a: it stays at v1.30.0, so the control plane cannot go to v1.34.0: the group must not be more than 3 minors older than the control plane (v1.34.0); use v1.33.0 at most, or upgrade the group to 1.32 or newer",
		}},
		"a new group that is too old already": {input("1.35", "1.36", "a - 1.31"), []string{
			"group a: v1.31.0 is already too old for the control plane: it must not be more than 3 minors older than the control plane (v1.35.0); upgrade the group to 1.33 or newer",
		}},
		"all reasons at once, in the order of the spec": {with(input("1.31", "1.35", "c 1.31 1.31", "a 1.32 1.31", "b - 1.36", "d 1.31 1.35"), foreign("MachinePool/z", "1.30"), foreign("Machine/y", "1.31")), []string{
			"control plane: it cannot go to v1.34.0, because MachinePool/z, which this file does not name, is at v1.30.0; while that is there, it can go to v1.33.0 at most: upgrade or delete it",
			"control plane: it cannot go to v1.35.0, because Machine/y, which this file does not name, is at v1.31.0; while that is there, it can go to v1.34.0 at most: upgrade or delete it",
			"group c: it stays at v1.31.0, so the control plane cannot go to v1.35.0: the group must not be more than 3 minors older than the control plane (v1.35.0); use v1.34.0 at most, or upgrade the group to 1.32 or newer",
			"group a: v1.31.0 is older than v1.32.0, which it already has; downgrades are not supported: use v1.32.0 or newer",
			"group b: it cannot go to v1.36.0: it must not be newer than the control plane (v1.35.0); it can go to v1.35.0 at most",
		}},
	})
}

// TestBreaches: a live cluster that breaks the policy already is led out of it.
func TestBreaches(t *testing.T) {
	t.Parallel()
	testPossible(t, short, map[string]possible{
		"a group too old moves first": {input("1.34", "1.36", "a 1.29 1.36"), []string{
			"Workers: a 1.29->1.34", "ControlPlane: 1.34->1.35", "ControlPlane: 1.35->1.36", "Workers: a 1.34->1.36",
		}},
		"a group too old, and the control plane stays": {input("1.34", "1.34", "a 1.29 1.34", "b 1.28 1.31"), []string{"Workers: a 1.29->1.34, b 1.28->1.31"}},
		"a group too old for the policy of the cluster": {with(input("1.34", "1.35", "a 1.31 1.35", "b 1.34 1.35"), maxLag(1)), []string{
			"Workers: a 1.31->1.34", "ControlPlane: 1.34->1.35", "Workers: a 1.34->1.35, b 1.34->1.35",
		}},
		"a group too old that stays, and so does the control plane": {input("1.34", "1.34", "a 1.29 1.29", "b 1.33 1.34"), []string{"Workers: b 1.33->1.34"}},
		"a group too old that is removed goes first": {input("1.34", "1.35", "a 1.29 -", "b 1.34 1.35"), []string{
			"RemoveWorkers: a 1.29->-", "ControlPlane: 1.34->1.35", "Workers: b 1.34->1.35",
		}},
		"a group ahead waits": {input("1.31", "1.34", "a 1.33 1.34", "b 1.31 1.34"), []string{
			"ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33", "ControlPlane: 1.33->1.34", "Workers: a 1.33->1.34, b 1.31->1.34",
		}},
		"a group ahead by a patch waits": {input("1.31.2", "1.35", "a 1.31.4 1.35"), []string{
			"ControlPlane: 1.31.2->1.32", "ControlPlane: 1.32->1.33", "ControlPlane: 1.33->1.34", "Workers: a 1.31.4->1.34", "ControlPlane: 1.34->1.35", "Workers: a 1.34->1.35",
		}},
		"a group ahead is caught up with": {input("1.31", "1.33", "a 1.33 1.33"), []string{"ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33"}},
		"one ahead, one too old":          {input("1.33", "1.34", "a 1.34 1.34", "b 1.29 1.34"), []string{"Workers: b 1.29->1.33", "ControlPlane: 1.33->1.34", "Workers: b 1.33->1.34"}},
	})
	testImpossible(t, map[string]impossible{
		"a group too old is asked to stay": {input("1.34", "1.35", "a 1.29 1.29"), []string{
			"group a: v1.29.0 is already too old for the control plane: it must not be more than 3 minors older than the control plane (v1.34.0); upgrade the group to 1.32 or newer",
		}},
		"a group too old is to go less far than it must": {input("1.34", "1.34", "a 1.29 1.30"), []string{
			"group a: v1.30.0 is already too old for the control plane: it must not be more than 3 minors older than the control plane (v1.34.0); upgrade the group to 1.31 or newer",
		}},
		"a group too old, and a patch of the control plane": {input("1.34.1", "1.34.2", "a 1.29 1.29"), []string{
			"group a: v1.29.0 is already too old for the control plane: it must not be more than 3 minors older than the control plane (v1.34.1); upgrade the group to 1.31 or newer",
		}},
	})
}

// TestUnmanaged: machines of others bound a plan, by name.
func TestUnmanaged(t *testing.T) {
	t.Parallel()
	testPossible(t, short, map[string]possible{
		"within the policy": {with(input("1.31", "1.33", "a 1.31 1.33"), foreign("Machine/other", "1.30"), foreign("MachinePool/others", "1.31")), []string{
			"ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33", "Workers: a 1.31->1.33",
		}},
		"ahead of the control plane":           {with(input("1.31", "1.32"), foreign("Machine/other", "1.32.4")), []string{"ControlPlane: 1.31->1.32"}},
		"too old, and the control plane stays": {with(input("1.34", "1.34", "a 1.33 1.34"), foreign("Machine/other", "1.28")), []string{"Workers: a 1.33->1.34"}},
	})
	testImpossible(t, map[string]impossible{
		"left too far behind": {with(input("1.31", "1.35", "a 1.31 1.35"), foreign("MachinePool/others", "1.30.4")), []string{
			"control plane: it cannot go to v1.34.0, because MachinePool/others, which this file does not name, is at v1.30.4; while that is there, it can go to v1.33.0 at most: upgrade or delete it",
		}},
		"too old already": {with(input("1.34", "1.35"), foreign("Machine/other", "1.28")), []string{
			"control plane: it cannot go to v1.35.0, because Machine/other, which this file does not name, is at v1.28.0; while that is there, it can go to v1.34.0 at most: upgrade or delete it",
		}},
		"too old for the policy of the cluster": {with(input("1.31", "1.33"), maxLag(1), foreign("Machine/other", "1.31")), []string{
			"control plane: it cannot go to v1.33.0, because Machine/other, which this file does not name, is at v1.31.0; while that is there, it can go to v1.32.0 at most: upgrade or delete it",
		}},
		"beside the control plane only": {with(input("1.31", "1.35"), foreign("Machine/other", "1.31"), func(in *plan.Input) { in.Scope.ControlPlaneOnly = true }), []string{
			"control plane: it cannot go to v1.35.0, because Machine/other, which this file does not name, is at v1.31.0; while that is there, it can go to v1.34.0 at most: upgrade or delete it",
		}},
	})
}
