package lifecycle

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
)

// TestRestoredTemplates: a template that is missing is a change in place of its part, and
// one that is new comes with the fields that it is made for.
func TestRestoredTemplates(t *testing.T) {
	t.Parallel()
	object := func(kind, name string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"kind": kind}}
		o.SetName(name)
		return o
	}
	stage := engine.Objects{Parts: map[string][]*unstructured.Unstructured{
		"md-0": {object("KubeadmConfigTemplate", "a"), object("DevMachineTemplate", "b")},
		"md-1": {object("KubeadmConfigTemplate", "c")},
	}}
	missing := changes.Change{Object: "KubeadmConfigTemplate/a", Action: changes.Restored}
	found := []changes.Change{missing, {Object: "KubeadmConfigTemplate/c", Action: changes.Added}}
	sorted := byPart(stage, found, nil)
	want := partChanges{"md-0": {Fields: []changes.Change{missing}}}
	if diff := cmp.Diff(want, sorted); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if parts := restored(stage, found); !slices.Equal(parts, []string{"md-0"}) {
		t.Errorf("parts with a missing template: %s", parts)
	}
}
