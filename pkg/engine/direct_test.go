package engine

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// controlPlaneTo and groupTo are what is written to move a part.
func controlPlaneTo(version string) []string {
	return []string{"apply DevMachineTemplate/c-" + version, "apply KubeadmControlPlane/c " + version}
}

func groupTo(group, version string) []string {
	name := "c-" + group
	return []string{
		"apply DevMachineTemplate/" + name + "-" + version, "apply KubeadmConfigTemplate/" + name + "-" + version,
		"apply MachineDeployment/" + name + " " + version, "apply MachineHealthCheck/" + name,
	}
}

const controlPlane = v1alpha1.ControlPlaneName

// TestRunInOrder: the control plane goes first, minor by minor; what its steps
// change of the groups replaces none of their machines; and each step waits for
// the one before it. Nothing is written twice.
func TestRunInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, enginetest.Versions("v1.32.1", "md-0", "v1.32.1", "md-1", "v1.32.1", "pinned", "v1.31.1"))
	w.Objects["MachineDeployment/c-pinned"].SetAnnotations(map[string]string{enginetest.BehindAnnotation: "v1.32.1"})
	p := enginetest.Plan(w.seen.Versions(), enginetest.Versions("v1.34.1", "md-0", "v1.34.1", "md-1", "v1.34.1", "pinned", "v1.31.1"),
		enginetest.Step(plan.ControlPlane, "v1.32.1", "v1.33.1"), enginetest.Step(plan.ControlPlane, "v1.33.1", "v1.34.1"), enginetest.Step(plan.Workers, "v1.32.1", "v1.34.1", "md-0", "md-1"))
	r := w.run(p, 1, nil)
	w.begins(r)
	w.sees(r, 0, append(controlPlaneTo("v1.33.1"),
		"apply MachineDeployment/c-md-0 v1.32.1 behind v1.33.1", "apply MachineDeployment/c-md-1 v1.32.1 behind v1.33.1", "apply MachineDeployment/c-pinned v1.31.1 behind v1.33.1")...)
	w.sees(r, 0)
	w.Roll(controlPlane)
	w.sees(r, 1, append(controlPlaneTo("v1.34.1"),
		"apply MachineDeployment/c-md-0 v1.32.1 behind v1.34.1", "apply MachineDeployment/c-md-1 v1.32.1 behind v1.34.1", "apply MachineDeployment/c-pinned v1.31.1 behind v1.34.1")...)
	w.Roll(controlPlane)
	w.sees(r, 2, groupTo("md-0", "v1.34.1")...)
	w.sees(r, 2)
	w.Roll("md-0")
	w.sees(r, 2, groupTo("md-1", "v1.34.1")...)
	w.Roll("md-1")
	w.ends(r)
	want := []string{
		"UpgradeBegun: upgrade to v1.34.1 in 3 steps", "UpgradeStepDone: step 1 of 3: the control plane from v1.32.1 to v1.33.1",
		"UpgradeStepDone: step 2 of 3: the control plane from v1.33.1 to v1.34.1", "UpgradeStepDone: step 3 of 3: md-0 from v1.32.1 to v1.34.1, md-1 from v1.32.1 to v1.34.1",
	}
	if diff := cmp.Diff(want, w.events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(w.run(p, 1, nil).Desired, r.Desired); diff != "" {
		t.Errorf("writing changed what is to be written (-before +after):\n%s", diff)
	}
}

// TestRunConcurrency: as many groups move as may, in the order of the step.
func TestRunConcurrency(t *testing.T) {
	t.Parallel()
	w := newWorld(t, enginetest.Versions("v1.33.1", "d", "v1.32.1", "a", "v1.32.1", "c", "v1.32.1", "b", "v1.32.1"))
	p := enginetest.Plan(w.seen.Versions(), enginetest.Versions("v1.33.1", "d", "v1.33.1", "a", "v1.33.1", "c", "v1.33.1", "b", "v1.33.1"), enginetest.Step(plan.Workers, "v1.32.1", "v1.33.1", "d", "a", "c", "b"))
	r := w.run(p, 2, nil)
	w.begins(r)
	w.sees(r, 0, append(groupTo("d", "v1.33.1"), groupTo("a", "v1.33.1")...)...)
	w.sees(r, 0)
	w.Roll("a")
	w.sees(r, 0, groupTo("c", "v1.33.1")...)
	w.sees(r, 0)
	w.Roll("d", "c")
	w.sees(r, 0, groupTo("b", "v1.33.1")...)
	w.Roll("b")
	w.ends(r)
}

// TestRunConcurrentUnderWay: a rollout that goes on already counts among the groups that
// move, and is written nothing.
func TestRunConcurrentUnderWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, enginetest.Versions("v1.33.1", "a", "v1.33.1", "b", "v1.32.1", "c", "v1.32.1"))
	w.Objects["MachineDeployment/c-a"].SetGeneration(2) // which Cluster API has not carried out
	step := enginetest.Step(plan.Workers, "v1.32.1", "v1.33.1", "a", "b", "c")
	step.WorkerNodeGroups[0].UnderWay = true
	p := enginetest.Plan(enginetest.Versions("v1.33.1", "a", "v1.33.1", "b", "v1.32.1", "c", "v1.32.1"), enginetest.Versions("v1.33.1", "a", "v1.33.1", "b", "v1.33.1", "c", "v1.33.1"), step)
	r := w.run(p, 2, nil)
	w.begins(r)
	w.sees(r, 0, groupTo("b", "v1.33.1")...)
	w.sees(r, 0)
	w.Roll("a")
	w.sees(r, 0, groupTo("c", "v1.33.1")...)
	w.Roll("b", "c")
	w.ends(r)
}

// TestRunHolds: a group that changes in place keeps its templates until its own
// step, whatever else is written before.
func TestRunHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, enginetest.Versions("v1.32.1", "md-0", "v1.32.1"))
	p := enginetest.Plan(w.seen.Versions(), enginetest.Versions("v1.33.1", "md-0", "v1.33.1"),
		enginetest.Concurrent(enginetest.Step(plan.InPlace, "", "", "md-0")), enginetest.Step(plan.ControlPlane, "v1.32.1", "v1.33.1"), enginetest.Step(plan.Workers, "v1.32.1", "v1.33.1", "md-0"))
	r := w.run(p, 1, &enginetest.Rendering{Labels: map[string]string{"md-0": "new"}, Templates: map[string]string{"md-0": "-new"}})
	w.begins(r, "apply MachineDeployment/c-md-0 v1.32.1 label=new", "apply MachineHealthCheck/c-md-0")
	w.sees(r, 1, append(controlPlaneTo("v1.33.1"), "apply MachineDeployment/c-md-0 v1.32.1 label=new behind v1.33.1")...)
	w.Roll(controlPlane)
	w.sees(r, 2, "apply DevMachineTemplate/c-md-0-v1.33.1-new", "apply KubeadmConfigTemplate/c-md-0-v1.33.1-new",
		"apply MachineDeployment/c-md-0 v1.33.1 of v1.33.1-new label=new", "apply MachineHealthCheck/c-md-0")
	w.Roll("md-0")
	w.ends(r)
}

// TestRunTakesOverAGroup: a group whose MachineDeployment others made moves like any
// other, before it has the label of a group and afterwards.
func TestRunTakesOverAGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, enginetest.Versions("v1.32.1", "md-0", "v1.32.1"))
	p := enginetest.Plan(w.seen.Versions(), enginetest.Versions("v1.33.1", "md-0", "v1.33.1"),
		enginetest.Concurrent(enginetest.Step(plan.InPlace, "", "", "md-0")), enginetest.Step(plan.ControlPlane, "v1.32.1", "v1.33.1"), enginetest.Step(plan.Workers, "v1.32.1", "v1.33.1", "md-0"))
	r := w.run(p, 1, nil)
	r.Claimed = map[string]string{"md-0": "MachineDeployment/c-md-0"}
	w.begins(r, "apply MachineDeployment/c-md-0 v1.32.1", "apply MachineHealthCheck/c-md-0")
	w.seen.WorkerNodeGroups[0].Unmanaged = true // the cache is behind
	w.advances(r, 1, append(controlPlaneTo("v1.33.1"), "apply MachineDeployment/c-md-0 v1.32.1 behind v1.33.1")...)
	w.Roll(controlPlane)
	w.sees(r, 2, groupTo("md-0", "v1.33.1")...)
	w.Roll("md-0")
	w.ends(r)
}

// TestRunScalesBeforeItRolls: a group whose count changes comes to rest before
// its machines are replaced; others need not wait for it.
func TestRunScalesBeforeItRolls(t *testing.T) {
	t.Parallel()
	w := newWorld(t, enginetest.Versions("v1.33.1", "md-0", "v1.32.1", "md-1", "v1.32.1"))
	grown := enginetest.Concurrent(enginetest.Step(plan.InPlace, "", "", "md-0"))
	grown.WorkerNodeGroups[0].MachinesAdded = 2
	p := enginetest.Plan(w.seen.Versions(), enginetest.Versions("v1.33.1", "md-0", "v1.33.1", "md-1", "v1.33.1"), grown, enginetest.Step(plan.Workers, "v1.32.1", "v1.33.1", "md-0", "md-1"))
	r := w.run(p, 1, &enginetest.Rendering{Replicas: map[string]int64{"md-0": 3}})
	stale := w.seen
	w.begins(r, "apply MachineDeployment/c-md-0 v1.32.1 x3 behind v1.33.1", "apply MachineHealthCheck/c-md-0")
	w.seen = stale // the cache has the group at rest, as it was before
	w.advances(r, 1, groupTo("md-1", "v1.33.1")...)
	w.sees(r, 1)
	w.Roll("md-1")
	w.sees(r, 1)
	w.Roll("md-0")
	w.sees(r, 1, "apply DevMachineTemplate/c-md-0-v1.33.1", "apply KubeadmConfigTemplate/c-md-0-v1.33.1", "apply MachineDeployment/c-md-0 v1.33.1 x3", "apply MachineHealthCheck/c-md-0")
	w.Roll("md-0")
	w.ends(r)
}

// TestRunReplacesMachinesConcurrently: other templates are written at once, with the
// count that changes too, and only once; the end waits for them.
func TestRunReplacesMachinesConcurrently(t *testing.T) {
	t.Parallel()
	w := newWorld(t, enginetest.Versions("v1.32.1", "md-0", "v1.32.1", "md-1", "v1.32.1"))
	grown := enginetest.Concurrent(enginetest.Step(plan.InPlace, "", "", "md-0"))
	grown.WorkerNodeGroups[0].MachinesAdded = 2
	p := enginetest.Plan(w.seen.Versions(), enginetest.Versions("v1.33.1", "md-0", "v1.32.1", "md-1", "v1.32.1"),
		grown, enginetest.Concurrent(enginetest.Step(plan.Template, "v1.32.1", "v1.32.1", "md-1", "md-0")), enginetest.Step(plan.ControlPlane, "v1.32.1", "v1.33.1"))
	r := w.run(p, 2, &enginetest.Rendering{Replicas: map[string]int64{"md-0": 3}, Templates: map[string]string{"md-0": "-new", "md-1": "-new"}})
	w.begins(r,
		"apply DevMachineTemplate/c-md-0-v1.32.1-new", "apply KubeadmConfigTemplate/c-md-0-v1.32.1-new", "apply MachineDeployment/c-md-0 v1.32.1 of v1.32.1-new x3", "apply MachineHealthCheck/c-md-0",
		"apply DevMachineTemplate/c-md-1-v1.32.1-new", "apply KubeadmConfigTemplate/c-md-1-v1.32.1-new", "apply MachineDeployment/c-md-1 v1.32.1 of v1.32.1-new", "apply MachineHealthCheck/c-md-1")
	w.sees(r, 2, append(controlPlaneTo("v1.33.1"),
		"apply MachineDeployment/c-md-0 v1.32.1 of v1.32.1-new x3 behind v1.33.1", "apply MachineDeployment/c-md-1 v1.32.1 of v1.32.1-new behind v1.33.1")...)
	w.Roll(controlPlane)
	w.sees(r, 3)
	w.Roll("md-1")
	w.sees(r, 3)
	w.Roll("md-0")
	w.ends(r)
}

// TestRunReplacesOneGroupAfterTheOther: as many groups get other machines of the same
// version as may move at the same time, and the steps do not wait for them. A group whose
// turn comes later keeps its templates, whatever else is written of it.
func TestRunReplacesOneGroupAfterTheOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t, enginetest.Versions("v1.32.1", "md-0", "v1.32.1", "md-1", "v1.32.1", "md-2", "v1.32.1"))
	grown := enginetest.Concurrent(enginetest.Step(plan.InPlace, "", "", "md-1"))
	grown.WorkerNodeGroups[0].MachinesAdded = 2
	p := enginetest.Plan(w.seen.Versions(), enginetest.Versions("v1.33.1", "md-0", "v1.32.1", "md-1", "v1.32.1", "md-2", "v1.32.1"),
		grown, enginetest.Concurrent(enginetest.Step(plan.Template, "v1.32.1", "v1.32.1", "md-0", "md-1", "md-2")), enginetest.Step(plan.ControlPlane, "v1.32.1", "v1.33.1"))
	r := w.run(p, 1, &enginetest.Rendering{Replicas: map[string]int64{"md-1": 3}, Templates: map[string]string{"md-0": "-new", "md-1": "-new", "md-2": "-new"}})
	replaced := func(group, more string) []string {
		name := "c-" + group
		return []string{
			"apply DevMachineTemplate/" + name + "-v1.32.1-new", "apply KubeadmConfigTemplate/" + name + "-v1.32.1-new",
			"apply MachineDeployment/" + name + " v1.32.1 of v1.32.1-new" + more, "apply MachineHealthCheck/" + name,
		}
	}
	w.begins(r, append([]string{"apply MachineDeployment/c-md-1 v1.32.1 x3", "apply MachineHealthCheck/c-md-1"}, replaced("md-0", "")...)...)
	w.sees(r, 2, append(controlPlaneTo("v1.33.1"), "apply MachineDeployment/c-md-0 v1.32.1 of v1.32.1-new behind v1.33.1",
		"apply MachineDeployment/c-md-1 v1.32.1 x3 behind v1.33.1", "apply MachineDeployment/c-md-2 v1.32.1 behind v1.33.1")...)
	w.Roll("md-1") // the count
	w.sees(r, 2)
	w.Roll("md-0")
	w.sees(r, 2, replaced("md-1", " x3 behind v1.33.1")...)
	w.Roll(controlPlane)
	w.sees(r, 3)
	w.Roll("md-1")
	w.sees(r, 3, replaced("md-2", " behind v1.33.1")...)
	w.sees(r, 3)
	w.Roll("md-2")
	w.ends(r)
}

// TestRunWaitsForWhatIsUnderWay: a rollout that goes on already is written
// nothing, and what replaces machines afterwards waits for it.
func TestRunWaitsForWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, enginetest.Versions("v1.33.1", "md-0", "v1.33.1", "md-1", "v1.33.1"))
	w.Objects["MachineDeployment/c-md-0"].SetGeneration(2) // which Cluster API has not carried out
	p := enginetest.Plan(enginetest.Versions("v1.33.1", "md-0", "v1.33.1", "md-1", "v1.33.1"), enginetest.Versions("v1.33.1", "md-0", "v1.33.1", "md-1", "v1.33.1"),
		enginetest.UnderWay(enginetest.Step(plan.Workers, "v1.32.1", "v1.33.1", "md-0")), enginetest.Step(plan.Template, "v1.33.1", "v1.33.1", "md-0", "md-1"))
	r := w.run(p, 1, &enginetest.Rendering{Templates: map[string]string{"md-0": "-new", "md-1": "-new"}})
	w.begins(r)
	w.sees(r, 0)
	w.Roll("md-0")
	w.sees(r, 1,
		"apply DevMachineTemplate/c-md-0-v1.33.1-new", "apply KubeadmConfigTemplate/c-md-0-v1.33.1-new", "apply MachineDeployment/c-md-0 v1.33.1 of v1.33.1-new", "apply MachineHealthCheck/c-md-0")
	w.Roll("md-0")
	w.sees(r, 1,
		"apply DevMachineTemplate/c-md-1-v1.33.1-new", "apply KubeadmConfigTemplate/c-md-1-v1.33.1-new", "apply MachineDeployment/c-md-1 v1.33.1 of v1.33.1-new", "apply MachineHealthCheck/c-md-1")
	w.sees(r, 1)
	w.Roll("md-1")
	w.ends(r)
}

// TestRunGoesBack: a rollout that is called off is written like any other move,
// unless one of its machines has become ready by then.
func TestRunGoesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, enginetest.Versions("v1.33.1", "md-0", "v1.33.1"))
	p := enginetest.Plan(w.seen.Versions(), enginetest.Versions("v1.33.1", "md-0", "v1.32.1"), enginetest.Step(plan.Workers, "v1.33.1", "v1.32.1", "md-0"))
	late := w.run(p, 1, nil)
	w.begins(late)
	var moved *StalePlanError
	if _, err := late.advance(); !errors.As(err, &moved) {
		t.Errorf("a group with a ready machine goes back: %v", err)
	}
	for i := range w.seen.WorkerNodeGroups[0].Machines {
		w.seen.WorkerNodeGroups[0].Machines[i].Ready = false
	}
	r := w.run(p, 1, nil)
	w.begins(r)
	back := groupTo("md-0", "v1.32.1")
	back[2] += " behind v1.33.1"
	w.advances(r, 0, back...)
	w.Roll("md-0")
	w.ends(r)
}

// TestRunCreatesAndRemovesGroups: new groups come all at once; those that go are
// deleted, once they are seen and only once.
func TestRunCreatesAndRemovesGroups(t *testing.T) {
	t.Parallel()
	w := newWorld(t, enginetest.Versions("v1.33.1", "old-0", "v1.33.1", "old-1", "v1.33.1", "old-2", "v1.33.1"))
	p := enginetest.Plan(w.seen.Versions(), enginetest.Versions("v1.33.1", "new-0", "v1.33.1", "new-1", "v1.33.1"),
		enginetest.Step(plan.CreateWorkers, "", "v1.33.1", "new-0", "new-1"), enginetest.Step(plan.RemoveWorkers, "v1.33.1", "", "old-0", "old-1", "old-2"))
	r := w.run(p, 1, nil)
	w.begins(r)
	w.sees(r, 0, append(groupTo("new-0", "v1.33.1"), groupTo("new-1", "v1.33.1")...)...)
	w.Roll("new-1")
	w.sees(r, 0)
	delete(w.Objects, "MachineDeployment/c-old-1") // by somebody else, just now
	w.Roll("new-0")
	stale := w.seen
	w.look()
	for i, group := range stale.WorkerNodeGroups { // the cache has not seen it
		if group.Name == "old-1" {
			w.seen.WorkerNodeGroups = append(w.seen.WorkerNodeGroups, stale.WorkerNodeGroups[i])
		}
	}
	w.advances(r, 1, "remove MachineDeployment/c-old-0", "remove MachineDeployment/c-old-1", "remove MachineDeployment/c-old-2")
	w.advances(r, 1)
	w.ends(r)
}

// TestRunChangesTheControlPlaneInPlace: its changes are written at once where no
// step of its own takes them along, though a rollout of it is under way.
func TestRunChangesTheControlPlaneInPlace(t *testing.T) {
	t.Parallel()
	inPlace := enginetest.Concurrent(enginetest.Step(plan.InPlace, "", ""))
	changed := &enginetest.Rendering{Replicas: map[string]int64{controlPlane: 3}, Cluster: "new"}
	const cluster, grown = "apply Cluster/c label=new", "apply KubeadmControlPlane/c v1.32.1 x3"
	tests := map[string]struct {
		step  []plan.Step // after the change
		at    int
		begin []string
		then  []string
	}{
		"nothing else":           {nil, 1, []string{cluster, "apply DevMachineTemplate/c-v1.32.1", grown}, nil},
		"a rollout is under way": {[]plan.Step{enginetest.UnderWay(enginetest.Step(plan.ControlPlane, "v1.31.1", "v1.32.1"))}, 1, []string{cluster, "apply DevMachineTemplate/c-v1.32.1", grown}, nil},
		"a step of its own": {[]plan.Step{enginetest.Step(plan.ControlPlane, "v1.32.1", "v1.33.1")}, 1, []string{cluster}, []string{
			"apply DevMachineTemplate/c-v1.33.1", "apply KubeadmControlPlane/c v1.33.1 x3", "apply MachineDeployment/c-md-0 v1.32.1 behind v1.33.1",
		}},
		"other machines": {[]plan.Step{enginetest.Step(plan.Template, "v1.32.1", "v1.32.1")}, 1, []string{cluster}, []string{"apply DevMachineTemplate/c-v1.32.1", grown}},
		"a group":        {[]plan.Step{enginetest.Step(plan.RemoveWorkers, "v1.32.1", "", "md-0")}, 1, []string{cluster, "apply DevMachineTemplate/c-v1.32.1", grown}, []string{"remove MachineDeployment/c-md-0"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, enginetest.Versions("v1.32.1", "md-0", "v1.32.1"))
			p := enginetest.Plan(w.seen.Versions(), enginetest.Versions("v1.33.1", "md-0", "v1.32.1"), append([]plan.Step{inPlace}, test.step...)...)
			r := w.run(p, 1, changed)
			w.begins(r, test.begin...)
			w.sees(r, test.at, test.then...)
			w.Roll(controlPlane)
			w.ends(r)
		})
	}
}

// TestRunAfterTheClusterAsAWhole: what a step of the control plane changes of
// the cluster's own objects comes after the control plane; a template that a
// group would have then waits for the group.
func TestRunAfterTheClusterAsAWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, enginetest.Versions("v1.32.1", "md-0", "v1.32.1"))
	p := enginetest.Plan(w.seen.Versions(), enginetest.Versions("v1.33.1", "md-0", "v1.32.1"), enginetest.Step(plan.ControlPlane, "v1.32.1", "v1.33.1"))
	r := w.run(p, 1, nil)
	r.Desired[1].Cluster[0].SetLabels(map[string]string{"label": "later"})
	r.Desired[1].Parts["md-0"] = append([]*unstructured.Unstructured{enginetest.Object("infrastructure.cluster.x-k8s.io", "DevMachineTemplate", "new", "", nil)}, r.Desired[1].Parts["md-0"][3])
	w.begins(r)
	w.sees(r, 0, append(controlPlaneTo("v1.33.1"), "apply Cluster/c label=later")...)
	w.Roll(controlPlane)
	w.ends(r)
}

// TestRunConcurrentComesFirst: a change beside the steps is made at once wherever it
// stands, and does not stand for the step of the same group.
func TestRunConcurrentComesFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t, enginetest.Versions("v1.33.1", "md-0", "v1.32.1"))
	p := enginetest.Plan(w.seen.Versions(), enginetest.Versions("v1.33.1", "md-0", "v1.33.1"), enginetest.Step(plan.Workers, "v1.32.1", "v1.33.1", "md-0"), enginetest.Concurrent(enginetest.Step(plan.InPlace, "", "", "md-0")))
	r := w.run(p, 1, nil)
	w.begins(r, "apply MachineDeployment/c-md-0 v1.32.1 behind v1.33.1", "apply MachineHealthCheck/c-md-0")
	w.sees(r, 0, groupTo("md-0", "v1.33.1")...)
	w.Roll("md-0")
	w.ends(r)
}

// TestRunOfAStaleCache: what the cache has from before a write is not the end of
// the step, however well it looks.
func TestRunOfAStaleCache(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		steps []plan.Step
		r     enginetest.Rendering
		at    int
	}{
		"other machines of the control plane": {[]plan.Step{enginetest.Step(plan.Template, "v1.33.1", "v1.33.1")}, enginetest.Rendering{Templates: map[string]string{controlPlane: "-new"}}, 0},
		"other machines of a group":           {[]plan.Step{enginetest.Step(plan.Template, "v1.33.1", "v1.33.1", "md-0")}, enginetest.Rendering{Templates: map[string]string{"md-0": "-new"}}, 0},
		"other machines of a group, beside":   {[]plan.Step{enginetest.Concurrent(enginetest.Step(plan.Template, "v1.33.1", "v1.33.1", "md-0"))}, enginetest.Rendering{Templates: map[string]string{"md-0": "-new"}}, 1},
		"the count of a group":                {[]plan.Step{enginetest.Concurrent(enginetest.Step(plan.InPlace, "", "", "md-0"))}, enginetest.Rendering{Replicas: map[string]int64{"md-0": 0}}, 1},
		"the count of the control plane":      {[]plan.Step{enginetest.Concurrent(enginetest.Step(plan.InPlace, "", ""))}, enginetest.Rendering{Replicas: map[string]int64{controlPlane: 3}}, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, enginetest.Versions("v1.33.1", "md-0", "v1.33.1"))
			stale := w.seen
			r := w.run(enginetest.Plan(w.seen.Versions(), w.seen.Versions(), test.steps...), 1, &test.r)
			r.begin()
			w.seen = stale
			for range 2 {
				if done, err := r.advance(); err != nil || done {
					t.Fatalf("done is %t, error is %v", done, err)
				}
			}
			if got := []int{r.shown[0].Step, r.shown[1].Step}; !slices.Equal(got, []int{test.at, test.at}) {
				t.Errorf("steps are %v, want %d", got, test.at)
			}
			w.Roll(controlPlane, "md-0")
			w.ends(r)
		})
	}
}
