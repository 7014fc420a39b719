package engine

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// managedStage is a cluster from a ClusterClass whose topology has a version,
// with an add-on that has a label.
func managedStage(version, label string) Objects {
	return Objects{Cluster: []*unstructured.Unstructured{
		enginetest.Object("cluster.x-k8s.io", "Cluster", "c", "", map[string]any{"topology": map[string]any{"version": version}}),
		enginetest.Object("addons.cluster.x-k8s.io", "ClusterResourceSet", "c-cni", label, map[string]any{"strategy": "Reconcile"}),
	}}
}

// twoSegments go from 1.31 to 1.33 with one group.
func twoSegments() plan.Plan {
	versions := func(controlPlane, group string) v1alpha1.ClusterVersions {
		return v1alpha1.ClusterVersions{ControlPlane: v1alpha1.MustParseVersion(controlPlane), WorkerNodeGroups: map[string]v1alpha1.Version{"a": v1alpha1.MustParseVersion(group)}}
	}
	step := func(kind plan.Kind, from, to string) plan.Step {
		old, fresh := v1alpha1.MustParseVersion(from), v1alpha1.MustParseVersion(to)
		if kind == plan.ControlPlane {
			return plan.Step{Kind: kind, From: old, To: fresh}
		}
		return plan.Step{Kind: kind, WorkerNodeGroups: []plan.Group{{Name: "a", From: old, To: fresh}}}
	}
	return plan.Plan{From: versions("v1.31.0", "v1.31.0"), To: versions("v1.33.0", "v1.33.0"), Steps: []plan.Step{
		{Kind: plan.InPlace, Concurrent: true, Changes: plan.Changes{Fields: []changes.Change{{Object: "Cluster/c", Path: "metadata.labels.a", Action: changes.Added, New: `"b"`}}}},
		step(plan.ControlPlane, "v1.31.0", "v1.32.0"), step(plan.Workers, "v1.31.0", "v1.32.0"),
		step(plan.ControlPlane, "v1.32.0", "v1.33.0"), step(plan.Workers, "v1.32.0", "v1.33.0"),
	}}
}

// managed is a cluster at versions, whose topology Cluster API has carried over
// unless set.
func managed(controlPlane, group string, generation int64, settled bool) state.Cluster {
	part := func(name, version string) state.Part {
		v := v1alpha1.MustParseVersion(version)
		return state.Part{Name: name, Version: v, Replicas: 1, Settled: true, Machines: []state.Machine{{Name: name, Ready: true, Version: v, Kubelet: v}}}
	}
	return state.Cluster{
		Name: "c", Namespace: "ns", Generation: generation, ControlPlane: part(v1alpha1.ControlPlaneName, controlPlane), WorkerNodeGroups: []state.Part{part("a", group)},
		Topology: &state.Topology{Settled: settled, Groups: []state.TopologyGroup{{Name: "a"}}},
	}
}

// TestTopology: a segment is begun with one write, the next one when the one before is
// done, and what Cluster API does otherwise is told once.
func TestTopology(t *testing.T) {
	t.Parallel()
	w := topologyWorld(t)
	r := w.runOf(Program{Plan: twoSegments(), Topology: true, Desired: segments("new", managedStage("v1.31.0", ""))})
	steps := []struct {
		name    string
		seen    state.Cluster
		said    []string
		writes  []string
		arrived bool
	}{
		{"the cache is behind", managed("v1.31.0", "v1.31.0", 0, true), []string{"step 0, through 3"}, nil, false},
		{"nothing happened yet", managed("v1.31.0", "v1.31.0", 1, false), []string{"step 1, through 3"}, nil, false},
		{"the control plane", managed("v1.32.0", "v1.31.0", 1, false), []string{"step 2, through 3"}, nil, false},
		{"another version", managed("v1.32.5", "v1.31.0", 1, false), []string{"Cluster API deviates from the plan: control-plane is at v1.32.5, and the plan has v1.32.0, then v1.33.0", "step 2, through 3"}, nil, false},
		{"the same again", managed("v1.32.5", "v1.31.0", 1, false), []string{"step 2, through 3"}, nil, false},
		{"as planned again", managed("v1.32.0", "v1.32.0", 1, false), []string{"step 3, through 3"}, nil, false},
		{"the next segment begins", managed("v1.32.0", "v1.32.0", 1, true), []string{"step 3, through 5"}, []string{"apply Cluster/c"}, false},
		{"the cache is behind once more", managed("v1.32.0", "v1.32.0", 1, true), []string{"step 3, through 5"}, nil, false},
		{"all at once", managed("v1.33.0", "v1.33.0", 2, false), []string{"step 5, through 5"}, nil, false},
		{"done", managed("v1.33.0", "v1.33.0", 2, true), []string{"step 5, through 5"}, nil, true},
	}
	w.begins(r, "apply ClusterResourceSet/c-cni label=new", "apply Cluster/c")
	for _, step := range steps {
		w.seen, w.warned, w.writes = step.seen, nil, nil
		arrived, err := r.advance()
		if err != nil || arrived != step.arrived {
			t.Errorf("%s: %t, %v", step.name, arrived, err)
		}
		now := r.shown[len(r.shown)-1]
		said := append(w.warned, fmt.Sprintf("step %d, through %d", now.Step, now.Through))
		if diff := cmp.Diff(step.said, said); diff != "" {
			t.Errorf("%s: said (-want +got):\n%s", step.name, diff)
		}
		if diff := cmp.Diff(step.writes, w.writes); diff != "" {
			t.Errorf("%s: writes (-want +got):\n%s", step.name, diff)
		}
	}
}

// segments are what is desired at the steps of twoSegments, with an add-on that has a
// label, after what is desired at first.
func segments(label string, first Objects) []Objects {
	desired := []Objects{first}
	for _, version := range []string{"v1.31.0", "v1.32.0", "v1.32.0", "v1.33.0", "v1.33.0"} {
		desired = append(desired, managedStage(version, label))
	}
	return desired
}

// topologyWorld has nothing but a Cluster whose topology is at 1.31.
func topologyWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, enginetest.Versions("v1.31.0"))
	clear(w.Objects)
	return w
}

// TestTopologyStops: what somebody does to the cluster ends the upgrade.
func TestTopologyStops(t *testing.T) {
	t.Parallel()
	w := topologyWorld(t)
	r := w.runOf(Program{Plan: twoSegments(), Topology: true, Desired: segments("", managedStage("v1.31.0", ""))})
	r.begin()
	deleting := managed("v1.31.0", "v1.31.0", 1, true)
	deleting.Deleting = true
	for name, cluster := range map[string]state.Cluster{"deleted": {}, "being deleted": deleting} {
		w.seen = cluster
		_, err := r.advance()
		if moved := (*StalePlanError)(nil); !errors.As(err, &moved) || !slices.Equal(moved.Reasons, []string{"it was deleted"}) {
			t.Errorf("%s: %v", name, err)
		}
	}
	putBack := managed("v1.31.0", "v1.31.0", 1, true)
	putBack.WorkerNodeGroups[0].Detached = true
	w.seen = putBack
	_, err := r.advance()
	if moved := (*StalePlanError)(nil); !errors.As(err, &moved) || !slices.Equal(moved.Reasons, []string{putBack.PutBack()}) {
		t.Errorf("put back into the topology: %v", err)
	}
}

// TestStepNotTaken: Cluster API has finished all that it was told, and a step is not done.
func TestStepNotTaken(t *testing.T) {
	t.Parallel()
	p := twoSegments()
	turn := turn{now: managed("v1.32.0", "v1.31.0", 1, true), p: Progress{step: 2, through: 5}, Engine: Engine{Program: Program{Plan: p, Topology: true}}}
	err := turn.afterSegment(5)
	want := []string{fmt.Sprintf("Cluster API has finished everything and does not take step 3 (%s)", p.Steps[2])}
	if moved := (*StalePlanError)(nil); !errors.As(err, &moved) || !slices.Equal(moved.Reasons, want) {
		t.Errorf("%v, want the reasons %q", err, want)
	}
}

// TestAnotherPath: a cluster that Cluster API took to other versions is at its end once
// nothing is left to tell Cluster API, and stale before.
func TestAnotherPath(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		through int
		step    int // after the turn
		stale   []string
	}{
		"in the last segment": {5, 5, nil},
		"in one before it":    {3, 1, []string{"Cluster API deviates from the plan: control-plane is at v1.33.5, and the plan has v1.31.0, then v1.32.0, then v1.33.0"}},
	} {
		program := Program{Plan: twoSegments(), Topology: true, Desired: segments("", managedStage("v1.31.0", ""))}
		turn := turn{now: managed("v1.33.5", "v1.33.0", 1, true), p: Progress{step: 1, through: test.through}, Engine: New("ns/c", program)}
		_, err := turn.follow()
		var stale *StalePlanError
		var reasons []string
		if errors.As(err, &stale) {
			reasons = stale.Reasons
		}
		if diff := cmp.Diff(test.stale, reasons); diff != "" || turn.p.step != test.step {
			t.Errorf("%s: at step %d, want %d: %v; reasons (-want +got):\n%s", name, turn.p.step, test.step, err, diff)
		}
	}
}

// TestDetachedInPlace: a detached group is written as its own step has it, not as a later
// one does.
func TestDetachedInPlace(t *testing.T) {
	t.Parallel()
	own := func(s *plan.Step) { s.Detached = true }
	program := Program{Topology: true, Plan: plan.Plan{Steps: []plan.Step{
		stepOf(plan.InPlace, func(s *plan.Step) { s.Concurrent, s.Detached = true, true }, "a"), stepOf(plan.Workers, own, "a"),
	}}}
	for _, label := range []string{"0", "1", "2"} {
		program.Desired = append(program.Desired, Objects{Parts: map[string][]*unstructured.Unstructured{
			"a": {enginetest.Object("cluster.x-k8s.io", "MachineDeployment", "c-a", label, map[string]any{})},
		}})
	}
	now := managed("v1.32.0", "v1.31.0", 1, true)
	now.WorkerNodeGroups[0].Detached, now.Topology.Groups = true, nil
	turn := turn{now: now, Engine: New("ns/c", program)}
	done, err := turn.driver.take(&turn)
	want := []Action{ApplyInPlace{program.Desired[1].Parts["a"][0], "a"}}
	if diff := cmp.Diff(want, turn.actions); diff != "" || !done || err != nil || turn.p.step != 1 {
		t.Errorf("done %t at step %d, %v; actions (-want +got):\n%s", done, turn.p.step, err, diff)
	}
}

// TestFollowAwaitsTransfer: a segment does not begin before Cluster API has seen the pause of
// a transfer that an earlier run began.
func TestFollowAwaitsTransfer(t *testing.T) {
	t.Parallel()
	now := managed("v1.31.0", "v1.31.0", 1, true)
	now.Pause = &state.Pause{}
	turn := turn{now: now, Engine: New("ns/c", Program{Plan: twoSegments(), Topology: true, Desired: segments("", managedStage("v1.31.0", ""))})}
	if over, err := turn.follow(); over || err != nil || len(turn.actions) > 0 {
		t.Errorf("%t, %v, actions %v", over, err, turn.actions)
	}
}
