package changes_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
)

// TestOwned: what a manager has applied, and nothing of what others have, is taken from the
// live object.
func TestOwned(t *testing.T) {
	t.Parallel()
	type fields = map[string]any
	live := object("Cluster", fields{"namespace": "ns", "labels": fields{"ours": "1", "theirs": "2"}}, fields{
		"spec": fields{
			"paused": true, "version": "v2", "empty": fields{},
			"topology": fields{"version": "v1", "workers": []any{
				fields{"name": "md-0", "class": "a", "replicas": int64(3)}, fields{"name": "md-1", "class": "a"},
			}},
			"atomic": []any{"x", "y"}, "set": []any{"a", "b"},
		},
		"status": fields{"ready": true},
	})
	entry := func(manager string, operation metav1.ManagedFieldsOperationType, subresource, raw string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, Subresource: subresource, FieldsV1: metav1.NewFieldsV1(raw)}
	}
	const apply = metav1.ManagedFieldsOperationApply
	live.SetManagedFields([]metav1.ManagedFieldsEntry{
		entry("us", apply, "", `{"f:metadata":{"f:labels":{"f:ours":{}}},"f:spec":{"f:version":{},"f:empty":{},"f:gone":{},"f:atomic":{},"f:set":{"v:\"b\"":{}},
			"f:topology":{"f:workers":{"k:{\"name\":\"md-0\"}":{".":{},"f:name":{},"f:class":{}},"k:{\"name\":\"md-2\"}":{".":{},"f:name":{}}}}}}`),
		entry("us", metav1.ManagedFieldsOperationUpdate, "", `{"f:spec":{"f:paused":{}}}`),
		entry("us", apply, "status", `{"f:status":{"f:ready":{}}}`),
		entry("them", apply, "", `{"f:metadata":{"f:labels":{"f:theirs":{}}},"f:spec":{"f:topology":{"f:version":{}}}}`),
	})
	metadata := fields{"name": "a", "namespace": "ns"}
	tests := map[string]fields{
		"us": {
			"apiVersion": "v1", "kind": "Cluster", "metadata": fields{"name": "a", "namespace": "ns", "labels": fields{"ours": "1"}},
			"spec": fields{
				"version": "v2", "empty": fields{}, "atomic": []any{"x", "y"}, "set": []any{"b"},
				"topology": fields{"workers": []any{fields{"name": "md-0", "class": "a"}}},
			},
		},
		"nobody": {"apiVersion": "v1", "kind": "Cluster", "metadata": metadata},
	}
	for manager, want := range tests {
		t.Run(manager, func(t *testing.T) {
			t.Parallel()
			got, err := changes.Owned(live, manager)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.Object); diff != "" {
				t.Errorf("object (-want +got):\n%s", diff)
			}
		})
	}
}

// TestHoldOwned: of the fields that replace machines, those that a manager neither writes
// nor owns stay out of what it writes.
func TestHoldOwned(t *testing.T) {
	t.Parallel()
	type fields = map[string]any
	template := func(spec fields) fields { return fields{"spec": fields{"template": fields{"spec": spec}}} }
	live := object("MachineDeployment", nil, template(fields{"version": "v1", "failureDomain": "a", "bootstrap": fields{"configRef": fields{"name": "b"}}}))
	live.SetManagedFields([]metav1.ManagedFieldsEntry{{
		Manager: "us", Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:template":{"f:spec":{"f:failureDomain":{}}}}}`),
	}})
	wanted := object("MachineDeployment", nil, template(fields{"version": "v2"}))
	if err := changes.HoldOwned(wanted, live, "us"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(object("MachineDeployment", nil, template(fields{"version": "v1", "failureDomain": "a"})).Object, wanted.Object); diff != "" {
		t.Errorf("object (-want +got):\n%s", diff)
	}
}
