package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

func controlPlaneOnly(in *plan.Input) { in.Scope.ControlPlaneOnly = true }

func groupsOnly(names ...string) func(*plan.Input) {
	return func(in *plan.Input) { in.Scope.Groups = names }
}

// TestScope: what a plan is not about stays as it is, and counts.
func TestScope(t *testing.T) {
	t.Parallel()
	tests := map[string]possible{
		"the control plane only": {with(input("1.31", "1.34", "a 1.31 1.34", "b 1.32 1.34"), controlPlaneOnly), []string{
			"ControlPlane: 1.31->1.32 replaces 3", "ControlPlane: 1.32->1.33 replaces 3", "ControlPlane: 1.33->1.34 replaces 3",
			"all: control plane +0 -0 ~9, workers +0 -0 ~0",
		}},
		"the control plane only, nothing of groups": {
			with(input("1.31", "1.32", "a 1.31 1.32", "b - 1.31", "c 1.31 -"), controlPlaneOnly, counts("a", 5), counts("", 5),
				changed("a", "labels", "taints"), changed(controlPlaneName, "audit", "timeouts"), changed("", "", "endpoint")),
			[]string{
				"InPlace (beside): -->- [endpoint]",
				"ControlPlane: 1.31->1.32 replaces 3 adds 2 [audit timeouts]",
				"all: control plane +2 -0 ~3, workers +0 -0 ~0",
			},
		},
		"the control plane only, after what is under way": {with(input("1.32", "1.33", "a 1.31 1.33", "b 1.31 1.31"), controlPlaneOnly, underWay("", "1.31", 1, 2), underWay("b", "1.30", 1, 2)), []string{
			"ControlPlane (under way): 1.31->1.32 replaces 1",
			"Workers (under way): b 1.30->1.31 replaces 1",
			"ControlPlane: 1.32->1.33 replaces 3",
			"all: control plane +0 -0 ~4, workers +0 -0 ~1",
		}},
		"a group": {with(input("1.34", "1.34", "a 1.31 1.34", "b 1.31 1.34"), groupsOnly("b")), []string{
			"Workers: b 1.31->1.34 replaces 3", "all: control plane +0 -0 ~0, workers +0 -0 ~3",
		}},
		"groups, in the order of the spec": {with(input("1.34", "1.34", "a 1.31 1.34", "b 1.31 1.34", "c 1.33 1.33"), groupsOnly("c", "b", "a")), []string{
			"Workers: a 1.31->1.34 replaces 3; b 1.31->1.34 replaces 3", "all: control plane +0 -0 ~0, workers +0 -0 ~6",
		}},
		"a pinned group before the control plane": {with(input("1.31", "1.35", "a 1.29 1.31", "b 1.31 1.35"), groupsOnly("a")), []string{
			"Workers: a 1.29->1.31 replaces 3", "all: control plane +0 -0 ~0, workers +0 -0 ~3",
		}},
		"a group, nothing of others": {
			with(input("1.31", "1.31", "a 1.31 1.31", "b 1.31 1.31", "c - 1.31", "d 1.31 -"), groupsOnly("a"), counts("a", 5), counts("b", 5), counts("", 5),
				changed("a", "labels", "taints"), changed("b", "labels", "taints"), changed(controlPlaneName, "audit", "timeouts"), changed("", "", "endpoint")),
			[]string{
				"InPlace (beside): a -->- adds 2 [taints]",
				"Template (beside): a 1.31->1.31 replaces 5 [labels]",
				"all: control plane +0 -0 ~0, workers +2 -0 ~5",
			},
		},
		"a new group": {with(input("1.31", "1.31", "a 1.30 1.31", "b - 1.31"), groupsOnly("b")), []string{
			"CreateWorkers: b -->1.31 adds 3", "all: control plane +0 -0 ~0, workers +3 -0 ~0",
		}},
		"a group goes back": {with(input("1.34", "1.34", "a 1.34 1.33", "b 1.33 1.34"), groupsOnly("a"), underWay("a", "1.33", 3, 0)), []string{
			"Workers: a 1.34->1.33", "all: control plane +0 -0 ~0, workers +0 -0 ~0",
		}},
		"a group, beside what is under way elsewhere": {with(input("1.34", "1.34", "a 1.33 1.34", "b 1.34 1.34"), groupsOnly("a"), underWay("b", "1.33", 2, 1)), []string{
			"Workers: a 1.33->1.34 replaces 3",
			"all: control plane +0 -0 ~0, workers +0 -0 ~3",
		}},
		"a group, after what is under way of it and of the control plane": {with(input("1.34", "1.34", "a 1.33 1.34"), groupsOnly("a"), underWay("a", "1.32", 2, 1), underWay("", "1.33", 1, 2)), []string{
			"ControlPlane (under way): 1.33->1.34 replaces 1",
			"Workers (under way): a 1.32->1.33 replaces 2",
			"Workers: a 1.33->1.34 replaces 3",
			"all: control plane +0 -0 ~1, workers +0 -0 ~5",
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := plan.Compute(test.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, long(got)); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			if diff := difference(got.To, got.Versions(len(got.Steps))); diff != "" {
				t.Errorf("the versions of its end are not the target (-target +got):\n%s", diff)
			}
		})
	}
}

// TestScopeNoPlan: a part alone cannot break the policy, and the error says how far
// it can go.
func TestScopeNoPlan(t *testing.T) {
	t.Parallel()
	testImpossible(t, map[string]impossible{
		"groups would be left behind by the control plane": {with(input("1.31", "1.35", "a 1.31 1.35", "b 1.30 1.35", "c 1.32 1.35"), controlPlaneOnly), []string{
			"group a: it stays at v1.31.0, so the control plane cannot go to v1.35.0: the group must not be more than 3 minors older than the control plane (v1.35.0); use v1.34.0 at most, or upgrade the group to 1.32 or newer",
			"group b: it stays at v1.30.0, so the control plane cannot go to v1.34.0: the group must not be more than 3 minors older than the control plane (v1.34.0); use v1.33.0 at most, or upgrade the group to 1.32 or newer",
		}},
		"a group that the file removes would be left behind": {with(input("1.31", "1.35", "a 1.31 -"), controlPlaneOnly), []string{
			"group a: it stays at v1.31.0, so the control plane cannot go to v1.35.0: the group must not be more than 3 minors older than the control plane (v1.35.0); use v1.34.0 at most, or upgrade the group to 1.32 or newer",
		}},
		"a group before the control plane": {with(input("1.31", "1.34", "a 1.30 1.34", "b 1.30 1.34"), groupsOnly("a")), []string{
			"group a: it cannot go to v1.34.0 before the control plane does, which is at v1.31.0; alone it can go to v1.31.0 at most: upgrade the control plane first, with --control-plane-only, or leave --worker-node-groups out",
		}},
		"groups that there are not": {with(input("1.31", "1.31", "a 1.30 1.31", "b 1.31 -"), groupsOnly("x", "b", "a")), []string{
			"group x: the file has no such worker node group", "group b: the file has no such worker node group",
		}},
		"a new group before the control plane": {with(input("1.31", "1.32", "a - 1.32"), groupsOnly("a")), []string{
			"group a: it cannot go to v1.32.0 before the control plane does, which is at v1.31.0; alone it can go to v1.31.0 at most: upgrade the control plane first, with --control-plane-only, or leave --worker-node-groups out",
		}},
		"a group down": {with(input("1.34", "1.35", "a 1.33 1.32"), groupsOnly("a")), []string{
			"group a: v1.32.0 is older than v1.33.0, which it already has; downgrades are not supported: use v1.33.0 or newer",
		}},
	})
}

// TestScopeInOrder: the parts one after the other come to the whole.
func TestScopeInOrder(t *testing.T) {
	t.Parallel()
	in := input("1.31", "1.34", "a 1.31 1.34", "b 1.31 1.33", "c 1.31 1.34")
	whole := in.Target
	for _, scope := range []plan.Scope{{ControlPlaneOnly: true}, {Groups: []string{"c"}}, {Groups: []string{"a", "b"}}} {
		in.Scope = scope
		got, err := plan.Compute(in)
		if err != nil {
			t.Fatal(err)
		}
		versions := got.Versions(len(got.Steps))
		in.Start.ControlPlane = part(versions.ControlPlane, 3)
		for name, v := range versions.WorkerNodeGroups {
			in.Start.WorkerNodeGroups[name] = part(v, 3)
		}
	}
	in.Scope = plan.Scope{}
	if diff := difference(whole, in.Target); diff != "" {
		t.Errorf("the target was written to (-before +after):\n%s", diff)
	}
	got, err := plan.Compute(in)
	if err != nil || !got.Empty() {
		t.Errorf("left: %v, %v", short(got), err)
	}
}

// TestConcurrentUnderWay: a rollout that goes on already holds up no other group, as long as
// more groups may move at the same time.
func TestConcurrentUnderWay(t *testing.T) {
	t.Parallel()
	concurrency := func(n int) func(*plan.Input) { return func(in *plan.Input) { in.Concurrency = n } }
	tests := map[string]struct {
		in   plan.Input
		want []string
	}{
		"one at a time":                          {with(input("1.34", "1.34", "a 1.34 1.34", "b 1.33 1.34"), concurrency(1), underWay("a", "1.33", 2, 1)), []string{"a", "b"}},
		"two":                                    {with(input("1.34", "1.34", "a 1.34 1.34", "b 1.33 1.34"), concurrency(2), underWay("a", "1.33", 2, 1)), []string{"a under way, b"}},
		"two, and nothing comes after it":        {with(input("1.34", "1.34", "a 1.34 1.34"), concurrency(2), underWay("a", "1.33", 2, 1)), []string{"a"}},
		"two, and the one under way moves again": {with(input("1.34", "1.34", "a 1.33 1.34", "b 1.33 1.34"), concurrency(2), underWay("a", "1.32", 2, 1)), []string{"a under way, b", "a"}},
		"two, and only the one under way moves again": {with(input("1.34", "1.34", "a 1.33 1.34"), concurrency(2), underWay("a", "1.32", 2, 1)), []string{"a", "a"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := plan.Compute(test.in)
			if err != nil {
				t.Fatal(err)
			}
			var steps []string
			for _, step := range got.Steps {
				var groups []string
				for _, group := range step.WorkerNodeGroups {
					text := group.Name
					if group.UnderWay {
						text += " under way"
					}
					groups = append(groups, text)
				}
				steps = append(steps, strings.Join(groups, ", "))
			}
			if diff := cmp.Diff(test.want, steps); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			if diff := difference(got.To, got.Versions(len(got.Steps))); diff != "" {
				t.Errorf("the versions of its end are not the target (-target +got):\n%s", diff)
			}
		})
	}
}
