package changes_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
)

// object is one of a kind with further fields.
func object(kind string, metadata, fields map[string]any) *unstructured.Unstructured {
	meta := map[string]any{"name": "a"}
	for name, value := range metadata {
		meta[name] = value
	}
	o := map[string]any{"apiVersion": "v1", "kind": kind, "metadata": meta}
	for name, value := range fields {
		o[name] = value
	}
	return &unstructured.Unstructured{Object: o}
}

func TestObjectName(t *testing.T) {
	t.Parallel()
	if got, want := changes.ObjectName(object("Cluster", map[string]any{"name": "prod", "namespace": "ns"}, nil)), "Cluster/prod"; got != want {
		t.Errorf("name is %s, want %s", got, want)
	}
}

// TestBetween: what would change is in the order of its paths, each as it
// stands in the object, with its old and its new value.
func TestBetween(t *testing.T) {
	t.Parallel()
	type fields = map[string]any
	labels := func(labels fields) fields { return fields{"labels": labels} }
	spec := func(spec fields) fields { return fields{"spec": spec} }
	change := func(action changes.Action, path string, old, is changes.Value) changes.Change {
		return changes.Change{Object: "Cluster/a", Path: path, Action: action, Old: old, New: is}
	}
	added := func(path string, is changes.Value) changes.Change { return change(changes.Added, path, "", is) }
	changed := func(path string, old, is changes.Value) changes.Change {
		return change(changes.Changed, path, old, is)
	}
	removed := func(path string, old changes.Value) changes.Change { return change(changes.Removed, path, old, "") }
	secret := func(action changes.Action, path string) changes.Change {
		return changes.Change{Object: "Secret/a", Path: path, Action: action, Sensitive: true}
	}
	tests := map[string]struct {
		live, wanted *unstructured.Unstructured
		want         []changes.Change
	}{
		"none": {object("Cluster", nil, spec(fields{"a": "b"})), object("Cluster", nil, spec(fields{"a": "b"})), nil},
		"what the API server writes": {
			object("Cluster", fields{"uid": "1", "generation": int64(1), "resourceVersion": "1", "managedFields": []any{fields{}}, "creationTimestamp": "2026-01-02T03:04:05Z"}, fields{"status": fields{"a": "b"}}),
			object("Cluster", fields{"uid": "2", "generation": int64(2), "resourceVersion": "2"}, fields{"status": fields{}}), nil,
		},
		"many, sorted": {
			object("Cluster", labels(fields{"m": "1", "z": "1"}), spec(fields{"d": "1", "b": "1", "y": "1"})),
			object("Cluster", labels(fields{"m": "2", "k": "2"}), spec(fields{"d": "2", "c": "2", "a": "2", "x": "2"})),
			[]changes.Change{
				added("metadata.labels.k", `"2"`), changed("metadata.labels.m", `"1"`, `"2"`), removed("metadata.labels.z", `"1"`),
				added("spec.a", `"2"`), removed("spec.b", `"1"`), added("spec.c", `"2"`), changed("spec.d", `"1"`, `"2"`), added("spec.x", `"2"`), removed("spec.y", `"1"`),
			},
		},
		"names with slashes and tildes": {
			object("Cluster", labels(fields{"example.org/old": "1"}), spec(fields{"~": "1"})),
			object("Cluster", labels(fields{"example.org/a": "2", "x~y/z": "2", "~1": "2", "~0": "2", "~01": "2", "/": "2"}), spec(fields{"~": "2"})),
			[]changes.Change{
				added("metadata.labels./", `"2"`), added("metadata.labels.example.org/a", `"2"`), removed("metadata.labels.example.org/old", `"1"`),
				added("metadata.labels.x~y/z", `"2"`), added("metadata.labels.~0", `"2"`), added("metadata.labels.~01", `"2"`), added("metadata.labels.~1", `"2"`),
				changed("spec.~", `"1"`, `"2"`),
			},
		},
		"values of every type": {
			object("Cluster", nil, spec(fields{"text": "1", "number": int64(1), "list": []any{}, "bool": false})),
			object("Cluster", nil, spec(fields{
				"text": "a \"b\" <c>", "number": int64(12345678901234567), "fraction": 0.5, "bool": true, "nothing": nil,
				"list": []any{"a", int64(1)}, "map": fields{"b": "<&>", "a": []any{fields{"c": nil}}}, "empty": fields{},
			})),
			[]changes.Change{
				changed("spec.bool", "false", "true"), added("spec.empty", "{}"), added("spec.fraction", "0.5"),
				added("spec.list.0", `"a"`), added("spec.list.1", "1"), added("spec.map", `{"a":[{"c":null}],"b":"<&>"}`),
				added("spec.nothing", "null"), changed("spec.number", "1", "12345678901234567"), changed("spec.text", `"1"`, `"a \"b\" <c>"`),
			},
		},
		"elements of a list": {
			object("Cluster", nil, spec(fields{"list": []any{"a", fields{"b": "1"}, "c", "d"}})), object("Cluster", nil, spec(fields{"list": []any{"a", fields{"b": "2"}, "e"}})),
			[]changes.Change{changed("spec.list.1.b", `"1"`, `"2"`), changed("spec.list.2", `"c"`, `"e"`), removed("spec.list.3", `"d"`)},
		},
		"empty text": {
			object("Cluster", labels(fields{"node-role.kubernetes.io/web": "x"}), spec(fields{"a": "b"})), object("Cluster", labels(fields{"node-role.kubernetes.io/web": ""}), spec(fields{"a": "", "b": ""})),
			[]changes.Change{changed("metadata.labels.node-role.kubernetes.io/web", `"x"`, `""`), changed("spec.a", `"b"`, `""`), added("spec.b", `""`)},
		},
		"another type": {
			object("Cluster", nil, spec(fields{"a": "1", "b": fields{"c": "d"}, "e": []any{"f"}, "g": nil})), object("Cluster", nil, spec(fields{"a": int64(1), "b": "x", "e": fields{}, "g": "h"})),
			[]changes.Change{changed("spec.a", `"1"`, "1"), changed("spec.b", `{"c":"d"}`, `"x"`), changed("spec.e", `["f"]`, "{}"), changed("spec.g", "null", `"h"`)},
		},
		"Secret": {
			object("Secret", labels(fields{"a/b": "1"}), fields{"data": fields{"password": "b2xk", "gone": "eA=="}}),
			object("Secret", labels(fields{"a/b": "2"}), fields{"data": fields{"password": "bmV3"}, "stringData": fields{"more": "secret"}}),
			[]changes.Change{secret(changes.Removed, "data.gone"), secret(changes.Changed, "data.password"), secret(changes.Changed, "metadata.labels.a/b"), secret(changes.Added, "stringData")},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live, wanted := test.live.DeepCopy(), test.wanted.DeepCopy()
			got, err := changes.Between(live, wanted)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]any{test.live, test.wanted}, []any{live, wanted}); diff != "" {
				t.Errorf("comparing changed the objects (-before +after):\n%s", diff)
			}
		})
	}
}

// TestReferred: references of both contracts.
func TestReferred(t *testing.T) {
	t.Parallel()
	type referred struct {
		Kind  schema.GroupKind
		Name  string
		Found bool
	}
	tests := map[string]struct {
		reference map[string]any
		want      referred
	}{
		"v1beta2":      {map[string]any{"apiGroup": "a.b", "kind": "K", "name": "n"}, referred{schema.GroupKind{Group: "a.b", Kind: "K"}, "n", true}},
		"v1beta1":      {map[string]any{"apiVersion": "a.b/v1", "kind": "K", "name": "n", "namespace": "ns"}, referred{schema.GroupKind{Group: "a.b", Kind: "K"}, "n", true}},
		"without name": {map[string]any{"kind": "K"}, referred{schema.GroupKind{Kind: "K"}, "", false}},
		"none":         {nil, referred{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := object("TalosControlPlane", nil, nil)
			if test.reference != nil {
				o = object("TalosControlPlane", nil, map[string]any{"spec": map[string]any{"infrastructureTemplate": test.reference}})
			}
			var got referred
			got.Kind, got.Name, got.Found = changes.Referred(o, changes.References("TalosControlPlane")[0])
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestReplacesMachines: which fields of which kind replace machines, and that holding
// them leaves no such difference.
func TestReplacesMachines(t *testing.T) {
	t.Parallel()
	type fields = map[string]any
	template := func(spec fields) fields {
		return fields{"spec": fields{"replicas": int64(1), "template": fields{"spec": spec}}}
	}
	tests := map[string]struct {
		kind         string
		live, wanted fields
		want         []changes.Change
	}{
		"MachineDeployment": {
			"MachineDeployment",
			template(fields{"version": "v1", "bootstrap": fields{"configRef": fields{"name": "a"}}, "infrastructureRef": fields{"name": "a"}, "deletion": fields{"nodeDrainTimeoutSeconds": int64(1)}}),
			template(fields{"version": "v2", "bootstrap": fields{"configRef": fields{"name": "b"}}, "infrastructureRef": fields{"name": "b"}, "deletion": fields{"nodeDrainTimeoutSeconds": int64(2)}, "failureDomain": "x"}),
			[]changes.Change{
				{Object: "MachineDeployment/a", Path: "spec.template.spec.bootstrap.configRef.name", Action: changes.Changed, Old: `"a"`, New: `"b"`, ReplacesMachines: true},
				{Object: "MachineDeployment/a", Path: "spec.template.spec.deletion.nodeDrainTimeoutSeconds", Action: changes.Changed, Old: `1`, New: `2`},
				{Object: "MachineDeployment/a", Path: "spec.template.spec.failureDomain", Action: changes.Added, New: `"x"`, ReplacesMachines: true},
				{Object: "MachineDeployment/a", Path: "spec.template.spec.infrastructureRef.name", Action: changes.Changed, Old: `"a"`, New: `"b"`, ReplacesMachines: true},
				{Object: "MachineDeployment/a", Path: "spec.template.spec.version", Action: changes.Changed, Old: `"v1"`, New: `"v2"`, ReplacesMachines: true},
			},
		},
		"KubeadmControlPlane": {
			"KubeadmControlPlane",
			fields{"spec": fields{"version": "v1", "replicas": int64(1), "kubeadmConfigSpec": fields{"files": []any{}}, "machineTemplate": fields{"spec": fields{"infrastructureRef": fields{"name": "a"}}}}},
			fields{"spec": fields{"version": "v2", "replicas": int64(3), "machineTemplate": fields{"spec": fields{"infrastructureRef": fields{"name": "b"}}}}},
			[]changes.Change{
				{Object: "KubeadmControlPlane/a", Path: "spec.kubeadmConfigSpec", Action: changes.Removed, Old: `{"files":[]}`, ReplacesMachines: true},
				{Object: "KubeadmControlPlane/a", Path: "spec.machineTemplate.spec.infrastructureRef.name", Action: changes.Changed, Old: `"a"`, New: `"b"`, ReplacesMachines: true},
				{Object: "KubeadmControlPlane/a", Path: "spec.replicas", Action: changes.Changed, Old: `1`, New: `3`},
				{Object: "KubeadmControlPlane/a", Path: "spec.version", Action: changes.Changed, Old: `"v1"`, New: `"v2"`, ReplacesMachines: true},
			},
		},
		"any other kind": {
			"MachineHealthCheck", fields{"spec": fields{"version": "v1"}}, fields{"spec": fields{"version": "v2"}},
			[]changes.Change{{Object: "MachineHealthCheck/a", Path: "spec.version", Action: changes.Changed, Old: `"v1"`, New: `"v2"`}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live, wanted := object(test.kind, nil, test.live), object(test.kind, nil, test.wanted)
			got, err := changes.Between(live, wanted)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			if err := changes.Hold(wanted, live); err != nil {
				t.Fatal(err)
			}
			var inPlace []changes.Change
			for _, field := range test.want {
				if !field.ReplacesMachines {
					inPlace = append(inPlace, field)
				}
			}
			held, err := changes.Between(live, wanted)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(inPlace, held); diff != "" {
				t.Errorf("changes when held (-want +got):\n%s", diff)
			}
		})
	}
}
