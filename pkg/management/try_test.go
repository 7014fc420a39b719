package management

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
)

// TestTryWhileOthersWrite: a controller adds a finalizer between the two
// questions, once or without end.
func TestTryWhileOthersWrite(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		writes int // of the controller
		want   []changes.Change
		reads  int
	}{
		"once":        {1, nil, 3},
		"without end": {100, []changes.Change{{Object: "Cluster/a", Path: "metadata.finalizers.0", Action: changes.Changed, Old: `"f8"`, New: `"f9"`}}, 9},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			version, reads := 0, 0
			stored := func() *unstructured.Unstructured {
				object := objectWith("Cluster", map[string]any{"namespace": "ns", "resourceVersion": strconv.Itoa(version)}, map[string]any{"spec": map[string]any{"a": "1"}})
				if version > 0 {
					object.SetFinalizers([]string{"f" + strconv.Itoa(version)})
				}
				return object
			}
			c := clientOf(interceptor.Funcs{
				Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
					stored().DeepCopyInto(o.(*unstructured.Unstructured))
					reads++
					version = min(version+1, test.writes)
					return nil
				},
				Apply: func(_ context.Context, _ client.WithWatch, o runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
					data, err := stored().MarshalJSON()
					if err != nil {
						return err
					}
					return o.(json.Unmarshaler).UnmarshalJSON(data)
				},
			})
			got, err := c.Try(t.Context(), objectWith("Cluster", map[string]any{"namespace": "ns"}, map[string]any{"spec": map[string]any{"a": "1"}}))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" || reads != test.reads {
				t.Errorf("after %d reads, want %d (-want +got):\n%s", reads, test.reads, diff)
			}
		})
	}
}
