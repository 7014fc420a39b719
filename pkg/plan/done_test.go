package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/skew"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestTransferDone: a group is out of the topology, or in it again, once it is so by its
// entry and by its owner, and Cluster API reconciles the cluster.
func TestTransferDone(t *testing.T) {
	t.Parallel()
	cluster := func(inTopology, detached bool, pause *state.Pause) state.Cluster {
		c := state.Cluster{Topology: &state.Topology{}, Pause: pause, WorkerNodeGroups: []state.Part{{Name: "a", Detached: detached}}}
		if inTopology {
			c.Topology.Groups = []state.TopologyGroup{{Name: "a"}}
		}
		return c
	}
	gone := cluster(false, true, nil)
	gone.WorkerNodeGroups = nil
	returned := cluster(true, false, nil)
	returned.WorkerNodeGroups = nil
	for name, test := range map[string]struct {
		seen             state.Cluster
		detach, returned bool
	}{
		"in the topology":                      {cluster(true, false, nil), false, true},
		"out of it":                            {cluster(false, true, nil), true, false},
		"its entry is gone, and not its owner": {cluster(false, false, nil), false, false},
		"its owner is gone, and not its entry": {cluster(true, true, nil), false, false},
		"in it, and paused":                    {cluster(true, false, &state.Pause{}), false, false},
		"out of it, and paused":                {cluster(false, true, &state.Pause{}), false, false},
		"deleted, without an entry":            {gone, false, false},
		"deleted, with an entry":               {returned, false, false},
	} {
		for kind, want := range map[plan.Kind]bool{plan.Detach: test.detach, plan.Return: test.returned} {
			step := plan.Step{Kind: kind, WorkerNodeGroups: []plan.Group{{Name: "a"}}}
			if got := step.Done(test.seen); got != want {
				t.Errorf("%s: %s is done: %t, want %t", name, kind, got, want)
			}
		}
	}
}

// TestStepWaiting: a step waits for what the whole cluster waits for, then for its parts that are not
// done, and a removal for the machines that are left.
func TestStepWaiting(t *testing.T) {
	t.Parallel()
	at := version("1.33")
	machine := state.Machine{Name: "m", Version: at, Kubelet: at, Ready: true}
	part := func(name string, change func(*state.Part)) state.Part {
		p := state.Part{Name: name, Version: at, Replicas: 1, Settled: true, Machines: []state.Machine{machine}}
		if change != nil {
			change(&p)
		}
		return p
	}
	unsettled := func(p *state.Part) { p.Settled = false }
	cluster := func(change func(*state.Part)) state.Cluster {
		return state.Cluster{ControlPlane: part(v1alpha1.ControlPlaneName, nil), WorkerNodeGroups: []state.Part{part("a", change)}}
	}
	paused := cluster(unsettled)
	paused.Paused = true
	none := cluster(nil)
	none.WorkerNodeGroups = nil
	of := func(kind plan.Kind, group string) plan.Step {
		return plan.Step{Kind: kind, WorkerNodeGroups: []plan.Group{{Name: group, To: at}}}
	}
	const unavailable = "a: 1 of 1 machines ready at v1.33.0; Cluster API does not report it as available yet"
	for name, test := range map[string]struct {
		step plan.Step
		seen state.Cluster
		want string
	}{
		"a group that is done":                  {of(plan.Workers, "a"), cluster(nil), ""},
		"a group that is not":                   {of(plan.Workers, "a"), cluster(unsettled), unavailable},
		"another group that is not":             {of(plan.Workers, "b"), cluster(unsettled), ""},
		"a group of a paused cluster":           {of(plan.Workers, "a"), paused, "the cluster is paused (spec.paused); Cluster API does nothing until it is resumed"},
		"a removal of a group that is there":    {of(plan.RemoveWorkers, "a"), cluster(nil), cluster(nil).WorkerNodeGroups[0].Leaving()},
		"a removal of a group that is gone":     {of(plan.RemoveWorkers, "a"), none, ""},
		"a creation of a group that is missing": {of(plan.CreateWorkers, "a"), none, ""},
	} {
		if got := test.step.Waiting(test.seen); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestLeavesBehind: only a step of the control plane can make nodes too old, and only those count
// that are not too old already.
func TestLeavesBehind(t *testing.T) {
	t.Parallel()
	cluster := func(group, other string) state.Cluster {
		return state.Cluster{
			WorkerNodeGroups: []state.Part{{Object: "MachineDeployment/c-a", Version: version(group)}},
			Others:           []state.Other{{Object: "Machine/x", Version: version(other)}},
		}
	}
	const reason = " is at v1.30.0, which would be too old for a control plane at v1.34.0; upgrade or delete it"
	for name, test := range map[string]struct {
		kind     plan.Kind
		from, to string
		seen     state.Cluster
		policy   skew.Policy
		want     []string
	}{
		"recent enough":             {plan.ControlPlane, "1.32", "1.33", cluster("1.30", "1.30"), skew.Policy{}, nil},
		"a group":                   {plan.ControlPlane, "1.33", "1.34", cluster("1.30", "1.33"), skew.Policy{}, []string{"MachineDeployment/c-a" + reason}},
		"another machine":           {plan.ControlPlane, "1.33", "1.34", cluster("1.33", "1.30"), skew.Policy{}, []string{"Machine/x" + reason}},
		"too old already":           {plan.ControlPlane, "1.34", "1.34", cluster("1.30", "1.30"), skew.Policy{}, nil},
		"too old by the policy":     {plan.ControlPlane, "1.33", "1.34", cluster("1.33", "1.30"), skew.Policy{MaxLag: 3}, []string{"Machine/x" + reason}},
		"of unknown version":        {plan.ControlPlane, "1.33", "1.34", state.Cluster{Others: []state.Other{{Object: "Machine/x"}}}, skew.Policy{}, nil},
		"a step of groups":          {plan.Workers, "1.33", "1.34", cluster("1.30", "1.30"), skew.Policy{}, nil},
		"a template of any machine": {plan.Template, "1.33", "1.34", cluster("1.30", "1.30"), skew.Policy{}, nil},
	} {
		step := plan.Step{Kind: test.kind, From: version(test.from), To: version(test.to)}
		if diff := cmp.Diff(test.want, step.LeavesBehind(test.seen, test.policy)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestMetadataOfGroups: a plan about some groups is made for these and the control plane.
func TestMetadataOfGroups(t *testing.T) {
	t.Parallel()
	cluster := state.Cluster{
		Name: "c", Namespace: "ns", UID: "u", Generation: 1, ControlPlane: state.Part{Name: v1alpha1.ControlPlaneName, Object: "KubeadmControlPlane/c", Generation: 2},
		WorkerNodeGroups: []state.Part{{Name: "a", Object: "MachineDeployment/c-a", Generation: 3}, {Name: "b", Object: "MachineDeployment/c-b", Generation: 4}},
	}
	want := plan.Metadata{Name: "c", Namespace: "ns", UID: "u", Spec: "hash", Generations: map[string]int64{"Cluster/c": 1, "KubeadmControlPlane/c": 2, "MachineDeployment/c-b": 4}}
	if diff := cmp.Diff(want, plan.MetadataOf(cluster, "hash", "b")); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
}

// TestMetadataOfPools: others write the spec of a MachinePool at any time.
func TestMetadataOfPools(t *testing.T) {
	t.Parallel()
	cluster := state.Cluster{Name: "c", WorkerNodeGroups: []state.Part{{Name: "a", Object: "MachinePool/c-a", Generation: 3}}}
	want := map[string]int64{"Cluster/c": 0, "": 0, "MachinePool/c-a": plan.AnyGeneration}
	if diff := cmp.Diff(want, plan.MetadataOf(cluster, "").Generations); diff != "" {
		t.Errorf("generations (-want +got):\n%s", diff)
	}
}
