package backup

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

const restoreMark = `{"why":"restore it","for":"restore"}`

// restored is a Cluster as a restore makes it.
func restored(id, mark string) *unstructured.Unstructured {
	object := aCluster("a")
	annotations := map[string]string{v1alpha1.RestoredAnnotation: id}
	if mark != "" {
		annotations[v1alpha1.PauseAnnotation] = mark
	}
	object.SetAnnotations(annotations)
	return object
}

func pausedOne(object *unstructured.Unstructured) *unstructured.Unstructured {
	object.Object["spec"] = map[string]any{"paused": true}
	return object
}

func TestWhatThereIsOfABackup(t *testing.T) {
	t.Parallel()
	backup := Saved{Contents: Contents{ID: "1"}, objects: []*unstructured.Unstructured{aCluster("a"), aCluster("b")}}
	const exists = "the management cluster has clusters of these names already, which were not restored from this backup: default/a; restore into another management cluster, or delete them"
	for name, test := range map[string]struct {
		there             *unstructured.Unstructured
		resumed, finished bool
		want              refusals
	}{
		"nothing":           {},
		"another cluster":   {there: aCluster("a"), want: refusals{{Check: checkExists, Reason: exists}}},
		"of another backup": {there: restored("2", ""), want: refusals{{Check: checkExists, Reason: exists}}},
		"half restored":     {there: pausedOne(restored("1", restoreMark))},
		"resumed":           {there: restored("1", restoreMark), resumed: true},
		"complete":          {there: restored("1", ""), resumed: true, finished: true},
		"paused since":      {there: pausedOne(restored("1", "")), resumed: true, finished: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &Service{objects: fakeClient(t, interceptor.Funcs{})}
			if test.there != nil {
				s.objects = fakeClient(t, interceptor.Funcs{}, test.there)
			}
			found := refusals(nil)
			got, err := s.look(t.Context(), backup, &found)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, found); diff != "" {
				t.Errorf("refusals (-want +got):\n%s", diff)
			}
			if got.resumed != test.resumed && len(found) == 0 || got.finished() != test.finished && len(found) == 0 {
				t.Errorf("resumed %t, finished %t; want %t, %t", got.resumed, got.finished(), test.resumed, test.finished)
			}
		})
	}
}

// TestGivenBack: an object that was created has its field managers, whatever they were.
func TestGivenBack(t *testing.T) {
	t.Parallel()
	fields := metav1.NewFieldsV1(`{"f:spec":{"f:x":{}}}`)
	entry := func(manager string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "cluster.x-k8s.io/v1beta2", FieldsType: "FieldsV1", FieldsV1: fields}
	}
	object := aCluster("a")
	object.SetManagedFields([]metav1.ManagedFieldsEntry{entry("kubectl"), entry(string(restoreOwner))})
	if !ownedByRestore(object) {
		t.Error("it is not owned by a restore")
	}
	object.SetManagedFields([]metav1.ManagedFieldsEntry{entry("kubectl")})
	if ownedByRestore(object) {
		t.Error("it is owned by a restore")
	}
}
