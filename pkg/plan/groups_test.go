package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// TestGroups: when groups move that follow, and when those that are pinned.
func TestGroups(t *testing.T) {
	t.Parallel()
	testPossible(t, short, map[string]possible{
		"no groups": {input("1.31", "1.33"), []string{"ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33"}},
		"within what nodes may lag groups move once": {input("1.31", "1.34", "a 1.31 1.34"), []string{
			"ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33", "ControlPlane: 1.33->1.34", "Workers: a 1.31->1.34",
		}},
		"one follows, one stays pinned": {input("1.31", "1.33", "a 1.31 1.33", "b 1.30 1.30"), []string{
			"ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33", "Workers: a 1.31->1.33",
		}},
		"a pin moves as late as it may": {input("1.31", "1.34", "a 1.31 1.32"), []string{
			"ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33", "ControlPlane: 1.33->1.34", "Workers: a 1.31->1.32",
		}},
		"a pin moves before it would be left too far behind": {input("1.31", "1.35", "a 1.31 1.32"), []string{
			"ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33", "ControlPlane: 1.33->1.34", "Workers: a 1.31->1.32", "ControlPlane: 1.34->1.35",
		}},
		"a pin moves alone": {input("1.34", "1.34", "a 1.31 1.33", "b 1.34 1.34"), []string{"Workers: a 1.31->1.33"}},
		"a pin is set at the running version": {input("1.31", "1.34", "a 1.31 1.31", "b 1.31 1.34"), []string{
			"ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33", "ControlPlane: 1.33->1.34", "Workers: b 1.31->1.34",
		}},
		"a pin is set above the running version": {input("1.31", "1.34", "a 1.31 1.33"), []string{
			"ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33", "ControlPlane: 1.33->1.34", "Workers: a 1.31->1.33",
		}},
		"a pin is taken away": {input("1.34", "1.34", "a 1.31 1.34"), []string{"Workers: a 1.31->1.34"}},
		"a pin is taken away, and the control plane goes on": {input("1.34", "1.36", "a 1.31 1.36"), []string{
			"Workers: a 1.31->1.34", "ControlPlane: 1.34->1.35", "ControlPlane: 1.35->1.36", "Workers: a 1.34->1.36",
		}},
		"groups at three versions share their stops": {input("1.31", "1.35", "a 1.31 1.35", "b 1.30 1.35", "c 1.28 1.35"), []string{
			"Workers: c 1.28->1.31", "ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33",
			"Workers: a 1.31->1.33, b 1.30->1.33, c 1.31->1.33", "ControlPlane: 1.33->1.34", "ControlPlane: 1.34->1.35",
			"Workers: a 1.33->1.35, b 1.33->1.35, c 1.33->1.35",
		}},
		"a group never has a rollout more to save a stop": {input("1.31", "1.35", "a 1.29 1.35", "b 1.31 1.34"), []string{
			"ControlPlane: 1.31->1.32", "Workers: a 1.29->1.32", "ControlPlane: 1.32->1.33", "ControlPlane: 1.33->1.34",
			"Workers: b 1.31->1.34", "ControlPlane: 1.34->1.35", "Workers: a 1.32->1.35",
		}},
		"groups move in the order of the spec": {input("1.34", "1.34", "c 1.33 1.34", "a 1.32 1.34", "b 1.33 1.34"), []string{
			"Workers: c 1.33->1.34, a 1.32->1.34, b 1.33->1.34",
		}},
		"seven minors": {input("1.28", "1.35", "a 1.28 1.35"), []string{
			"ControlPlane: 1.28->1.29", "ControlPlane: 1.29->1.30", "ControlPlane: 1.30->1.31", "Workers: a 1.28->1.31",
			"ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33", "ControlPlane: 1.33->1.34", "Workers: a 1.31->1.34",
			"ControlPlane: 1.34->1.35", "Workers: a 1.34->1.35",
		}},
	})
}

// TestGroupPolicies: the policy of the cluster, and the older one of Kubernetes.
func TestGroupPolicies(t *testing.T) {
	t.Parallel()
	threeMinors := []string{
		"ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33", "ControlPlane: 1.33->1.34", "Workers: a 1.31->1.34", "ControlPlane: 1.34->1.35", "Workers: a 1.34->1.35",
	}
	testPossible(t, short, map[string]possible{
		"no lag of its own":    {input("1.31", "1.35", "a 1.31 1.35"), threeMinors},
		"3 minors":             {with(input("1.31", "1.35", "a 1.31 1.35"), maxLag(3)), threeMinors},
		"5 minors are no more": {with(input("1.31", "1.35", "a 1.31 1.35"), maxLag(5)), threeMinors},
		"2 minors, four to go": {with(input("1.31", "1.35", "a 1.31 1.35"), maxLag(2)), []string{
			"ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33", "Workers: a 1.31->1.33", "ControlPlane: 1.33->1.34", "ControlPlane: 1.34->1.35", "Workers: a 1.33->1.35",
		}},
		"1 minor": {with(input("1.31", "1.34", "a 1.31 1.34"), maxLag(1)), []string{
			"ControlPlane: 1.31->1.32", "Workers: a 1.31->1.32", "ControlPlane: 1.32->1.33", "Workers: a 1.32->1.33", "ControlPlane: 1.33->1.34", "Workers: a 1.33->1.34",
		}},
		"nodes older than 1.25 may lag by two": {input("1.23", "1.27", "a 1.23 1.27"), []string{
			"ControlPlane: 1.23->1.24", "ControlPlane: 1.24->1.25", "Workers: a 1.23->1.25", "ControlPlane: 1.25->1.26", "ControlPlane: 1.26->1.27", "Workers: a 1.25->1.27",
		}},
		"nodes of 1.24 may lag by two": {input("1.24", "1.27", "a 1.24 1.27"), []string{
			"ControlPlane: 1.24->1.25", "ControlPlane: 1.25->1.26", "Workers: a 1.24->1.26", "ControlPlane: 1.26->1.27", "Workers: a 1.26->1.27",
		}},
		"nodes of 1.25 may lag by three": {input("1.25", "1.28", "a 1.25 1.28", "b 1.25 1.25"), []string{
			"ControlPlane: 1.25->1.26", "ControlPlane: 1.26->1.27", "ControlPlane: 1.27->1.28", "Workers: a 1.25->1.28",
		}},
		"nodes older than 1.25 with 1 minor": {with(input("1.24", "1.26", "a 1.24 1.26"), maxLag(1)), []string{
			"ControlPlane: 1.24->1.25", "Workers: a 1.24->1.25", "ControlPlane: 1.25->1.26", "Workers: a 1.25->1.26",
		}},
	})
}

// TestPatches: full versions count.
func TestPatches(t *testing.T) {
	t.Parallel()
	several := bundles("1.33.1", "1.31.9", "1.32.5", "1.33.4", "1.32.7", "1.32.0", "1.31.2", "1.34.3", "1.34.10", "1.34.9", "1.35.0")
	testPossible(t, short, map[string]possible{
		"patch only": {with(input("1.31.2", "1.31.9", "a 1.31.2 1.31.9", "b 1.31.2 1.31.2"), several), []string{
			"ControlPlane: 1.31.2->1.31.9", "Workers: a 1.31.2->1.31.9",
		}},
		"only a group is behind by a patch": {with(input("1.31.9", "1.31.9", "a 1.31.2 1.31.9"), several), []string{"Workers: a 1.31.2->1.31.9"}},
		"through the newest patch of each minor": {with(input("1.31.2", "1.35", "a 1.31.2 1.35"), several), []string{
			"ControlPlane: 1.31.2->1.32.7", "ControlPlane: 1.32.7->1.33.4", "ControlPlane: 1.33.4->1.34.10",
			"Workers: a 1.31.2->1.34.10", "ControlPlane: 1.34.10->1.35", "Workers: a 1.34.10->1.35",
		}},
		"to the target exactly": {with(input("1.31.2", "1.33.1", "a 1.31.2 1.33.1"), several), []string{
			"ControlPlane: 1.31.2->1.32.7", "ControlPlane: 1.32.7->1.33.1", "Workers: a 1.31.2->1.33.1",
		}},
		"a forced hop goes to the live patch": {with(input("1.31.2", "1.32.5", "a 1.28.4 1.32.5"), several), []string{
			"Workers: a 1.28.4->1.31.2", "ControlPlane: 1.31.2->1.32.5", "Workers: a 1.31.2->1.32.5",
		}},
		"a pin is not ahead by a patch either": {with(input("1.31.2", "1.33.4", "a 1.31.2 1.32.9"), several), []string{
			"ControlPlane: 1.31.2->1.32.7", "ControlPlane: 1.32.7->1.33.4", "Workers: a 1.31.2->1.32.9",
		}},
	})
}

// TestBuilds: a build is part of a version.
func TestBuilds(t *testing.T) {
	t.Parallel()
	tests := map[string]possible{
		"builds are versions": {input("1.31.2+a.9", "1.31.2+a.10", "a 1.31.2+a.9 1.31.2+a.10"), []string{
			"ControlPlane: 1.31.2+a.9->1.31.2+a.10", "Workers: a 1.31.2+a.9->1.31.2+a.10",
		}},
		"the newest build of a minor": {with(input("1.31.2", "1.33.1", "a 1.31.2 1.33.1"), bundles("1.32.7+a.10", "1.32.7+a.9", "1.32.7", "1.33.1")), []string{
			"ControlPlane: 1.31.2->1.32.7+a.10", "ControlPlane: 1.32.7+a.10->1.33.1", "Workers: a 1.31.2->1.33.1",
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := plan.Compute(test.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, short(got)); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMissingBuild: releases without the build of a provider are none of its releases.
func TestMissingBuild(t *testing.T) {
	t.Parallel()
	testImpossible(t, map[string]impossible{
		"of a provider": {with(input("1.31.2+rke2r1", "1.33.1+rke2r1"), bundles("1.31.2+rke2r1")), []string{
			"control plane: it goes from v1.31.2+rke2r1 to v1.33.1+rke2r1 one minor at a time, and there is no versions bundle of 1.32 with a build such as +rke2r1; use a file that has it with --bundles, or go no further than 1.31",
		}},
	})
}

// TestWhy: every step says why it is taken.
func TestWhy(t *testing.T) {
	t.Parallel()
	testPossible(t, reasons, map[string]possible{
		"everything": {input("1.31", "1.35", "a 1.31 1.35", "b 1.28 1.33", "c - 1.32", "d 1.30 -"), []string{
			"Workers: before the control plane goes to v1.32.0: b would be too old for it",
			"ControlPlane: on the way to v1.35.0: the control plane moves one minor at a time",
			"CreateWorkers: new in the spec",
			"ControlPlane: on the way to v1.35.0: the control plane moves one minor at a time",
			"RemoveWorkers: no longer in the spec, and too old for a control plane at v1.34.0",
			"ControlPlane: on the way to v1.35.0: the control plane moves one minor at a time",
			"Workers: before the control plane goes to v1.35.0: a, b would be too old for it",
			"ControlPlane: the version that is asked for",
			"Workers: the version that is asked for",
		}},
		"moved with others": {input("1.31", "1.35", "a 1.31 1.35", "b 1.30 1.35"), []string{
			"ControlPlane: on the way to v1.35.0: the control plane moves one minor at a time",
			"ControlPlane: on the way to v1.35.0: the control plane moves one minor at a time",
			"Workers: before the control plane goes to v1.34.0: b would be too old for it",
			"ControlPlane: on the way to v1.35.0: the control plane moves one minor at a time",
			"ControlPlane: the version that is asked for",
			"Workers: the version that is asked for",
		}},
		"patch only": {input("1.31.1", "1.31.2", "a 1.31.1 1.31.2"), []string{
			"ControlPlane: the version that is asked for", "Workers: the version that is asked for",
		}},
	})
}

// TestScales: a group that loses machines scales as one that gets some.
func TestScales(t *testing.T) {
	t.Parallel()
	got := map[string]bool{
		"none":    plan.Group{MachinesReplaced: 3}.Scales(),
		"added":   plan.Group{MachinesAdded: 1}.Scales(),
		"removed": plan.Group{MachinesRemoved: 1}.Scales(),
	}
	if diff := cmp.Diff(map[string]bool{"none": false, "added": true, "removed": true}, got); diff != "" {
		t.Errorf("which groups scale (-want +got):\n%s", diff)
	}
}
