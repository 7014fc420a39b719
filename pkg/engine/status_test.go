package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestCurrent: at the end of the steps a concurrent one goes on, as long as groups of it
// wait for their turn.
func TestCurrent(t *testing.T) {
	t.Parallel()
	concurrent := func(kind plan.Kind, groups ...string) plan.Step {
		step := plan.Step{Kind: kind, Concurrent: true}
		for _, name := range groups {
			step.WorkerNodeGroups = append(step.WorkerNodeGroups, plan.Group{Name: name})
		}
		return step
	}
	p := plan.Plan{Steps: []plan.Step{concurrent(plan.InPlace, "a"), concurrent(plan.Template, "a", "b"), {Kind: plan.ControlPlane}}}
	for _, test := range []struct {
		step              int
		replacing, queued []string
		want              int
	}{{2, nil, nil, 2}, {2, []string{"a"}, []string{"b"}, 2}, {3, []string{"a"}, []string{"b"}, 1}, {3, []string{"b"}, nil, 1}, {3, nil, []string{"b"}, 1}, {3, nil, nil, 3}} {
		if got := (Status{Plan: p, Step: test.step, Replacing: test.replacing, Queued: test.queued}).Current(); got != test.want {
			t.Errorf("at step %d with %v and %v it is %d, want %d", test.step, test.replacing, test.queued, got, test.want)
		}
	}
}

// TestWritten: what the upgrade wrote is what its end compares, in the order of the parts;
// of a topology also what is as a whole.
func TestWritten(t *testing.T) {
	t.Parallel()
	versions := enginetest.Versions("v1.33.1", "a", "v1.33.1", "b", "v1.33.1", "d", "v1.33.1")
	p := Program{Plan: enginetest.Plan(versions, versions), Desired: []Objects{desiredAt(versions, nil)}}
	for topology, cluster := range map[bool][]string{false: nil, true: {"Cluster/c"}} {
		p.Topology = topology
		e := New("ns/c", p)
		_, progress := e.Begin(state.Cluster{})
		progress.generations = map[string]int64{"d": 1, "a": 1, "gone": 1, wholeCluster: 1, v1alpha1.ControlPlaneName: 1}
		var got []string
		for _, object := range e.Written(progress) {
			if !changes.IsTemplate(object.GetKind()) {
				got = append(got, changes.ObjectName(object))
			}
		}
		want := append(cluster, "MachineDeployment/c-a", "MachineHealthCheck/c-a", "KubeadmControlPlane/c", "MachineDeployment/c-d", "MachineHealthCheck/c-d")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("with a topology %t (-want +got):\n%s", topology, diff)
		}
	}
}
