package management

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
)

// clientOf is a client of which the requests end in these functions.
func clientOf(funcs interceptor.Funcs) *Client {
	return &Client{Client: interceptor.NewClient(nil, funcs), config: &rest.Config{Host: "https://host"}}
}

// objectWith is an object of a kind with further fields.
func objectWith(kind string, metadata, fields map[string]any) *unstructured.Unstructured {
	o := object(kind, "a")
	for name, value := range metadata {
		o.Object["metadata"].(map[string]any)[name] = value
	}
	for name, value := range fields {
		o.Object[name] = value
	}
	return o
}

// TestTry: each object is tried with a dry run that takes over all fields, and
// nothing else is asked of the API server.
func TestTry(t *testing.T) {
	t.Parallel()
	type result struct {
		Changes  []changes.Change
		Err      string
		Requests []string
	}
	const get, dryRun = "get Cluster a", "apply force=true dryRun=[All] fieldOwner=clusterctl-x"
	wanted := objectWith("Cluster", map[string]any{"namespace": "ns"}, map[string]any{"spec": map[string]any{"b": "2", "a": "2"}})
	live := objectWith("Cluster", map[string]any{"namespace": "ns", "uid": "x"}, map[string]any{"spec": map[string]any{"b": "1", "a": "1"}})
	leaving := wanted.DeepCopy()
	leaving.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(0, 0)})
	namespaces := schema.GroupResource{Resource: "namespaces"}
	clusters := schema.GroupResource{Group: "cluster.x-k8s.io", Resource: "clusters"}
	tests := map[string]struct {
		live             *unstructured.Unstructured // nil where it is not there
		getErr, applyErr error
		want             result
	}{
		"not there": {nil, nil, nil, result{[]changes.Change{{Object: "Cluster/a", Action: changes.Added}}, "", []string{get, dryRun}}},
		"as wanted": {wanted, nil, nil, result{nil, "", []string{get, dryRun}}},
		"different": {live, nil, nil, result{[]changes.Change{
			{Object: "Cluster/a", Path: "spec.a", Action: changes.Changed, Old: `"1"`, New: `"2"`}, {Object: "Cluster/a", Path: "spec.b", Action: changes.Changed, Old: `"1"`, New: `"2"`},
		}, "", []string{get, dryRun, get}}},
		"being deleted": {leaving, nil, nil, result{nil, "Cluster/a is being deleted; wait until it is gone", []string{get, dryRun}}},
		"no namespace": {nil, nil, apierrors.NewNotFound(namespaces, "ns"), result{
			nil, "namespace ns does not exist in the management cluster; create it with 'kubectl create namespace ns'", []string{get, dryRun},
		}},
		"something else is not found": {nil, nil, apierrors.NewNotFound(clusters, "b"), result{nil, `clusters.cluster.x-k8s.io "b" not found`, []string{get, dryRun}}},
		"cannot be read":              {nil, context.DeadlineExceeded, nil, result{nil, "context deadline exceeded", []string{get}}},
		"is refused":                  {live, nil, context.Canceled, result{nil, "context canceled", []string{get, dryRun}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got result
			c := clientOf(interceptor.Funcs{
				Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
					got.Requests = append(got.Requests, "get "+o.GetObjectKind().GroupVersionKind().Kind+" "+key.Name)
					if test.live == nil && test.getErr == nil {
						return apierrors.NewNotFound(clusters, key.Name)
					}
					if test.live != nil {
						test.live.DeepCopyInto(o.(*unstructured.Unstructured))
					}
					return test.getErr
				},
				Apply: func(_ context.Context, _ client.WithWatch, _ runtime.ApplyConfiguration, options ...client.ApplyOption) error {
					got.Requests = append(got.Requests, applied(options))
					return test.applyErr
				},
			})
			before := wanted.DeepCopy()
			found, err := c.Try(t.Context(), before)
			got.Changes = found
			if err != nil {
				got.Err = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Try (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(wanted, before); diff != "" {
				t.Errorf("Try changed the object (-before +after):\n%s", diff)
			}
		})
	}
}

// applied says with which options something was applied.
func applied(options []client.ApplyOption) string {
	var o client.ApplyOptions
	o.ApplyOptions(options)
	return fmt.Sprintf("apply force=%t dryRun=%s fieldOwner=%s", *o.Force, o.DryRun, o.FieldManager)
}
