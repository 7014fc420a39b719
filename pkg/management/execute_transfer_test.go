package management

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// TestTransferFields: what one manager applied is another one's afterwards, with what
// that one had already. All else stays whose it was.
func TestTransferFields(t *testing.T) {
	t.Parallel()
	entry := func(manager string, operation metav1.ManagedFieldsOperationType, subresource, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: operation, Subresource: subresource, APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
		}
	}
	const apply, update = metav1.ManagedFieldsOperationApply, metav1.ManagedFieldsOperationUpdate
	others := []metav1.ManagedFieldsEntry{entry("kubectl", update, "", `{"f:spec":{"f:replicas":{}}}`), entry("a", update, "", `{}`), entry("a", apply, "status", `{}`)}
	for name, test := range map[string]struct{ before, want []metav1.ManagedFieldsEntry }{
		"given": {
			append([]metav1.ManagedFieldsEntry{entry("a", apply, "", `{"f:spec":{"f:x":{}}}`)}, others...),
			append(append([]metav1.ManagedFieldsEntry{}, others...), entry("b", apply, "", `{"f:spec":{"f:x":{}}}`)),
		},
		"together with its own": {
			[]metav1.ManagedFieldsEntry{entry("b", apply, "", `{"f:spec":{"f:y":{}}}`), entry("a", apply, "", `{"f:spec":{"f:x":{}}}`)},
			[]metav1.ManagedFieldsEntry{entry("b", apply, "", `{"f:spec":{"f:x":{},"f:y":{}}}`)},
		},
		"given before": {[]metav1.ManagedFieldsEntry{entry("b", apply, "", `{"f:spec":{}}`)}, []metav1.ManagedFieldsEntry{entry("b", apply, "", `{"f:spec":{}}`)}},
		"of nobody":    {others, others},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object := &unstructured.Unstructured{Object: map[string]any{}}
			object.SetManagedFields(test.before)
			if err := transferFields(object, "a", "b"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, object.GetManagedFields()); diff != "" {
				t.Errorf("managed fields (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTransferDeployment: what tells whose a MachineDeployment is, there and back.
func TestTransferDeployment(t *testing.T) {
	t.Parallel()
	owned := func() *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"kind": "MachineDeployment",
			"metadata": map[string]any{
				"labels":      map[string]any{clusterv1.ClusterTopologyOwnedLabel: "", clusterv1.ClusterTopologyMachineDeploymentNameLabel: "md-1", "mine": "x"},
				"annotations": map[string]any{"mine": "y"},
				"finalizers":  []any{"cluster.x-k8s.io/machinedeployment", clusterv1.MachineDeploymentTopologyFinalizer},
			},
			"spec": map[string]any{"template": map[string]any{"metadata": map[string]any{"annotations": map[string]any{"mine": "z"}}}},
		}}
	}
	out := &unstructured.Unstructured{Object: map[string]any{
		"kind": "MachineDeployment",
		"metadata": map[string]any{
			"labels":      map[string]any{"mine": "x"},
			"annotations": map[string]any{"mine": "y", clusterv1.MachineSetSkipPreflightChecksAnnotation: "KubeadmVersionSkew,ControlPlaneVersionSkew"},
			"finalizers":  []any{"cluster.x-k8s.io/machinedeployment"},
		},
		"spec": map[string]any{"template": map[string]any{"metadata": map[string]any{"annotations": map[string]any{"mine": "z", v1alpha1.DetachedAnnotation: ""}}}},
	}}
	object := owned()
	for range 2 { // once more, after a run that was stopped
		if err := transferDeployment(object, "md-1", plan.Detach); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(out, object); diff != "" {
			t.Errorf("detached (-want +got):\n%s", diff)
		}
	}
	for range 2 {
		if err := transferDeployment(object, "md-1", plan.Return); err != nil {
			t.Fatal(err)
		}
		back := owned()
		back.SetFinalizers([]string{"cluster.x-k8s.io/machinedeployment"}) // Cluster API adds its own
		if diff := cmp.Diff(back, object); diff != "" {
			t.Errorf("returned (-want +got):\n%s", diff)
		}
	}
}

// TestGiveVersions: the entries of the groups get them, and no others.
func TestGiveVersions(t *testing.T) {
	t.Parallel()
	cluster := func(entries ...any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"topology": map[string]any{"workers": map[string]any{"machineDeployments": entries}}}}}
	}
	got := cluster(map[string]any{"name": "md-0"}, map[string]any{"name": "md-1", "metadata": map[string]any{"annotations": map[string]any{"a": "b"}}})
	given, err := GiveVersions(got, map[string]string{"md-1": "v1.33.1", "md-2": "v1.33.1"})
	if err != nil || !given {
		t.Fatalf("given %t: %v", given, err)
	}
	want := cluster(map[string]any{"name": "md-0"}, map[string]any{"name": "md-1", "version": "v1.33.1", "metadata": map[string]any{"annotations": map[string]any{"a": "b", v1alpha1.PinnedAnnotation: ""}}})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cluster (-want +got):\n%s", diff)
	}
	if given, err := GiveVersions(cluster(map[string]any{"name": "md-0"}), map[string]string{"md-1": "v1.33.1"}); err != nil || given {
		t.Errorf("no group of the names: given %t: %v", given, err)
	}
}
