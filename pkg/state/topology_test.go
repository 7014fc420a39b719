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
		Done      bool
		Waiting   string
		Postponed []string
	}
	older := v1alpha1.MustParseVersion("v1.32.0")
	behind := func(c *state.Cluster) {
		c.Topology.Settled = false
		c.WorkerNodeGroups[1].Version = older
		c.WorkerNodeGroups[1].Machines[0].Version, c.WorkerNodeGroups[1].Machines[0].Kubelet = older, older
	}
	const postponed = "b stays at v1.32.0, with its count and labels, and holds up the upgrade to v1.33.1, until "
	for name, test := range map[string]struct {
		cluster state.Cluster
		want    outcome
	}{
		"as wanted": {managed(), outcome{Done: true}},
		"not seen yet": {
			managed(func(c *state.Cluster) { c.Topology.Settled = false }),
			outcome{Waiting: "Cluster API to reconcile the latest change of the topology"},
		},
		"not carried over": {
			managed(func(c *state.Cluster) { c.Topology.Settled, c.Topology.Reason = false, "it is upgrading" }),
			outcome{Waiting: "Cluster API to reconcile the topology: it is upgrading"},
		},
		"all parts are there, and the upgrade is not ended": {
			managed(func(c *state.Cluster) { c.Topology.Settled, c.Topology.Upgrading = false, true }),
			outcome{Waiting: "Cluster API to finish the upgrade to v1.33.1"},
		},
		"a group is not there yet": {
			managed(func(c *state.Cluster) { c.WorkerNodeGroups = c.WorkerNodeGroups[:1] }),
			outcome{Waiting: "Cluster API to reconcile the latest change of the topology"},
		},
		"a group is on its way out": {
			managed(func(c *state.Cluster) { c.Topology.Groups = c.Topology.Groups[:1] }),
			outcome{Waiting: "Cluster API to reconcile the latest change of the topology"},
		},
		"a group of nobody": {
			managed(func(c *state.Cluster) {
				c.Topology.Groups = c.Topology.Groups[:1]
				c.WorkerNodeGroups[1].Unmanaged = true
			}),
			outcome{Done: true},
		},
		"a group is deferred": {
			managed(behind, func(c *state.Cluster) { c.Topology.Groups[1].Deferred = true }),
			outcome{Waiting: "deferUpgrade for b to be removed", Postponed: []string{postponed + "deferUpgrade is removed"}},
		},
		"a group before it is held": {
			managed(behind, func(c *state.Cluster) { c.Topology.Groups[0].Held = true }),
			outcome{Waiting: "holdUpgradeSequence of a for b to be removed", Postponed: []string{postponed + "holdUpgradeSequence of a is removed"}},
		},
		"deferred, and where it is to be": {
			managed(func(c *state.Cluster) { c.Topology.Groups[1].Deferred = true }), outcome{Done: true},
		},
		"without a class": {managed(func(c *state.Cluster) { c.Topology = nil }), outcome{Done: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := outcome{test.cluster.Done(), test.cluster.Waiting(), test.cluster.Postponed()}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestPutBack: an entry of a detached group is noticed, before Cluster API has made a
// second MachineDeployment for it and afterwards, and is as it should be while
// clusterctl-x gives the group back.
func TestPutBack(t *testing.T) {
	t.Parallel()
	const again = "the topology of cluster prod has an entry of b again, which clusterctl-x removed to pin the group"
	const remedy = "; remove the entry from spec.topology.workers.machineDeployments of the Cluster, and from Git if it comes from there, and Cluster API deletes what it made for it; then run the command again"
	detached := func(c *state.Cluster) { c.Name, c.WorkerNodeGroups[1].Detached = "prod", true }
	second := func(c *state.Cluster) {
		c.WorkerNodeGroups = append(c.WorkerNodeGroups, state.Part{Name: "b", Object: "MachineDeployment/prod-b-x"})
	}
	const made = ", and Cluster API made MachineDeployment/prod-b-x for it next to the group's own MachineDeployment"
	paused := func(c *state.Cluster) { c.Pause = &state.Pause{Why: "return b"} }
	for name, test := range map[string]struct {
		cluster state.Cluster
		want    string
	}{
		"none is detached":          {managed(), ""},
		"detached, without entry":   {managed(detached, func(c *state.Cluster) { c.Topology.Groups = c.Topology.Groups[:1] }), ""},
		"on its way back":           {managed(detached, paused), ""},
		"put back":                  {managed(detached), again + remedy},
		"put back, and made":        {managed(detached, second), again + made + remedy},
		"made, and then paused":     {managed(detached, second, paused), again + made + remedy},
		"pinned by Cluster API":     {managed(detached, func(c *state.Cluster) { c.Topology.Groups[1].Pinned = true }), ""},
		"a cluster without a class": {managed(detached, func(c *state.Cluster) { c.Topology = nil }), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, test.cluster.PutBack()); diff != "" {
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

// TestDeferred: MachineDeployments and MachinePools each have a sequence of upgrades.
func TestDeferred(t *testing.T) {
	t.Parallel()
	topology := state.Topology{Groups: []state.TopologyGroup{
		{Name: "a", Deferred: true}, {Name: "b"}, {Name: "c", Held: true}, {Name: "d"}, {Name: "e", Pool: true}, {Name: "f", Pool: true, Held: true}, {Name: "g", Pool: true},
	}}
	want := map[string]string{"a": "deferUpgrade", "c": "holdUpgradeSequence", "d": "holdUpgradeSequence of c", "f": "holdUpgradeSequence", "g": "holdUpgradeSequence of f"}
	if diff := cmp.Diff(want, topology.Deferred()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
