package topology_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
)

// TestWriter finds the patch of a class that writes a field of what is made of it.
func TestWriter(t *testing.T) {
	t.Parallel()
	patch := func(name, kind string, paths ...string) clusterv1.ClusterClassPatch {
		definition := clusterv1.PatchDefinition{Selector: clusterv1.PatchSelector{Kind: kind}}
		for _, path := range paths {
			definition.JSONPatches = append(definition.JSONPatches, clusterv1.JSONPatch{Op: "add", Path: path})
		}
		return clusterv1.ClusterClassPatch{Name: name, Definitions: []clusterv1.PatchDefinition{definition}}
	}
	class := func(patches ...clusterv1.ClusterClassPatch) topology.Class {
		return topology.Class{ClusterClass: &clusterv1.ClusterClass{Spec: clusterv1.ClusterClassSpec{Patches: patches}}}
	}
	twice := patch("twice", "MachineTemplate", "/spec/template/spec/size")
	twice.Definitions = append(twice.Definitions, twice.Definitions[0])
	before := class(patch("a", "MachineTemplate", "/spec/template/spec/disk"))
	tests := map[string]struct {
		patches    []clusterv1.ClusterClassPatch
		kind, path string
		want       [2]string
	}{
		"the field":            {[]clusterv1.ClusterClassPatch{patch("a", "MachineTemplate", "/spec/template/spec/disk", "/spec/template/spec/size")}, "MachineTemplate", "spec.template.spec.size", [2]string{"spec.patches[a].definitions[0].jsonPatches[1]", "a"}},
		"what contains it":     {[]clusterv1.ClusterClassPatch{patch("a", "MachineTemplate", "/spec/template/spec/disks")}, "MachineTemplate", "spec.template.spec.disks[0].size", [2]string{"spec.patches[a].definitions[0].jsonPatches[0]", "a"}},
		"a part of it":         {[]clusterv1.ClusterClassPatch{patch("a", "MachineTemplate", "/spec/template/spec/disks/0/size")}, "MachineTemplate", "spec.template.spec.disks", [2]string{"spec.patches[a].definitions[0].jsonPatches[0]", "a"}},
		"the end of a list":    {[]clusterv1.ClusterClassPatch{patch("a", "MachineTemplate", "/spec/template/spec/disks/-")}, "MachineTemplate", "spec.template.spec.disks[3].size", [2]string{"spec.patches[a].definitions[0].jsonPatches[0]", "a"}},
		"escaped names":        {[]clusterv1.ClusterClassPatch{patch("a", "MachineTemplate", "/spec/template/spec/labels/x~1y~0z")}, "MachineTemplate", "spec.template.spec.labels.x/y~z", [2]string{"spec.patches[a].definitions[0].jsonPatches[0]", "a"}},
		"no template":          {[]clusterv1.ClusterClassPatch{patch("a", "ControlPlaneTemplate", "/spec/template/spec/size")}, "ControlPlane", "spec.size", [2]string{"spec.patches[a].definitions[0].jsonPatches[0]", "a"}},
		"the last of several":  {[]clusterv1.ClusterClassPatch{patch("a", "MachineTemplate", "/spec/template/spec/size"), patch("b", "MachineTemplate", "/spec/template/spec/size"), patch("c", "MachineTemplate", "/spec/template/spec/disk")}, "MachineTemplate", "spec.template.spec.size", [2]string{"spec.patches[b].definitions[0].jsonPatches[0]", "b"}},
		"several definitions":  {[]clusterv1.ClusterClassPatch{twice}, "MachineTemplate", "spec.template.spec.size", [2]string{"spec.patches[twice]", "twice"}},
		"another kind":         {[]clusterv1.ClusterClassPatch{patch("a", "ConfigTemplate", "/spec/template/spec/size")}, "MachineTemplate", "spec.template.spec.size", [2]string{"spec.patches", ""}},
		"no patch":             {nil, "MachineTemplate", "spec.template.spec.size", [2]string{"spec.patches", ""}},
		"no field, one is new": {[]clusterv1.ClusterClassPatch{before.Spec.Patches[0], patch("b", "MachineTemplate", "/spec/template/spec/size"), patch("c", "ConfigTemplate", "/spec/template/spec/size")}, "MachineTemplate", "", [2]string{"spec.patches[b].definitions[0].jsonPatches[0]", "b"}},
		"no field, two are":    {[]clusterv1.ClusterClassPatch{patch("a", "MachineTemplate", "/spec/template/spec/size"), patch("b", "MachineTemplate", "/spec/template/spec/size")}, "MachineTemplate", "", [2]string{"spec.patches", ""}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place, patch := class(test.patches...).Writer(before, test.kind, test.path)
			if got := [2]string{place.String(), patch}; got != test.want {
				t.Errorf("it is %q, want %q", got, test.want)
			}
		})
	}
}

// TestOtherThan returns what is made of templates, where its content is new to its part.
func TestOtherThan(t *testing.T) {
	t.Parallel()
	object := func(kind, name, size string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"kind": kind, "metadata": map[string]any{"name": name}, "spec": map[string]any{"size": size}}}
	}
	was := topology.Parts{"md-0": {object("MachineTemplate", "a", "1"), object("MachineDeployment", "md-0", "1")}, "md-1": {object("MachineTemplate", "b", "2")}}
	is := topology.Parts{
		"md-1": {object("MachineTemplate", "c", "1"), object("ConfigTemplate", "d", "2")},
		"md-0": {object("MachineTemplate", "e", "1"), object("MachineTemplate", "f", "2"), object("MachineDeployment", "md-0", "2"), object("MachineHealthCheck", "md-0", "2")},
		"":     {object("Cluster", "g", "1")},
	}
	var got []string
	for _, object := range is.OtherThan(was) {
		got = append(got, object.GetKind()+"/"+object.GetName())
	}
	want := []string{"Cluster/g", "MachineTemplate/f", "MachineTemplate/c", "ConfigTemplate/d"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}
