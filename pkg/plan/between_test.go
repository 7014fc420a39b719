package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestBetween: a cluster is before or after a step if each part that Cluster API upgrades is. A new
// group may be there early, and one that goes may be at any version.
func TestBetween(t *testing.T) {
	t.Parallel()
	v := v1alpha1.MustParseVersion
	old, next := v("v1.33.1"), v("v1.34.1")
	p := Plan{
		From: v1alpha1.ClusterVersions{ControlPlane: old, WorkerNodeGroups: map[string]v1alpha1.Version{"a": old}},
		To:   v1alpha1.ClusterVersions{ControlPlane: next, WorkerNodeGroups: map[string]v1alpha1.Version{"a": next, "new": next}},
		Steps: []Step{
			{Kind: ControlPlane, From: old, To: next},
			{Kind: Workers, WorkerNodeGroups: []Group{{Name: "a", From: old, To: next}}},
			{Kind: CreateWorkers, WorkerNodeGroups: []Group{{Name: "new", To: next}}},
		},
	}
	group := func(name string, version v1alpha1.Version) state.Part {
		return state.Part{Name: name, Version: version}
	}
	cluster := func(controlPlane v1alpha1.Version, groups ...state.Part) state.Cluster {
		return state.Cluster{ControlPlane: group(v1alpha1.ControlPlaneName, controlPlane), WorkerNodeGroups: groups}
	}
	unmanaged, detached := group("x", v("v1.30.1")), group("a", v("v1.30.1"))
	unmanaged.Unmanaged, detached.Detached = true, true
	for name, test := range map[string]struct {
		cluster state.Cluster
		want    []bool // for each step, and after the last one
	}{
		"nothing moved":                  {cluster(old, group("a", old)), []bool{true, false, false, false}},
		"the control plane moved":        {cluster(next, group("a", old)), []bool{true, true, false, false}},
		"all moved":                      {cluster(next, group("a", next)), []bool{false, true, true, false}},
		"all moved and the new one made": {cluster(next, group("a", next), group("new", next)), []bool{false, true, true, true}},
		"the new one made early":         {cluster(next, group("a", old), group("new", next)), []bool{true, true, false, false}},
		"the new one at another version": {cluster(next, group("a", old), group("new", old)), []bool{false, false, false, false}},
		"a group at another version":     {cluster(next, group("a", v("v1.35.1"))), []bool{false, false, false, false}},
		"the group is not there":         {cluster(old), []bool{false, false, false, false}},
		"a group that goes":              {cluster(old, group("a", old), group("gone", v("v1.30.1"))), []bool{true, false, false, false}},
		"an unmanaged group":             {cluster(old, group("a", old), unmanaged), []bool{true, false, false, false}},
		"a detached group":               {cluster(old, detached), []bool{true, false, false, false}},
	} {
		var got []bool
		for step := range len(p.Steps) + 1 {
			got = append(got, p.between(step, test.cluster))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestOrders: steps keep their order among those of one mover.
func TestOrders(t *testing.T) {
	t.Parallel()
	steps := func() []Step {
		return []Step{{Reason: "a"}, {Reason: "b", Detached: true}, {Reason: "c"}, {Reason: "d", Detached: true}}
	}
	order := func(steps []Step) (names string) {
		for _, step := range steps {
			names += step.Reason
		}
		return names
	}
	if got, want := order(runFirst(steps())), "bdac"; got != want {
		t.Errorf("the steps of the run first: %s, want %s", got, want)
	}
	if got, want := order(topologyFirst(steps())), "acbd"; got != want {
		t.Errorf("the steps of Cluster API first: %s, want %s", got, want)
	}
}
