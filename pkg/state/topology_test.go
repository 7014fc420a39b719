package state_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// managed is a cluster from a ClusterClass with groups a and b, all of it as
// wanted; changes make it otherwise.
func managed(changes ...func(*state.Cluster)) state.Cluster {
	v := v1alpha1.MustParseVersion("v1.33.1")
	part := func(name string) state.Part {
		return state.Part{Name: name, Version: v, Replicas: 1, Settled: true, Machines: []state.Machine{{Name: name, Ready: true, Version: v, Kubelet: v}}}
	}
	c := state.Cluster{
		Name: "c", ControlPlane: part(v1alpha1.ControlPlaneName), WorkerNodeGroups: []state.Part{part("a"), part("b")},
		Topology: &state.Topology{Version: v, Settled: true, Groups: []state.TopologyGroup{{Name: "a"}, {Name: "b"}}},
	}
	for _, change := range changes {
		change(&c)
	}
	return c
}

// TestManaged: a cluster from a ClusterClass is done when Cluster API has carried
// over all of its topology, and what it waits for is told.
func TestManaged(t *testing.T) {
	t.Parallel()
	type outcome struct {
		Done    bool
		Waiting string
		Frozen  []string
	}
	older := v1alpha1.MustParseVersion("v1.32.0")
	behind := func(c *state.Cluster) {
		c.Topology.Settled = false
		c.WorkerNodeGroups[1].Version = older
		c.WorkerNodeGroups[1].Machines[0].Version, c.WorkerNodeGroups[1].Machines[0].Kubelet = older, older
	}
	const frozen = "b stays at v1.32.0 as it is, its count and labels included, and the upgrade to v1.33.1 with it, until "
	for name, test := range map[string]struct {
		cluster state.Cluster
		want    outcome
	}{
		"as wanted": {managed(), outcome{Done: true}},
		"not seen yet": {
			managed(func(c *state.Cluster) { c.Topology.Settled = false }),
			outcome{Waiting: "Cluster API to carry over the latest change of the topology"},
		},
		"not carried over": {
			managed(func(c *state.Cluster) { c.Topology.Settled, c.Topology.Reason = false, "it is upgrading" }),
			outcome{Waiting: "Cluster API to carry over the topology: it is upgrading"},
		},
		"all parts are there, and the upgrade is not ended": {
			managed(func(c *state.Cluster) { c.Topology.Settled, c.Topology.Upgrading = false, true }),
			outcome{Waiting: "Cluster API to end the upgrade to v1.33.1"},
		},
		"a group is not there yet": {
			managed(func(c *state.Cluster) { c.WorkerNodeGroups = c.WorkerNodeGroups[:1] }),
			outcome{Waiting: "Cluster API to carry over the latest change of the topology"},
		},
		"a group is on its way out": {
			managed(func(c *state.Cluster) { c.Topology.Groups = c.Topology.Groups[:1] }),
			outcome{Waiting: "Cluster API to carry over the latest change of the topology"},
		},
		"a group of nobody": {
			managed(func(c *state.Cluster) {
				c.Topology.Groups = c.Topology.Groups[:1]
				c.WorkerNodeGroups[1].Foreign = true
			}),
			outcome{Done: true},
		},
		"a group is deferred": {
			managed(behind, func(c *state.Cluster) { c.Topology.Groups[1].Deferred = true }),
			outcome{Waiting: "somebody to take away deferUpgrade for b", Frozen: []string{frozen + "deferUpgrade is taken away"}},
		},
		"a group before it is held": {
			managed(behind, func(c *state.Cluster) { c.Topology.Groups[0].Held = true }),
			outcome{Waiting: "somebody to take away holdUpgradeSequence of a for b", Frozen: []string{frozen + "holdUpgradeSequence of a is taken away"}},
		},
		"deferred, and where it is to be": {
			managed(func(c *state.Cluster) { c.Topology.Groups[1].Deferred = true }), outcome{Done: true},
		},
		"without a class": {managed(func(c *state.Cluster) { c.Topology = nil }), outcome{Done: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := outcome{test.cluster.Done(), test.cluster.Waiting(), test.cluster.Frozen()}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestDeferredGroups: a held group holds those behind it, whatever they say.
func TestDeferredGroups(t *testing.T) {
	t.Parallel()
	topology := state.Topology{Groups: []state.TopologyGroup{{Name: "a"}, {Name: "b", Deferred: true}, {Name: "c", Held: true}, {Name: "d"}, {Name: "e", Deferred: true}}}
	want := map[string]string{"b": "deferUpgrade", "c": "holdUpgradeSequence", "d": "holdUpgradeSequence of c", "e": "deferUpgrade"}
	if diff := cmp.Diff(want, topology.Deferred()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
