package changes_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
)

// deployment makes its machines from the templates of these names.
func deployment(bootstrap, infrastructure string) *unstructured.Unstructured {
	reference := func(kind, name string) map[string]any { return map[string]any{"kind": kind, "name": name} }
	return object("MachineDeployment", nil, map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
		"version": "v1.34.2", "bootstrap": map[string]any{"configRef": reference("KubeadmConfigTemplate", bootstrap)}, "infrastructureRef": reference("DevMachineTemplate", infrastructure),
	}}}})
}

// kubeadmControlPlane makes its machines from the template of this name.
func kubeadmControlPlane(infrastructure string) *unstructured.Unstructured {
	return object("KubeadmControlPlane", nil, map[string]any{"spec": map[string]any{"machineTemplate": map[string]any{"spec": map[string]any{
		"infrastructureRef": map[string]any{"kind": "DevMachineTemplate", "name": infrastructure},
	}}}})
}

// template has a name, a label, and a spec.
func template(kind, name, label string, spec map[string]any) *unstructured.Unstructured {
	return object(kind, map[string]any{"name": name, "labels": map[string]any{"a": label}, "uid": label}, map[string]any{"spec": spec, "status": map[string]any{"a": label}})
}

func TestIsTemplate(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]bool{
		"KubeadmConfigTemplate": true, "DevMachineTemplate": true, "DockerMachineTemplate": true,
		"KubeadmConfig": false, "MachineDeployment": false, "Template2": false, "": false,
	} {
		if got := changes.IsTemplate(kind); got != want {
			t.Errorf("%q is a template: %t, want %t", kind, got, want)
		}
	}
}

// TestFollowTemplates: fields stand in the place of the name of the template
// that has them.
func TestFollowTemplates(t *testing.T) {
	t.Parallel()
	type (
		fields  = map[string]any
		objects = []*unstructured.Unstructured
	)
	boot := func(name, label string, spec fields) *unstructured.Unstructured {
		return template("KubeadmConfigTemplate", name, label, spec)
	}
	machine := func(name, label string, spec fields) *unstructured.Unstructured {
		return template("DevMachineTemplate", name, label, spec)
	}
	bootName := changes.Change{Object: "MachineDeployment/a", Path: "spec.template.spec.bootstrap.configRef.name", Action: changes.Changed, Old: `"old"`, New: `"new"`, ReplacesMachines: true}
	inside := func(object, template, path string, action changes.Action, old, is changes.Value) changes.Change {
		return changes.Change{Object: object, Template: template, Path: path, Action: action, Old: old, New: is, ReplacesMachines: true}
	}
	inDeployment := func(template, path string, action changes.Action, old, is changes.Value) changes.Change {
		return inside("MachineDeployment/a", template, path, action, old, is)
	}
	tests := map[string]struct {
		before, after *unstructured.Unstructured
		live, wanted  objects
		want          []changes.Change
	}{
		"nothing changes":                   {deployment("old", "old"), deployment("old", "old"), nil, nil, nil},
		"a kind without templates":          {object("Cluster", nil, fields{"spec": fields{"a": "1"}}), object("Cluster", nil, fields{"spec": fields{"a": "2"}}), nil, nil, []changes.Change{{Object: "Cluster/a", Path: "spec.a", Action: changes.Changed, Old: `"1"`, New: `"2"`}}},
		"neither template is to be had":     {deployment("old", "old"), deployment("new", "old"), nil, nil, []changes.Change{bootName}},
		"the live template is gone":         {deployment("old", "old"), deployment("new", "old"), nil, objects{boot("new", "2", fields{"a": "2"})}, []changes.Change{bootName}},
		"the wanted template is not known":  {deployment("old", "old"), deployment("new", "old"), objects{boot("old", "1", fields{"a": "1"})}, nil, []changes.Change{bootName}},
		"the templates differ in no field":  {deployment("old", "old"), deployment("new", "old"), objects{boot("old", "1", fields{"a": "1"})}, objects{boot("new", "2", fields{"a": "1"})}, []changes.Change{bootName}},
		"a template of another kind's name": {deployment("old", "old"), deployment("new", "old"), objects{machine("old", "1", fields{"a": "1"})}, objects{machine("new", "2", fields{"a": "2"})}, []changes.Change{bootName}},
		"one template": {
			deployment("old", "old"), deployment("new", "old"), objects{boot("old", "1", fields{"a": "1", "b": "1", "same": "1"})}, objects{boot("new", "2", fields{"a": "2", "c": "2", "same": "1"})},
			[]changes.Change{
				inDeployment("KubeadmConfigTemplate", "spec.a", changes.Changed, `"1"`, `"2"`),
				inDeployment("KubeadmConfigTemplate", "spec.b", changes.Removed, `"1"`, ""),
				inDeployment("KubeadmConfigTemplate", "spec.c", changes.Added, "", `"2"`),
			},
		},
		"both templates, and one of them is gone": {
			deployment("old", "old"), deployment("new", "new"), objects{machine("old", "1", fields{"a": "1"})}, objects{boot("new", "2", fields{"a": "2"}), machine("new", "2", fields{"a": "2"})},
			[]changes.Change{bootName, inDeployment("DevMachineTemplate", "spec.a", changes.Changed, `"1"`, `"2"`)},
		},
		"both templates": {
			deployment("old", "old"), deployment("new", "new"),
			objects{machine("old", "1", fields{"a": "1"}), boot("old", "1", fields{"a": "1"})}, objects{boot("new", "2", fields{"a": "2"}), machine("new", "2", fields{"a": "2"})},
			[]changes.Change{inDeployment("KubeadmConfigTemplate", "spec.a", changes.Changed, `"1"`, `"2"`), inDeployment("DevMachineTemplate", "spec.a", changes.Changed, `"1"`, `"2"`)},
		},
		"the control plane's template": {
			kubeadmControlPlane("old"), kubeadmControlPlane("new"), objects{machine("old", "1", fields{"a": "1"})}, objects{machine("new", "2", fields{"a": "2"})},
			[]changes.Change{inside("KubeadmControlPlane/a", "DevMachineTemplate", "spec.a", changes.Changed, `"1"`, `"2"`)},
		},
		"a template beside other fields": {
			deployment("old", "old"),
			func() *unstructured.Unstructured {
				o := deployment("old", "new")
				o.SetLabels(map[string]string{"a": "b"})
				return o
			}(),
			objects{machine("old", "1", fields{"a": "1"})}, objects{machine("new", "2", fields{"a": "2"})},
			[]changes.Change{{Object: "MachineDeployment/a", Path: "metadata.labels", Action: changes.Added, New: `{"a":"b"}`}, inDeployment("DevMachineTemplate", "spec.a", changes.Changed, `"1"`, `"2"`)},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			named := func(objects objects) map[string]*unstructured.Unstructured {
				byName := map[string]*unstructured.Unstructured{}
				for _, o := range objects {
					byName[changes.ObjectName(o)] = o
				}
				return byName
			}
			live := named(test.live)
			found, err := changes.Between(test.before, test.after)
			if err != nil {
				t.Fatal(err)
			}
			got, err := changes.FollowTemplates(test.before, test.after, found, named(test.wanted), func(name string, instead *unstructured.Unstructured) (*unstructured.Unstructured, error) {
				return live[instead.GetKind()+"/"+name], nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("the live template cannot be read", func(t *testing.T) {
		t.Parallel()
		before, after := deployment("old", "old"), deployment("new", "old")
		found, err := changes.Between(before, after)
		if err != nil {
			t.Fatal(err)
		}
		_, err = changes.FollowTemplates(before, after, found, map[string]*unstructured.Unstructured{"KubeadmConfigTemplate/new": boot("new", "2", nil)},
			func(string, *unstructured.Unstructured) (*unstructured.Unstructured, error) {
				return nil, errors.New("no answer")
			})
		if diff := cmp.Diff("comparing the templates of MachineDeployment/a: no answer", fmt.Sprint(err)); diff != "" {
			t.Errorf("error (-want +got):\n%s", diff)
		}
	})
}
