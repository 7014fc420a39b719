package engine

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// versionsStep is a step of a group whose version is a field of the topology.
func versionsStep(kind plan.Kind, change func(*plan.Step)) plan.Step {
	step := plan.Step{Kind: kind, Detached: true, WorkerNodeGroups: []plan.Group{{Name: "a"}}}
	if kind == plan.Workers {
		step.WorkerNodeGroups[0].From, step.WorkerNodeGroups[0].To = v1alpha1.MustParseVersion("v1.31.0"), v1alpha1.MustParseVersion("v1.32.0")
	}
	if change != nil {
		change(&step)
	}
	return step
}

// versionsRun follows steps of groups whose versions are fields of the topology. The
// Clusters of the desired states differ by a label, which is the number of the state.
func versionsRun(t *testing.T, steps ...plan.Step) (*world, *run) {
	t.Helper()
	w := topologyWorld(t)
	program := Program{Topology: true, TopologyVersions: true, Plan: plan.Plan{
		From: enginetest.Versions("v1.32.0", "a", "v1.31.0"), To: enginetest.Versions("v1.32.0", "a", "v1.32.0"), Steps: steps,
	}}
	for i := range len(steps) + 1 {
		label := string(rune('0' + i))
		program.Desired = append(program.Desired, Objects{Cluster: []*unstructured.Unstructured{enginetest.Object("cluster.x-k8s.io", "Cluster", "c", label, map[string]any{})}})
	}
	return w, w.runOf(program)
}

// TestTopologyVersions: a step of a group is one write of the Cluster, which is done once
// Cluster API has seen it and the group is there; what is under way is not written again.
func TestTopologyVersions(t *testing.T) {
	t.Parallel()
	type look struct {
		seen   state.Cluster
		writes []string
		step   int
		done   bool
		err    string
	}
	changed := func(cluster state.Cluster, change func(*state.Cluster)) state.Cluster {
		change(&cluster)
		return cluster
	}
	at := func(group string, generation int64) state.Cluster {
		return managed("v1.32.0", group, generation, true)
	}
	out := func(c *state.Cluster) { c.Topology.Groups, c.WorkerNodeGroups[0].Detached = nil, true }
	for name, test := range map[string]struct {
		steps []plan.Step
		looks []look
	}{
		"a group moves": {[]plan.Step{versionsStep(plan.Workers, nil)}, []look{
			{at("v1.31.0", 0), []string{"apply Cluster/c label=1"}, 0, false, ""},
			{at("v1.32.0", 0), nil, 0, false, ""}, // as another write left it, which is older
			{at("v1.31.0", 1), nil, 0, false, ""},
			{at("v1.32.0", 1), nil, 1, true, ""},
		}},
		"a group that is there already is written all the same": {[]plan.Step{versionsStep(plan.Workers, nil)}, []look{
			{at("v1.32.0", 0), []string{"apply Cluster/c label=1"}, 0, false, ""},
			{at("v1.32.0", 1), nil, 1, true, ""},
		}},
		"a rollout that is under way": {[]plan.Step{versionsStep(plan.Workers, func(s *plan.Step) { s.UnderWay = true })}, []look{
			{at("v1.31.0", 0), nil, 0, false, ""},
			{at("v1.32.0", 0), nil, 1, true, ""},
		}},
		"a concurrent step": {[]plan.Step{versionsStep(plan.InPlace, func(s *plan.Step) { s.Concurrent = true })}, []look{
			{at("v1.32.0", 0), []string{"apply Cluster/c label=1"}, 1, false, ""},
			{at("v1.32.0", 1), nil, 1, true, ""},
		}},
		"a hold": {[]plan.Step{versionsStep(plan.Workers, nil)}, []look{
			{changed(at("v1.31.0", 0), func(c *state.Cluster) { c.Holds = []state.Hold{{Point: state.BeforeWorkers}} }), nil, 0, false, ""},
			{at("v1.31.0", 0), []string{"apply Cluster/c label=1"}, 0, false, ""},
		}},
		"a group gets a version of its own": {[]plan.Step{versionsStep(plan.Return, nil)}, []look{
			{changed(at("v1.32.0", 0), out), []string{"apply Cluster/c label=1"}, 0, false, ""},
			{changed(at("v1.32.0", 0), out), nil, 0, false, ""}, // the write is not seen yet
			{at("v1.32.0", 1), nil, 1, true, ""},
		}},
		"its MachineDeployment is deleted": {[]plan.Step{versionsStep(plan.Return, nil)}, []look{
			{changed(at("v1.32.0", 0), func(c *state.Cluster) { c.WorkerNodeGroups = nil }), nil, 0, false, "the MachineDeployment of group a was deleted"},
		}},
		"the cluster is paused": {[]plan.Step{versionsStep(plan.Return, nil)}, []look{
			{changed(at("v1.32.0", 0), func(c *state.Cluster) { c.Paused = true }), nil, 0, false, "it was paused"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, r := versionsRun(t, test.steps...)
			w.begins(r)
			var got []look
			for _, next := range test.looks {
				w.seen, w.writes = next.seen, nil
				done, err := r.advance()
				saw := look{seen: next.seen, writes: w.writes, step: r.shown[len(r.shown)-1].Step, done: done}
				if moved := (*StalePlanError)(nil); errors.As(err, &moved) {
					saw.err = moved.Reasons[0]
				} else if err != nil {
					t.Fatal(err)
				}
				got = append(got, saw)
			}
			if diff := cmp.Diff(test.looks, got, cmp.AllowUnexported(look{}), cmp.Comparer(func(a, b state.Cluster) bool { return a.Name == b.Name })); diff != "" {
				t.Errorf("looks (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTopologyVersionsBegin: the first segment begins at once, if the plan begins with one
// and no transfer is half-way.
func TestTopologyVersionsBegin(t *testing.T) {
	t.Parallel()
	controlPlaneFirst := plan.Step{Kind: plan.ControlPlane, From: v1alpha1.MustParseVersion("v1.31.0"), To: v1alpha1.MustParseVersion("v1.32.0")}
	paused := managed("v1.32.0", "v1.31.0", 0, true)
	paused.Paused, paused.Pause = true, &state.Pause{Why: "detach a", Since: time.Time{}}
	for name, test := range map[string]struct {
		step plan.Step
		seen state.Cluster
		want []string
	}{
		"a segment":                       {controlPlaneFirst, managed("v1.31.0", "v1.31.0", 0, true), []string{"apply Cluster/c label=1"}},
		"a segment, a transfer half-way":  {controlPlaneFirst, paused, nil},
		"a step of a group":               {versionsStep(plan.Workers, nil), managed("v1.32.0", "v1.31.0", 0, true), nil},
		"a group, and a transfer halfway": {versionsStep(plan.Workers, nil), paused, nil},
	} {
		w, r := versionsRun(t, test.step)
		w.seen, w.writes = test.seen, nil
		r.begin()
		if diff := cmp.Diff(test.want, w.writes); diff != "" {
			t.Errorf("%s: writes (-want +got):\n%s", name, diff)
		}
	}
}
