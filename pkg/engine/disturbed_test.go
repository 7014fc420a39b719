package engine

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestUndisturbed: each part has the version before the step, or the one after
// it; whatever has another one was changed by somebody else.
func TestUndisturbed(t *testing.T) {
	t.Parallel()
	p := enginetest.Plan(enginetest.Versions("v1.32.1", "md-0", "v1.32.1", "md-1", "v1.32.1", "old", "v1.32.1"), enginetest.Versions("v1.33.1", "md-0", "v1.33.1", "md-1", "v1.32.1", "new", "v1.33.1"),
		enginetest.Step(plan.ControlPlane, "v1.32.1", "v1.33.1"), enginetest.Step(plan.Workers, "v1.32.1", "v1.33.1", "md-0"),
		enginetest.Step(plan.CreateWorkers, "", "v1.33.1", "new"), enginetest.Step(plan.RemoveWorkers, "v1.32.1", "", "old"))
	changed := func(object, is, has string) string {
		return object + " was changed by someone else: its version is " + is + ", and the plan has " + has
	}
	deleted := func(group string) string { return "the MachineDeployment of group " + group + " was deleted" }
	was := map[string]string{"md-0": "v1.32.1", "md-1": "v1.32.1", "old": "v1.32.1"}
	with := func(base map[string]string, changes ...string) map[string]string {
		groups := maps.Clone(base)
		for i := 0; i < len(changes); i += 2 {
			groups[changes[i]] = changes[i+1]
			if changes[i+1] == "" {
				delete(groups, changes[i])
			}
		}
		return groups
	}
	moved := with(was, "md-0", "v1.33.1")
	tests := map[string]struct {
		step         int
		controlPlane string
		groups       map[string]string
		want         []string
	}{
		"before the control plane moves":           {0, "v1.32.1", was, nil},
		"the control plane moves":                  {0, "v1.33.1", was, nil},
		"the control plane farther than it is to":  {0, "v1.34.1", was, []string{changed("KubeadmControlPlane/c", "v1.34.1", "v1.33.1")}},
		"the control plane not to where it was":    {1, "v1.32.1", was, []string{changed("KubeadmControlPlane/c", "v1.32.1", "v1.33.1")}},
		"a group before its step":                  {0, "v1.33.1", moved, []string{changed("MachineDeployment/c-md-0", "v1.33.1", "v1.32.1")}},
		"a group in its step, still as before":     {1, "v1.33.1", was, nil},
		"a group in its step":                      {1, "v1.33.1", moved, nil},
		"a group in its step, elsewhere":           {1, "v1.33.1", with(was, "md-0", "v1.32.9"), []string{changed("MachineDeployment/c-md-0", "v1.32.9", "v1.33.1")}},
		"a group after its step, back":             {2, "v1.33.1", was, []string{changed("MachineDeployment/c-md-0", "v1.32.1", "v1.33.1")}},
		"a group that has no step":                 {1, "v1.33.1", with(moved, "md-1", "v1.33.1"), []string{changed("MachineDeployment/c-md-1", "v1.33.1", "v1.32.1")}},
		"a group without a step is deleted":        {0, "v1.32.1", with(was, "md-1", ""), []string{deleted("md-1")}},
		"a group is deleted in its step":           {1, "v1.33.1", with(was, "md-0", ""), []string{deleted("md-0")}},
		"a group is deleted before it is to be":    {2, "v1.33.1", with(moved, "old", ""), []string{deleted("old")}},
		"a new group is not there yet":             {2, "v1.33.1", moved, nil},
		"a new group":                              {2, "v1.33.1", with(moved, "new", "v1.33.1"), nil},
		"a new group is deleted after its step":    {3, "v1.33.1", moved, []string{deleted("new")}},
		"a group that goes is still there":         {3, "v1.33.1", with(moved, "new", "v1.33.1"), nil},
		"a group that goes, at whatever version":   {3, "v1.33.1", with(moved, "new", "v1.33.1", "old", "v1.33.1"), nil},
		"a group that goes is gone":                {3, "v1.33.1", with(moved, "new", "v1.33.1", "old", ""), nil},
		"a group that the plan does not know":      {0, "v1.32.1", with(was, "other", "v1.30.1"), nil},
		"after the last step nothing is looked at": {4, "v1.35.1", map[string]string{}, nil},
		"several, in the order of their names": {0, "v1.34.1", with(was, "old", "", "md-0", "v1.33.1"), []string{
			changed("KubeadmControlPlane/c", "v1.34.1", "v1.33.1"), changed("MachineDeployment/c-md-0", "v1.33.1", "v1.32.1"), deleted("old"),
		}},
	}
	t.Run("of a run on one group", func(t *testing.T) {
		t.Parallel()
		t1 := &turn{Engine: New("ns/c", Program{Plan: p, Groups: []string{"md-0"}}), p: Progress{step: 1}}
		t1.now = state.Cluster{ControlPlane: partAt(v1alpha1.ControlPlaneName, "v1.33.1"), WorkerNodeGroups: []state.Part{partAt("md-0", "v1.33.1"), partAt("md-1", "v1.33.1")}}
		if got := (direct{}).disturbed(t1); got != nil {
			t.Errorf("another run moves another group: %v", got)
		}
		t1.now.WorkerNodeGroups[0] = partAt("md-0", "v1.32.9")
		if diff := cmp.Diff([]string{changed("MachineDeployment/c-md-0", "v1.32.9", "v1.33.1")}, (direct{}).disturbed(t1)); diff != "" {
			t.Errorf("reasons (-want +got):\n%s", diff)
		}
	})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := state.Cluster{Name: "c", Namespace: "ns", ControlPlane: partAt(v1alpha1.ControlPlaneName, test.controlPlane)}
			for group, version := range test.groups {
				cluster.WorkerNodeGroups = append(cluster.WorkerNodeGroups, partAt(group, version))
			}
			got := (direct{}).disturbed(&turn{Engine: New("ns/c", Program{Plan: p}), now: cluster, p: Progress{step: test.step}})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}

// partAt is a part at a version, as it is specified.
func partAt(name, version string) state.Part {
	object := "MachineDeployment/c-" + name
	if name == v1alpha1.ControlPlaneName {
		object = "KubeadmControlPlane/c"
	}
	return state.Part{Name: name, Object: object, Version: v1alpha1.MustParseVersion(version)}
}
