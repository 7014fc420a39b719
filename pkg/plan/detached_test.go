package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// detached are groups that the topology does not have.
func detached(names ...string) func(*plan.Input) { return partly(true, false, names...) }

// halfWay are groups whose detaching, or return, was stopped.
func halfWay(out bool, names ...string) func(*plan.Input) { return partly(out, true, names...) }

func partly(out, between bool, names ...string) func(*plan.Input) {
	return func(in *plan.Input) {
		for _, name := range names {
			part := in.Start.WorkerNodeGroups[name]
			part.Detached, part.Between = out, between
			in.Start.WorkerNodeGroups[name] = part
		}
	}
}

// pinnedTo makes groups pinned that are where the cluster goes.
func pinnedTo(names ...string) func(*plan.Input) {
	return func(in *plan.Input) {
		for i, group := range in.Target.WorkerNodeGroups {
			for _, name := range names {
				in.Target.WorkerNodeGroups[i].Pinned = group.Pinned || group.Name == name
			}
		}
	}
}

// from is the version that the topology has.
func from(text string) func(*plan.Input) {
	return func(in *plan.Input) { in.TopologyPath.From = version(text) }
}

// TestPins: groups of a topology with versions of their own are taken out of it
// first, move when no leg is under way, and are given back when they are where the
// topology is.
func TestPins(t *testing.T) {
	t.Parallel()
	testPossible(t, short, map[string]possible{
		"pinned where it is": {
			with(input("1.31", "1.31", "a 1.31 1.31", "b 1.31 1.31"), chain(), from("1.31"), pinnedTo("b")),
			[]string{"Detach: b 1.31->1.31"},
		},
		"pinned and detached: nothing to do": {
			with(input("1.31", "1.31", "a 1.31 1.31", "b 1.31 1.31"), chain(), from("1.31"), pinnedTo("b"), detached("b")),
			[]string{},
		},
		"detaching was stopped": {
			with(input("1.31", "1.31", "b 1.31 1.31"), chain(), from("1.31"), pinnedTo("b"), halfWay(true, "b")),
			[]string{"Detach: b 1.31->1.31"},
		},
		"detaching was stopped, and is taken back": {
			with(input("1.31", "1.31", "b 1.31 1.31"), chain(), from("1.31"), halfWay(true, "b")),
			[]string{"Return: b 1.31->1.31"},
		},
		"returning was stopped": {
			with(input("1.31", "1.31", "b 1.31 1.31"), chain(), from("1.31"), halfWay(false, "b")),
			[]string{"Return: b 1.31->1.31"},
		},
		"the cluster goes on around it": {
			with(input("1.31", "1.33", "a 1.31 1.33", "b 1.31 1.31"), chain("1.32 1.33/1.33"), from("1.31"), detached("b")),
			[]string{"ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33", "Workers: a 1.31->1.33"},
		},
		"pinned while the cluster goes on, scaled at once": {
			with(input("1.31", "1.32", "a 1.31 1.32", "b 1.31 1.31"), chain("1.32/1.32"), from("1.31"), counts("b", 5)),
			[]string{"Detach: b 1.31->1.31", "InPlace (beside): b -->-", "ControlPlane: 1.31->1.32", "Workers: a 1.31->1.32"},
		},
		"the pin is raised": {
			with(input("1.34", "1.34", "a 1.34 1.34", "b 1.31 1.33"), chain(), from("1.34"), detached("b")),
			[]string{"Workers: b 1.31->1.33"},
		},
		"the pin is taken away": {
			with(input("1.34", "1.34", "a 1.34 1.34", "b 1.33 1.34"), chain(), from("1.34"), detached("b")),
			[]string{"Workers: b 1.33->1.34", "Return: b 1.34->1.34"},
		},
		"the pin is taken away where versions are equal, and the cluster goes on": {
			with(input("1.34", "1.35", "a 1.34 1.35", "b 1.34 1.35"), chain("1.35/1.35"), from("1.34"), detached("b")),
			[]string{"Return: b 1.34->1.34", "ControlPlane: 1.34->1.35", "Workers: a 1.34->1.35, b 1.34->1.35"},
		},
		"the pin is taken away, and the cluster goes on": {
			with(input("1.34", "1.35", "a 1.34 1.35", "b 1.33 1.35"), chain("1.35/1.35"), from("1.34"), detached("b")),
			[]string{"ControlPlane: 1.34->1.35", "Workers: a 1.34->1.35", "Workers: b 1.33->1.35", "Return: b 1.35->1.35"},
		},
		"one is pinned, another one given back": {
			with(input("1.34", "1.34", "a 1.34 1.34", "b 1.34 1.34"), chain(), from("1.34"), pinnedTo("a"), detached("b")),
			[]string{"Detach: a 1.34->1.34", "Return: b 1.34->1.34"},
		},
		"moved before the control plane would leave it behind": {
			with(input("1.34", "1.36", "a 1.34 1.36", "b 1.31 1.33"), chain("1.35 1.36/1.36"), from("1.34"), detached("b")),
			[]string{"Workers: b 1.31->1.33", "ControlPlane: 1.34->1.35", "ControlPlane: 1.35->1.36", "Workers: a 1.34->1.36"},
		},
		"a halt for one that cannot wait": {
			with(input("1.31", "1.36", "a 1.31 1.36", "b 1.31 1.33"), chain("1.32 1.33 1.34/1.34", "1.35 1.36/1.36"), from("1.31"), detached("b")),
			[]string{
				"ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33", "ControlPlane: 1.33->1.34", "Workers: a 1.31->1.34", "Workers: b 1.31->1.33",
				"ControlPlane: 1.34->1.35", "ControlPlane: 1.35->1.36", "Workers: a 1.34->1.36",
			},
		},
		"a new group of its own": {
			with(input("1.33", "1.34", "a 1.33 1.34", "n - 1.32"), chain("1.34/1.34"), from("1.33")),
			[]string{"CreateWorkers: n -->1.32", "ControlPlane: 1.33->1.34", "Workers: a 1.33->1.34"},
		},
		"a new group of its own, newer than the cluster now": {
			with(input("1.32", "1.34", "a 1.32 1.34", "n - 1.33"), chain("1.33 1.34/1.34"), from("1.32")),
			[]string{"ControlPlane: 1.32->1.33", "ControlPlane: 1.33->1.34", "Workers: a 1.32->1.34", "CreateWorkers: n -->1.33"},
		},
		"a new group of its own in the middle of an upgrade": {
			with(input("1.33", "1.35", "a 1.33 1.35", "n - 1.33"), chain("1.34 1.35/1.35"), from("1.35")),
			[]string{"CreateWorkers: n -->1.33", "ControlPlane: 1.33->1.34", "ControlPlane: 1.34->1.35", "Workers: a 1.33->1.35"},
		},
		"a detached group goes last": {
			with(input("1.33", "1.34", "a 1.33 1.34", "b 1.33 -"), chain("1.34/1.34"), from("1.33"), detached("b")),
			[]string{"ControlPlane: 1.33->1.34", "Workers: a 1.33->1.34", "RemoveWorkers: b 1.33->-"},
		},
		"a detached group goes first where it would be too old": {
			with(input("1.34", "1.35", "a 1.34 1.35", "b 1.31 -"), chain("1.35/1.35"), from("1.34"), detached("b")),
			[]string{"RemoveWorkers: b 1.31->-", "ControlPlane: 1.34->1.35", "Workers: a 1.34->1.35"},
		},
		"a rollout of its own goes on beside": {
			with(input("1.33", "1.34", "a 1.33 1.34", "b 1.33 1.33"), chain("1.34/1.34"), from("1.33"), detached("b"), underWay("b", "1.32", 2, 1)),
			[]string{"Workers (beside) (under way): b 1.32->1.33", "ControlPlane: 1.33->1.34", "Workers: a 1.33->1.34"},
		},
		"new machines for a pinned group, of which its class has others": {
			with(input("1.33", "1.33", "a 1.33 1.33", "b 1.32 1.32"), chain(), from("1.33"), detached("b"), changed("b", "x", ""), changed("a", "y", "")),
			[]string{"Template (beside): b 1.32->1.32", "Template (beside): a 1.33->1.33"},
		},
	})
	testImpossible(t, map[string]impossible{
		"in the middle of an upgrade": {
			with(input("1.33", "1.35", "a 1.31 1.35", "b 1.31 1.34"), chain("1.34 1.35/1.34 1.35"), from("1.35")),
			[]string{"group b: it would have to go to v1.34.0 while the control plane is at v1.34.0, but Cluster API, already upgrading to v1.35.0, does not stop there; wait until that upgrade is done, then pin the group"},
		},
		"left behind by an upgrade under way": {
			with(input("1.33", "1.35", "a 1.31 1.35", "b 1.31 1.31"), chain("1.34 1.35/1.34 1.35"), from("1.35")),
			[]string{"group b: it stays at v1.31.0, so the control plane cannot go to v1.35.0: the group must not be more than 3 minors older than the control plane (v1.35.0); use v1.34.0 at most, or upgrade the group to 1.32 or newer"},
		},
	})
}

// TestIntermediateVersions: where the topology has to stop for groups outside of it.
func TestIntermediateVersions(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		in   plan.Input
		want []string
	}{
		"none":                          {with(input("1.31", "1.34", "a 1.31 1.34", "b 1.31 1.31"), chain("1.32 1.33 1.34/1.34"), from("1.31"), detached("b")), nil},
		"at the beginning":              {with(input("1.34", "1.36", "a 1.34 1.36", "b 1.31 1.33"), chain("1.35 1.36/1.36"), from("1.34"), detached("b")), nil},
		"on the way":                    {with(input("1.31", "1.36", "a 1.31 1.36", "b 1.31 1.33"), chain("1.32 1.33 1.34 1.35 1.36/1.34 1.36"), from("1.31"), detached("b")), []string{"v1.34.0"}},
		"at the end of a leg":           {with(input("1.31", "1.36", "a 1.31 1.36", "b 1.31 1.33"), chain("1.32 1.33 1.34/1.34", "1.35 1.36/1.36"), from("1.31"), detached("b")), nil},
		"for one that was pinned":       {with(input("1.32", "1.36", "a 1.32 1.36", "b 1.31 1.36"), chain("1.33 1.34 1.35 1.36/1.35 1.36"), from("1.32"), detached("b")), []string{"v1.34.0"}},
		"where there is no plan at all": {with(input("1.31", "1.36", "b 1.31 1.31"), chain("1.32 1.33 1.34 1.35 1.36/"), from("1.31"), detached("b")), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, version := range plan.IntermediateVersions(test.in) {
				got = append(got, version.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("halts (-want +got):\n%s", diff)
			}
		})
	}
}
