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
