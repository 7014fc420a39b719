package engine

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// facts are what a transfer of group a depends on.
type facts struct {
	entry      bool // in the topology
	detached   bool
	paused     bool // by clusterctl-x
	pauseSeen  bool // of the topology
	followSeen bool // of the group's MachineDeployment
}

func (f facts) cluster() state.Cluster {
	c := state.Cluster{
		Name: "c", Namespace: "ns", Paused: f.paused, Topology: &state.Topology{PauseSeen: f.pauseSeen},
		WorkerNodeGroups: []state.Part{{Name: "a", Object: "MachineDeployment/c-a", Detached: f.detached, PauseSeen: f.followSeen}},
	}
	if f.entry {
		c.Topology.Groups = []state.TopologyGroup{{Name: "a"}}
	}
	if f.paused {
		c.Pause = &state.Pause{}
	}
	return c
}

// TestTransferPhase: where a transfer is follows from the cluster alone, in each of its
// states. What a detach asks for is the contrary of what a return does, and else they are
// the same.
func TestTransferPhase(t *testing.T) {
	t.Parallel()
	type place struct{ entry, detached bool }
	// By whether the cluster is paused, its topology has seen it, and the group has.
	type moments [2][2][2]phase
	always := func(p phase) moments { return moments{{{p, p}, {p, p}}, {{p, p}, {p, p}}} }
	toTransfer, transferred := always(pausing), always(complete)
	toTransfer[1] = [2][2]phase{{settling, settling}, {transferring, transferring}}
	transferred[1] = [2][2]phase{{settling, settling}, {following, unpausing}}
	table := map[place]moments{
		{entry: true, detached: false}:  always(pausing),
		{entry: true, detached: true}:   always(pausing),
		{entry: false, detached: false}: toTransfer,
		{entry: false, detached: true}:  transferred,
	}
	no, yes := 0, 1
	for place, moments := range table {
		for _, paused := range []int{no, yes} {
			for _, pauseSeen := range []int{no, yes} {
				for _, followSeen := range []int{no, yes} {
					want := moments[paused][pauseSeen][followSeen]
					is := facts{place.entry, place.detached, paused == yes, pauseSeen == yes, followSeen == yes}
					if got := transferOf(plan.Detach).phase(is.cluster()); got != want {
						t.Errorf("detach at %+v: %s, want %s", is, got, want)
					}
					is.entry, is.detached = !place.entry, !place.detached
					if got := transferOf(plan.Return).phase(is.cluster()); got != want {
						t.Errorf("return at %+v: %s, want %s", is, got, want)
					}
				}
			}
		}
	}
}

// transferOf is one of group a.
func transferOf(kind plan.Kind) transfer {
	return transfer{groups: []Transfer{{Group: "a", Kind: kind}}}
}

// TestTransferActions: what is done in each phase, for a group that leaves the topology
// and one that comes back to it.
func TestTransferActions(t *testing.T) {
	t.Parallel()
	cluster := enginetest.Object("cluster.x-k8s.io", "Cluster", "c", "", nil)
	addOn := enginetest.Object("addons.cluster.x-k8s.io", "ClusterResourceSet", "c-cni", "", nil)
	desired := Objects{Cluster: []*unstructured.Unstructured{cluster, addOn}, Parts: enginetest.Rendering{}.PartObjects(enginetest.Versions("v1.33.1", "a", "v1.33.1"))}
	p := enginetest.Plan(enginetest.Versions("v1.33.1", "a", "v1.33.1", "b", "v1.33.1"), enginetest.Versions("v1.33.1", "a", "v1.33.1", "b", "v1.33.1"),
		enginetest.Detached(enginetest.Step(plan.Detach, "v1.33.1", "v1.33.1", "a")), enginetest.Detached(enginetest.Step(plan.Return, "v1.33.1", "v1.33.1", "b")))
	// A cluster in which a has left, and b is back, but for what is changed.
	with := func(change func(c *state.Cluster, a, b *state.Part)) state.Cluster {
		c := state.Cluster{
			Name: "c", Namespace: "ns", Generation: 1, Paused: true, Pause: &state.Pause{},
			Topology: &state.Topology{PauseSeen: true, Groups: []state.TopologyGroup{{Name: "b"}}},
			WorkerNodeGroups: []state.Part{
				{Name: "a", Object: "MachineDeployment/c-a", Detached: true, PauseSeen: true},
				{Name: "b", Object: "MachineDeployment/c-b", PauseSeen: true},
			},
		}
		change(&c, &c.WorkerNodeGroups[0], &c.WorkerNodeGroups[1])
		return c
	}
	unpaused := func(c *state.Cluster) { c.Paused, c.Pause, c.Topology.PauseSeen = false, nil, false }
	tests := map[string]struct {
		seen state.Cluster
		want []string
		step int
		err  []string
	}{
		"nothing is done": {with(func(c *state.Cluster, a, b *state.Part) {
			unpaused(c)
			c.Topology.Groups, a.Detached, b.Detached = []state.TopologyGroup{{Name: "a"}}, false, true
		}), []string{"pause Cluster/c to detach a, return b, without [a]"}, 0, nil},
		"somebody took the entry away": {with(func(c *state.Cluster, a, _ *state.Part) {
			unpaused(c)
			a.Detached = false
		}), []string{"pause Cluster/c to detach a, return b, without [a]"}, 0, nil},
		"the pause is not seen":     {with(func(c *state.Cluster, a, _ *state.Part) { c.Topology.PauseSeen, a.Detached = false, false }), nil, 0, nil},
		"the pause is seen":         {with(func(_ *state.Cluster, a, b *state.Part) { a.Detached, b.Detached = false, true }), []string{"detach a (MachineDeployment/c-a)", "return b (MachineDeployment/c-b)"}, 0, nil},
		"one group is through":      {with(func(_ *state.Cluster, _, b *state.Part) { b.Detached = true }), []string{"return b (MachineDeployment/c-b)"}, 0, nil},
		"it is not seen of a group": {with(func(_ *state.Cluster, _, b *state.Part) { b.PauseSeen = false }), nil, 0, nil},
		"everything is seen":        {with(func(*state.Cluster, *state.Part, *state.Part) {}), []string{"apply Cluster/c", "apply ClusterResourceSet/c-cni"}, 0, nil},
		"the cluster goes on":       {with(func(c *state.Cluster, _, _ *state.Part) { unpaused(c) }), []string{"apply MachineDeployment/c-a v1.33.1", "apply MachineHealthCheck/c-a"}, 2, nil},
		"a write is not seen":       {with(func(c *state.Cluster, _, _ *state.Part) { c.Generation = 0 }), nil, 0, nil},
		"somebody else paused it":   {with(func(c *state.Cluster, _, _ *state.Part) { c.Pause = nil }), nil, 0, []string{"it was paused"}},
		"somebody deleted a group":  {with(func(c *state.Cluster, _, _ *state.Part) { c.WorkerNodeGroups = c.WorkerNodeGroups[1:] }), nil, 0, []string{"the MachineDeployment of group a was deleted"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, enginetest.Versions("v1.33.1", "a", "v1.33.1"))
			r := w.runOf(Program{Plan: p, Topology: true, Desired: []Objects{desired, desired, desired}})
			_, r.p = r.Begin(r.w.seen)
			r.p.generations[wholeCluster] = 1
			turn, err := r.Next(test.seen, w.at, r.p)
			for _, action := range turn.Actions {
				if _, records := action.(RecordEvent); !records {
					w.do(action)
				}
			}
			w.wrote("then", test.want)
			if got := turn.Progress.step; got != test.step {
				t.Errorf("it is at step %d, want %d", got, test.step)
			}
			var reasons []string
			if stale := (*StalePlanError)(nil); errors.As(err, &stale) {
				reasons = stale.Reasons
			}
			if diff := cmp.Diff(test.err, reasons); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}
