package plan_test

import (
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// TestMembership: groups that come and go.
func TestMembership(t *testing.T) {
	t.Parallel()
	testPossible(t, short, map[string]possible{
		"a new group that follows comes last": {input("1.31", "1.33", "a 1.31 1.33", "b - 1.33"), []string{
			"ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33", "Workers: a 1.31->1.33", "CreateWorkers: b -->1.33",
		}},
		"a new group that follows, and nothing else": {input("1.31", "1.31", "a - 1.31"), []string{"CreateWorkers: a -->1.31"}},
		"a new pin that is legal comes first": {input("1.31", "1.33", "a 1.31 1.33", "b - 1.30"), []string{
			"CreateWorkers: b -->1.30", "ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33", "Workers: a 1.31->1.33",
		}},
		"a new pin comes as soon as it is legal": {input("1.31", "1.34", "a - 1.32", "b - 1.33", "c - 1.32"), []string{
			"ControlPlane: 1.31->1.32", "CreateWorkers: a -->1.32, c -->1.32", "ControlPlane: 1.32->1.33", "CreateWorkers: b -->1.33", "ControlPlane: 1.33->1.34",
		}},
		"a new pin waits for a newer patch": {with(input("1.31", "1.34", "a - 1.32.6"), bundles("1.32.5", "1.33.1", "1.34")), []string{
			"ControlPlane: 1.31->1.32.5", "ControlPlane: 1.32.5->1.33.1", "CreateWorkers: a -->1.32.6", "ControlPlane: 1.33.1->1.34",
		}},
		"a group that is removed goes last": {input("1.31", "1.33", "a 1.31 1.33", "b 1.31 -"), []string{
			"ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33", "Workers: a 1.31->1.33", "RemoveWorkers: b 1.31->-",
		}},
		"removals come after additions": {input("1.31", "1.31", "a 1.31 -", "b - 1.31", "c 1.30 -"), []string{
			"CreateWorkers: b -->1.31", "RemoveWorkers: a 1.31->-, c 1.30->-",
		}},
		"a group with another name": {input("1.31", "1.32", "old 1.31 -", "new - 1.32"), []string{
			"ControlPlane: 1.31->1.32", "CreateWorkers: new -->1.32", "RemoveWorkers: old 1.31->-",
		}},
		"removals are earlier only where they must be": {input("1.31", "1.35", "a 1.30 -", "b 1.31 -", "c 1.32 -", "d - 1.35", "e 1.31 1.35"), []string{
			"ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33", "RemoveWorkers: a 1.30->-", "ControlPlane: 1.33->1.34",
			"Workers: e 1.31->1.34", "RemoveWorkers: b 1.31->-", "ControlPlane: 1.34->1.35",
			"Workers: e 1.34->1.35", "CreateWorkers: d -->1.35", "RemoveWorkers: c 1.32->-",
		}},
		"an addition at the stop of a forced removal comes before it": {input("1.31", "1.34", "a 1.30 -", "b - 1.33"), []string{
			"ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33", "CreateWorkers: b -->1.33", "RemoveWorkers: a 1.30->-", "ControlPlane: 1.33->1.34",
		}},
		"all groups are removed": {input("1.31", "1.32", "a 1.31 -", "b 1.31 -"), []string{"ControlPlane: 1.31->1.32", "RemoveWorkers: a 1.31->-, b 1.31->-"}},
		"the policy of the cluster removes earlier": {with(input("1.31", "1.33", "a 1.31 -"), maxLag(1)), []string{
			"ControlPlane: 1.31->1.32", "RemoveWorkers: a 1.31->-", "ControlPlane: 1.32->1.33",
		}},
		"the oldest machine of a group that is removed counts": {with(input("1.31", "1.32", "a 1.31 -"), underWay("a", "1.28", 1, 2)), []string{
			"RemoveWorkers: a 1.31->-", "ControlPlane: 1.31->1.32",
		}},
	})
}

func TestWhyMembership(t *testing.T) {
	t.Parallel()
	testPossible(t, reasons, map[string]possible{
		"earlier than additions": {input("1.33", "1.34", "a 1.30 -", "b - 1.34", "c 1.33 -"), []string{
			"RemoveWorkers: no longer in the spec, and too old for a control plane at v1.34.0",
			"ControlPlane: the version that is asked for",
			"CreateWorkers: new in the spec",
			"RemoveWorkers: no longer in the spec",
		}},
	})
}

// TestOldestFollowing: neither pinned groups nor new ones count.
func TestOldestFollowing(t *testing.T) {
	t.Parallel()
	pinned := func(in *plan.Input) {
		for i, group := range in.Target.WorkerNodeGroups {
			in.Target.WorkerNodeGroups[i].Pinned = group.Name == "pin"
		}
	}
	for name, test := range map[string]struct {
		in   plan.Input
		want string // empty where there is none
	}{
		"the oldest one":         {input("1.33", "1.34", "a 1.32 1.34", "b 1.31 1.34", "c 1.33 1.34"), "1.31"},
		"not one that is pinned": {with(input("1.33", "1.34", "pin 1.30 1.30", "b 1.32 1.34"), pinned), "1.32"},
		"not one that is new":    {input("1.33", "1.34", "a - 1.31", "b 1.33 1.34"), "1.33"},
		"all are pinned":         {with(input("1.33", "1.34", "pin 1.30 1.30"), pinned), ""},
	} {
		got := test.in.Membership().OldestFollowing()
		if test.want == "" && !got.IsZero() || test.want != "" && got != version(test.want) {
			t.Errorf("%s: %s, want %q", name, got, test.want)
		}
	}
}
