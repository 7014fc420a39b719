package changes_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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
// stands in the object, with values that can be read.
func TestBetween(t *testing.T) {
	t.Parallel()
	type fields = map[string]any
	labels := func(labels fields) fields { return fields{"labels": labels} }
	spec := func(spec fields) fields { return fields{"spec": spec} }
	tests := map[string]struct {
		live, wanted *unstructured.Unstructured
		want         []string
	}{
		"none": {object("Cluster", nil, spec(fields{"a": "b"})), object("Cluster", nil, spec(fields{"a": "b"})), []string{}},
		"what the API server writes": {
			object("Cluster", fields{"uid": "1", "generation": int64(1), "resourceVersion": "1", "managedFields": []any{fields{}}, "creationTimestamp": "2026-01-02T03:04:05Z"}, fields{"status": fields{"a": "b"}}),
			object("Cluster", fields{"uid": "2", "generation": int64(2), "resourceVersion": "2"}, fields{"status": fields{}}), []string{},
		},
		"many, sorted": {
			object("Cluster", labels(fields{"m": "1", "z": "1"}), spec(fields{"d": "1", "b": "1", "y": "1"})),
			object("Cluster", labels(fields{"m": "2", "k": "2"}), spec(fields{"d": "2", "c": "2", "a": "2", "x": "2"})),
			[]string{
				"metadata.labels.k would become 2", "metadata.labels.m would become 2", "metadata.labels.z would be removed",
				"spec.a would become 2", "spec.b would be removed", "spec.c would become 2", "spec.d would become 2", "spec.x would become 2", "spec.y would be removed",
			},
		},
		"names with slashes and tildes": {
			object("Cluster", labels(fields{"example.org/old": "1"}), spec(fields{"~": "1"})),
			object("Cluster", labels(fields{"example.org/a": "2", "x~y/z": "2", "~1": "2", "~0": "2", "~01": "2", "/": "2"}), spec(fields{"~": "2"})),
			[]string{
				"metadata.labels./ would become 2", "metadata.labels.example.org/a would become 2", "metadata.labels.example.org/old would be removed",
				"metadata.labels.x~y/z would become 2", "metadata.labels.~0 would become 2", "metadata.labels.~01 would become 2", "metadata.labels.~1 would become 2",
				"spec.~ would become 2",
			},
		},
		"values of every type": {
			object("Cluster", nil, spec(fields{"text": "1", "number": int64(1), "list": []any{}, "bool": false})),
			object("Cluster", nil, spec(fields{
				"text": "a \"b\" <c>", "number": int64(12345678901234567), "fraction": 0.5, "bool": true, "nothing": nil,
				"list": []any{"a", int64(1)}, "map": fields{"b": "<&>", "a": []any{fields{"c": nil}}}, "empty": fields{},
			})),
			[]string{
				"spec.bool would become true", "spec.empty would become {}", "spec.fraction would become 0.5",
				"spec.list.0 would become a", "spec.list.1 would become 1", `spec.map would become {"a":[{"c":null}],"b":"<&>"}`,
				"spec.nothing would become null", "spec.number would become 12345678901234567", `spec.text would become a "b" <c>`,
			},
		},
		"empty text": {
			object("Cluster", labels(fields{"node-role.kubernetes.io/web": "x"}), spec(fields{"a": "b"})), object("Cluster", labels(fields{"node-role.kubernetes.io/web": ""}), spec(fields{"a": "", "b": ""})),
			[]string{`metadata.labels.node-role.kubernetes.io/web would become ""`, `spec.a would become ""`, `spec.b would become ""`},
		},
		"another type": {
			object("Cluster", nil, spec(fields{"a": "1", "b": fields{"c": "d"}})), object("Cluster", nil, spec(fields{"a": int64(1), "b": "x"})),
			[]string{"spec.a would become 1", "spec.b would become x"},
		},
		"Secret": {
			object("Secret", labels(fields{"a/b": "1"}), fields{"data": fields{"password": "b2xk", "gone": "eA=="}}),
			object("Secret", labels(fields{"a/b": "2"}), fields{"data": fields{"password": "bmV3"}, "stringData": fields{"more": "secret"}}),
			[]string{"data.gone differs", "data.password differs", "metadata.labels.a/b differs", "stringData differs"},
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
			texts := make([]string, len(got))
			for i, field := range got {
				texts[i] = field.String()
			}
			if diff := cmp.Diff(test.want, texts); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]any{test.live, test.wanted}, []any{live, wanted}); diff != "" {
				t.Errorf("comparing changed the objects (-before +after):\n%s", diff)
			}
		})
	}
}

// TestRolling: which fields of which kind replace machines, and that holding
// them leaves no such difference.
func TestRolling(t *testing.T) {
	t.Parallel()
	type fields = map[string]any
	template := func(spec fields) fields {
		return fields{"spec": fields{"replicas": int64(1), "template": fields{"spec": spec}}}
	}
	tests := map[string]struct {
		kind         string
		live, wanted fields
		want         []changes.Field
	}{
		"MachineDeployment": {
			"MachineDeployment",
			template(fields{"version": "v1", "bootstrap": fields{"configRef": fields{"name": "a"}}, "infrastructureRef": fields{"name": "a"}, "deletion": fields{"nodeDrainTimeoutSeconds": int64(1)}}),
			template(fields{"version": "v2", "bootstrap": fields{"configRef": fields{"name": "b"}}, "infrastructureRef": fields{"name": "b"}, "deletion": fields{"nodeDrainTimeoutSeconds": int64(2)}, "failureDomain": "x"}),
			[]changes.Field{
				{Path: "spec.template.spec.bootstrap.configRef.name", Change: "would become b", Rolling: true},
				{Path: "spec.template.spec.deletion.nodeDrainTimeoutSeconds", Change: "would become 2"},
				{Path: "spec.template.spec.failureDomain", Change: "would become x", Rolling: true},
				{Path: "spec.template.spec.infrastructureRef.name", Change: "would become b", Rolling: true},
				{Path: "spec.template.spec.version", Change: "would become v2", Rolling: true},
			},
		},
		"KubeadmControlPlane": {
			"KubeadmControlPlane",
			fields{"spec": fields{"version": "v1", "replicas": int64(1), "kubeadmConfigSpec": fields{"files": []any{}}, "machineTemplate": fields{"spec": fields{"infrastructureRef": fields{"name": "a"}}}}},
			fields{"spec": fields{"version": "v2", "replicas": int64(3), "machineTemplate": fields{"spec": fields{"infrastructureRef": fields{"name": "b"}}}}},
			[]changes.Field{
				{Path: "spec.kubeadmConfigSpec", Change: "would be removed", Rolling: true},
				{Path: "spec.machineTemplate.spec.infrastructureRef.name", Change: "would become b", Rolling: true},
				{Path: "spec.replicas", Change: "would become 3"},
				{Path: "spec.version", Change: "would become v2", Rolling: true},
			},
		},
		"any other kind": {
			"MachineHealthCheck", fields{"spec": fields{"version": "v1"}}, fields{"spec": fields{"version": "v2"}},
			[]changes.Field{{Path: "spec.version", Change: "would become v2"}},
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
				t.Errorf("fields (-want +got):\n%s", diff)
			}
			if err := changes.Hold(wanted, live); err != nil {
				t.Fatal(err)
			}
			var inPlace []changes.Field
			for _, field := range test.want {
				if !field.Rolling {
					inPlace = append(inPlace, field)
				}
			}
			held, err := changes.Between(live, wanted)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(inPlace, held); diff != "" {
				t.Errorf("fields when held (-want +got):\n%s", diff)
			}
		})
	}
}
