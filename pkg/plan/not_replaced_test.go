package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// TestInPlace: machines that get their version in place are not replaced, unless something
// else replaces them.
func TestInPlace(t *testing.T) {
	t.Parallel()
	inPlace := func(in *plan.Input) {
		in.Start.ControlPlane.InPlace = true
		group := in.Start.WorkerNodeGroups["a"]
		group.InPlace = true
		in.Start.WorkerNodeGroups["a"] = group
	}
	testPossible(t, long, map[string]possible{
		"versions": {with(input("1.31", "1.33", "a 1.31 1.33", "b 1.31 1.33"), inPlace), []string{
			"ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33", "Workers: a 1.31->1.33; b 1.31->1.33 replaces 3", "all: control plane +0 -0 ~0, workers +0 -0 ~3",
		}},
		"and a template": {with(input("1.31", "1.32", "a 1.31 1.32"), inPlace, changed("a", "t", "")), []string{
			"ControlPlane: 1.31->1.32", "Workers: a 1.31->1.32 replaces 3 [t]", "all: control plane +0 -0 ~0, workers +0 -0 ~3",
		}},
	})
	got, err := plan.Compute(with(input("1.31", "1.32", "a 1.31 1.32", "b 1.31 1.32"), inPlace))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"the machines of the control plane get their version in place: none is replaced", "the machines of a get their version in place: none is replaced"}
	if diff := cmp.Diff(want, got.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

// TestAnyPatch: the control plane of a cloud has minors, and nodes have patches of them.
func TestAnyPatch(t *testing.T) {
	t.Parallel()
	minors := func(from, to uint64) func(*plan.Input) {
		return func(in *plan.Input) {
			minor := func(number uint64) v1alpha1.Version {
				return v1alpha1.MinorVersion(v1alpha1.Minor{Major: 1, Minor: number})
			}
			in.Start.ControlPlane = part(minor(from), 0)
			in.Target.ControlPlane, in.Target.ControlPlaneMachines = minor(to), 0
			for number := from; number <= to; number++ {
				in.Releases = append(in.Releases, minor(number))
			}
		}
	}
	testPossible(t, short, map[string]possible{
		"without groups": {with(input("1.31", "1.33"), minors(31, 33)), []string{"ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33"}},
		"groups at patches": {with(input("1.31", "1.33", "a 1.31.4 1.33.2"), minors(31, 33), bundles("1.31.9", "1.32.7", "1.33.2"), minors(31, 33)), []string{
			"ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33", "Workers: a 1.31.4->1.33.2",
		}},
		"a group that would be left behind": {with(input("1.30", "1.34", "a 1.30.4 1.34.1"), bundles("1.30.9", "1.31.9", "1.32.7", "1.33.2", "1.34.1"), minors(30, 34)), []string{
			"ControlPlane: 1.30->1.31", "ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33", "Workers: a 1.30.4->1.33.2", "ControlPlane: 1.33->1.34", "Workers: a 1.33.2->1.34.1",
		}},
	})
}
