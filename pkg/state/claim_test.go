package state_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestClaim: a MachineDeployment of others is a group of the file where it has its
// name, and no other one is.
func TestClaim(t *testing.T) {
	t.Parallel()
	others := func(name, object string) state.Part { return state.Part{Name: name, Object: object, Unmanaged: true} }
	ours := state.Part{Name: "md-0", Object: "MachineDeployment/prod-md-0"}
	theirs := others("md-0", "MachineDeployment/prod-md-0")
	claimed := state.Part{Name: "md-0", Object: "MachineDeployment/prod-md-0", Claimed: true}
	claims := func(groups ...string) map[string]string {
		objects := map[string]string{}
		for _, group := range groups {
			objects[group] = "MachineDeployment/prod-" + group
		}
		return objects
	}
	detached := claimed
	detached.Detached = true
	for name, test := range map[string]struct {
		cluster state.Cluster
		groups  []string // by the names of a file
		want    []state.Part
		claimed map[string]string
	}{
		"the name of a group":         {state.Cluster{WorkerNodeGroups: []state.Part{theirs}}, []string{"md-0", "md-1"}, []state.Part{claimed}, claims("md-0")},
		"a group that the file lacks": {state.Cluster{WorkerNodeGroups: []state.Part{theirs}}, []string{"md-1"}, []state.Part{theirs}, claims()},
		"a name without that of the cluster": {
			state.Cluster{WorkerNodeGroups: []state.Part{others("md-0", "MachineDeployment/md-0")}}, []string{"md-0"}, []state.Part{others("md-0", "MachineDeployment/md-0")}, claims(),
		},
		"a group of ours":                 {state.Cluster{WorkerNodeGroups: []state.Part{ours}}, []string{"md-0"}, []state.Part{ours}, claims()},
		"beside one of ours of that name": {state.Cluster{WorkerNodeGroups: []state.Part{theirs, ours}}, []string{"md-0"}, []state.Part{theirs, ours}, claims()},
		"beside a topology":               {state.Cluster{Topology: &state.Topology{}, WorkerNodeGroups: []state.Part{theirs}}, []string{"md-0"}, []state.Part{detached}, claims("md-0")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.cluster.Name = "prod"
			before := test.cluster.WorkerNodeGroups[0]
			got := test.cluster.Claim(claims(test.groups...))
			if diff := cmp.Diff(test.want, got.WorkerNodeGroups, cmpopts.EquateComparable(v1alpha1.Version{})); diff != "" {
				t.Errorf("groups (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.claimed, got.Claimed()); diff != "" {
				t.Errorf("claimed (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, test.cluster.WorkerNodeGroups[0], cmpopts.EquateComparable(v1alpha1.Version{})); diff != "" {
				t.Errorf("the cluster before was changed (-before +after):\n%s", diff)
			}
		})
	}
}

// TestUnclaimed: what others made has a name as a group, and none that is taken. What has no
// version is no group.
func TestUnclaimed(t *testing.T) {
	t.Parallel()
	others := func(name, object string) state.Part {
		return state.Part{Name: name, Object: object, Unmanaged: true, Version: v1alpha1.MustParseVersion("v1.33.1")}
	}
	cluster := state.Cluster{Name: "prod", WorkerNodeGroups: []state.Part{
		{Name: "ours", Object: "MachineDeployment/prod-ours"},
		others("a", "MachineDeployment/a"), others("b", "MachineDeployment/prod-b"), others("b", "MachineDeployment/b"), others("pool", "MachinePool/prod-pool"),
		{Name: "theirs", Object: "MachinePool/prod-theirs", Unmanaged: true}, // whose provider chooses the version
	}}
	want := map[string]string{"a": "MachineDeployment/a", "prod-b": "MachineDeployment/prod-b", "b": "MachineDeployment/b", "pool": "MachinePool/prod-pool"}
	if diff := cmp.Diff(want, cluster.Unclaimed()); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}
