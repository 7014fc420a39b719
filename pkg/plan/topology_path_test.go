package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// chain makes the input one of a cluster from a ClusterClass; a leg is
// "control plane versions / worker versions".
func chain(legs ...string) func(*plan.Input) {
	return func(in *plan.Input) {
		in.TopologyPath = &plan.TopologyPath{}
		for _, leg := range legs {
			controlPlane, workers, _ := strings.Cut(leg, "/")
			l := plan.Segment{ControlPlane: versions(controlPlane), Workers: versions(workers)}
			l.Target = append(append([]v1alpha1.Version{}, l.ControlPlane...), l.Workers...)[len(l.ControlPlane)+len(l.Workers)-1]
			in.TopologyPath.Segments = append(in.TopologyPath.Segments, l)
		}
	}
}

func versions(text string) []v1alpha1.Version {
	var all []v1alpha1.Version
	for _, one := range strings.Fields(text) {
		all = append(all, version(one))
	}
	return all
}

// TestTopologyPath: a cluster from a ClusterClass has the steps of Cluster API, in its
// order.
func TestTopologyPath(t *testing.T) {
	t.Parallel()
	testPossible(t, short, map[string]possible{
		"nothing to do": {with(input("1.31", "1.31", "a 1.31 1.31"), chain()), []string{}},
		"one leg, with a stop of the workers": {
			with(input("1.31", "1.35", "a 1.31 1.35", "b 1.31 1.35"), chain("1.32 1.33 1.34 1.35/1.34 1.35")),
			[]string{"ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33", "ControlPlane: 1.33->1.34", "Workers: a 1.31->1.34, b 1.31->1.34", "ControlPlane: 1.34->1.35", "Workers: a 1.34->1.35, b 1.34->1.35"},
		},
		"two legs": {
			with(input("1.31", "1.33", "a 1.31 1.33"), chain("1.32/1.32", "1.33/1.33")),
			[]string{"ControlPlane: 1.31->1.32", "Workers: a 1.31->1.32", "ControlPlane: 1.32->1.33", "Workers: a 1.32->1.33"},
		},
		"another patch than the newest": {
			with(input("1.31", "1.33", "a 1.31 1.33"), chain("1.32.5 1.33/1.33")),
			[]string{"ControlPlane: 1.31->1.32.5", "ControlPlane: 1.32.5->1.33", "Workers: a 1.31->1.33"},
		},
		"workers are behind": {
			with(input("1.33", "1.33", "a 1.31 1.33", "b 1.33 1.33"), chain("/1.33")),
			[]string{"Workers: a 1.31->1.33"},
		},
		"stopped in the middle of a leg": {
			with(input("1.33", "1.35", "a 1.31 1.35"), chain("1.34 1.35/1.34 1.35"), underWay("", "1.32", 2, 1)),
			[]string{"ControlPlane (under way): 1.32->1.33", "ControlPlane: 1.33->1.34", "Workers: a 1.31->1.34", "ControlPlane: 1.34->1.35", "Workers: a 1.34->1.35"},
		},
		"new groups come last, removed ones go first": {
			with(input("1.31", "1.32", "a 1.31 1.32", "new - 1.32", "old 1.31 -"), chain("1.32/1.32")),
			[]string{"RemoveWorkers: old 1.31->-", "ControlPlane: 1.31->1.32", "Workers: a 1.31->1.32", "CreateWorkers: new -->1.32"},
		},
		"a new group of two legs comes with the first": {
			with(input("1.31", "1.33", "a 1.31 1.33", "new - 1.33"), chain("1.32/1.32", "1.33/1.33")),
			[]string{"ControlPlane: 1.31->1.32", "Workers: a 1.31->1.32", "CreateWorkers: new -->1.32", "ControlPlane: 1.32->1.33", "Workers: a 1.32->1.33, new 1.32->1.33"},
		},
		"other machines of all parts at once": {
			with(input("1.31", "1.31", "a 1.31 1.31"), chain(), changed("a", "x", ""), changed(v1alpha1.ControlPlaneName, "y", "")),
			[]string{"Template (beside): a 1.31->1.31", "Template (beside): 1.31->1.31"},
		},
	})
}

// TestTopologyPathReasons: Cluster API takes all groups to the end of a segment, whether
// or not the skew policy needs it.
func TestTopologyPathReasons(t *testing.T) {
	t.Parallel()
	testPossible(t, reasons, map[string]possible{
		"segments and a group of its own": {
			with(input("1.31", "1.33", "a 1.31 1.33", "b 1.31 1.32"), chain("1.32/1.32", "1.33/1.33"), from("1.31"), detached("b")),
			[]string{
				"ControlPlane: on the way to v1.33.0: the control plane moves one minor at a time",
				"Workers: before the topology gets its next version: Cluster API brings all parts to one version first",
				"ControlPlane: the version that is asked for",
				"Workers: the version that is asked for",
				"Workers: the version that is asked for",
			},
		},
	})
}

// TestTopologyPathTarget: while its parts go to a version, a topology has the version at
// the end of the leg.
func TestTopologyPathTarget(t *testing.T) {
	t.Parallel()
	in := with(input("1.31", "1.34"), chain("1.32 1.33/1.33", "1.34/1.34"))
	got := map[string]string{}
	for _, at := range []string{"1.31", "1.32", "1.33", "1.34", "1.35"} {
		got[at] = in.TopologyPath.Target(version(at)).String()
	}
	want := map[string]string{"1.31": "v1.33.0", "1.32": "v1.33.0", "1.33": "v1.33.0", "1.34": "v1.34.0", "1.35": "v1.35.0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
}

// TestFollow: how far a cluster is follows from its versions, and from whether
// its parts have come to rest.
func TestFollow(t *testing.T) {
	t.Parallel()
	p := compute(t, with(input("1.31", "1.33", "a 1.31 1.33", "b 1.31 1.33", "new - 1.33", "old 1.31 -"), chain("1.32 1.33/1.32 1.33")))
	const steps = "RemoveWorkers: old 1.31->-; ControlPlane: 1.31->1.32; Workers: a 1.31->1.32, b 1.31->1.32; ControlPlane: 1.32->1.33; Workers: a 1.32->1.33, b 1.32->1.33; CreateWorkers: new -->1.33"
	if got := strings.Join(short(p), "; "); got != steps {
		t.Fatalf("the plan is %s", got)
	}
	for name, test := range map[string]struct {
		before  int
		live    string // parts with their versions; a "~" behind one that is not at rest
		want    int
		planned bool
	}{
		"at the beginning":                       {0, "1.31 a=1.31 b=1.31 old=1.31", 0, true},
		"the removed group is gone":              {0, "1.31 a=1.31 b=1.31", 1, true},
		"the control plane begins":               {1, "1.32~ a=1.31 b=1.31", 1, true},
		"the removed group takes its time":       {0, "1.32~ a=1.31 b=1.31 old=1.31~", 1, true},
		"the control plane is there":             {1, "1.32 a=1.31 b=1.31", 2, true},
		"the first of two groups":                {2, "1.32 a=1.32~ b=1.31", 2, true},
		"the second of two groups":               {2, "1.32 a=1.32 b=1.32~", 2, true},
		"both groups":                            {2, "1.32 a=1.32 b=1.32", 3, true},
		"a step was not seen":                    {1, "1.33~ a=1.32 b=1.32", 3, true},
		"several steps were not seen":            {0, "1.33 a=1.33 b=1.33~", 4, true},
		"a new group comes beside the last step": {4, "1.33 a=1.33 b=1.32 new=1.33~", 4, true},
		"all but the new group":                  {4, "1.33 a=1.33 b=1.33", 5, true},
		"the new group comes":                    {5, "1.33 a=1.33 b=1.33 new=1.33~", 5, true},
		"the end":                                {5, "1.33 a=1.33 b=1.33 new=1.33", 6, true},
		"the end, seen at once":                  {0, "1.33 a=1.33 b=1.33 new=1.33", 6, true},
		"never back":                             {3, "1.32 a=1.31 b=1.31", 3, false},
		"another version of the control plane":   {1, "1.32.5~ a=1.31 b=1.31", 1, false},
		"another version of a group":             {2, "1.32 a=1.32.1~ b=1.31", 2, false},
		"versions that do not go together":       {1, "1.33~ a=1.31 b=1.31", 1, false},
		"a group that is wanted is gone":         {2, "1.32 a=1.32", 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, deviation := p.Follow(test.before, live(test.live))
			if got != test.want || (deviation == "") != test.planned {
				t.Errorf("%d steps are done (deviation %q), want %d (planned %t)", got, deviation, test.want, test.planned)
			}
		})
	}
}

// TestFollowDetached: Cluster API has no hand in a group that is out of the topology, which is
// at any version.
func TestFollowDetached(t *testing.T) {
	t.Parallel()
	p := compute(t, with(input("1.31", "1.32", "a 1.31 1.32", "b 1.31 1.31"), chain("1.32/1.32"), from("1.31"), detached("b"), pinnedTo("b")))
	c := live("1.32~ a=1.31 b=1.30")
	c.WorkerNodeGroups[1].Detached = true
	if done, deviation := p.Follow(0, c); done != 0 || deviation != "" {
		t.Errorf("%d steps are done, and Cluster API deviates: %q", done, deviation)
	}
}

// live is a cluster each part of which has one machine.
func live(text string) state.Cluster {
	var c state.Cluster
	for i, field := range strings.Fields(text) {
		at, moves := strings.CutSuffix(field, "~")
		name, at, group := strings.Cut(at, "=")
		if !group {
			name, at = v1alpha1.ControlPlaneName, name
		}
		v := version(at)
		p := state.Part{Name: name, Version: v, Replicas: 1, Settled: !moves, Machines: []state.Machine{{Name: name + "-1", Ready: true, Version: v, Kubelet: v}}}
		if i == 0 {
			c.ControlPlane = p
		} else {
			c.WorkerNodeGroups = append(c.WorkerNodeGroups, p)
		}
	}
	return c
}

func TestDeviation(t *testing.T) {
	t.Parallel()
	p := compute(t, with(input("1.31", "1.33", "a 1.31 1.33"), chain("1.32 1.33/1.33")))
	for name, test := range map[string]struct{ live, want string }{
		"the control plane": {"1.32.5 a=1.31", "control-plane is at v1.32.5, and the plan has v1.31.0, then v1.32.0, then v1.33.0"},
		"a group":           {"1.32 a=1.32", "a is at v1.32.0, and the plan has v1.31.0, then v1.33.0"},
		"a group of nobody": {"1.32.5 a=1.31 b=1.31", "control-plane is at v1.32.5, and the plan has v1.31.0, then v1.32.0, then v1.33.0, b is at v1.31.0, and the plan has no such group"},
		"both, apart":       {"1.31 a=1.33", "control-plane is at v1.31.0, a is at v1.33.0, a combination that no step reaches"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, deviation := p.Follow(0, live(test.live))
			if diff := cmp.Diff("Cluster API deviates from the plan: "+test.want, deviation); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestDeferred: a step says which of its groups are told to wait.
func TestDeferred(t *testing.T) {
	t.Parallel()
	p := compute(t, with(input("1.31", "1.32", "a 1.31 1.32", "b 1.31 1.32", "c 1.31 1.32"), chain("1.32/1.32"), func(in *plan.Input) {
		in.TopologyPath.Deferred = map[string]string{"b": "holdUpgradeSequence", "c": "holdUpgradeSequence of b"}
	}))
	want := "the version that is asked for; b waits until holdUpgradeSequence is removed; c waits until holdUpgradeSequence of b is removed"
	if got := p.Steps[1].Reason; got != want {
		t.Errorf("reason: %s", got)
	}
}

func compute(t *testing.T, in plan.Input) plan.Plan {
	t.Helper()
	p, err := plan.Compute(in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTopologyPathChanges: Cluster API changes a group of the topology together with
// its next version, whatever the change is. A group that is out of the topology is
// changed at once.
func TestTopologyPathChanges(t *testing.T) {
	t.Parallel()
	testPossible(t, long, map[string]possible{
		"both kinds of groups": {
			with(input("1.31", "1.32", "a 1.31 1.32", "b 1.31 1.32"), chain("1.32/1.32"), from("1.31"), detached("b"), pinnedTo("b"),
				changed("a", "x", "y"), changed("b", "x", "y"), counts("a", 5), counts("b", 5)),
			[]string{
				"InPlace (beside): b -->- adds 2 [y]",
				"ControlPlane: 1.31->1.32 replaces 3",
				"Workers: a 1.31->1.32 replaces 3 adds 2 [x y]",
				"Workers: b 1.31->1.32 replaces 5 [x]",
				"all: control plane +0 -0 ~3, workers +4 -0 ~8",
			},
		},
	})
}
