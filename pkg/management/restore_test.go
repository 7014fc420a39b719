package management

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// TestCompareNamesMissingTemplates: a template that is not there is a new one, unless
// a live object refers to it.
func TestCompareNamesMissingTemplates(t *testing.T) {
	t.Parallel()
	w := newWorld(t, enginetest.Versions("v1.33.1", "md-0", "v1.32.1", "md-1", "v1.32.1"))
	delete(w.Objects, "DevMachineTemplate/c-v1.33.1")
	delete(w.Objects, "KubeadmConfigTemplate/c-md-0-v1.32.1")
	stage := desiredAt(enginetest.Versions("v1.33.1", "md-0", "v1.32.1", "md-1", "v1.33.1", "md-2", "v1.32.1"))
	found, err := w.client().Compare(t.Context(), stage.All())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]changes.Action{}
	for _, change := range found {
		got[change.Object] = change.Action
	}
	const added, restored = changes.Added, changes.Restored
	want := map[string]changes.Action{
		"DevMachineTemplate/c-v1.33.1": restored, "KubeadmConfigTemplate/c-md-0-v1.32.1": restored,
		"DevMachineTemplate/c-md-1-v1.33.1": added, "KubeadmConfigTemplate/c-md-1-v1.33.1": added, "MachineDeployment/c-md-1": changes.Changed,
		"DevMachineTemplate/c-md-2-v1.32.1": added, "KubeadmConfigTemplate/c-md-2-v1.32.1": added, "MachineDeployment/c-md-2": added, "MachineHealthCheck/c-md-2": added,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
}

// TestRunRestoresTemplates: what live objects refer to and is not there is written
// first, also of groups that no step moves, and once.
func TestRunRestoresTemplates(t *testing.T) {
	t.Parallel()
	w := newWorld(t, enginetest.Versions("v1.32.1", "md-0", "v1.32.1", "md-1", "v1.32.1"))
	for _, name := range []string{"DevMachineTemplate/c-v1.32.1", "KubeadmConfigTemplate/c-md-0-v1.32.1", "DevMachineTemplate/c-md-1-v1.32.1"} {
		delete(w.Objects, name)
	}
	p := enginetest.Plan(w.seen.Versions(), enginetest.Versions("v1.33.1", "md-0", "v1.32.1", "md-1", "v1.32.1"), enginetest.Step(plan.ControlPlane, "v1.32.1", "v1.33.1"))
	x := w.run(p)
	w.begins(x, "apply DevMachineTemplate/c-v1.32.1", "apply KubeadmConfigTemplate/c-md-0-v1.32.1", "apply DevMachineTemplate/c-md-1-v1.32.1")
	w.begins(x)
}

// TestRefers compares kind and name.
func TestRefers(t *testing.T) {
	t.Parallel()
	stage := desiredAt(enginetest.Versions("v1.32.1", "md-0", "v1.32.1"))
	deployment := stage.Parts["md-0"][2]
	for object, want := range map[*unstructured.Unstructured]bool{
		stage.Parts["md-0"][0]: true, stage.Parts["md-0"][1]: true, deployment: false,
		stage.Parts[controlPlane][0]: false, enginetest.Object("g", "OtherTemplate", "c-md-0-v1.32.1", "", nil): false,
	} {
		if got := refers(deployment, object); got != want {
			t.Errorf("refers to %s %s: %t, want %t", object.GetKind(), object.GetName(), got, want)
		}
	}
}
