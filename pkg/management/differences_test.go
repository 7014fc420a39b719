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

// TestDifferences: what would change is in the order of its paths, each as it
// stands in the object, with values that can be read.
func TestDifferences(t *testing.T) {
	t.Parallel()
	type fields = map[string]any
	labels := func(labels fields) fields { return fields{"labels": labels} }
	spec := func(spec fields) fields { return fields{"spec": spec} }
	tests := map[string]struct {
		live, wanted *unstructured.Unstructured
		want         []string
	}{
		"none": {objectWith("Cluster", nil, spec(fields{"a": "b"})), objectWith("Cluster", nil, spec(fields{"a": "b"})), []string{}},
		"what the API server writes": {
			objectWith("Cluster", fields{"uid": "1", "generation": int64(1), "resourceVersion": "1", "managedFields": []any{fields{}}, "creationTimestamp": "2026-01-02T03:04:05Z"}, fields{"status": fields{"a": "b"}}),
			objectWith("Cluster", fields{"uid": "2", "generation": int64(2), "resourceVersion": "2"}, fields{"status": fields{}}), []string{},
		},
		"many, sorted": {
			objectWith("Cluster", labels(fields{"m": "1", "z": "1"}), spec(fields{"d": "1", "b": "1", "y": "1"})),
			objectWith("Cluster", labels(fields{"m": "2", "k": "2"}), spec(fields{"d": "2", "c": "2", "a": "2", "x": "2"})),
			[]string{
				"metadata.labels.k would become 2", "metadata.labels.m would become 2", "metadata.labels.z would be removed",
				"spec.a would become 2", "spec.b would be removed", "spec.c would become 2", "spec.d would become 2", "spec.x would become 2", "spec.y would be removed",
			},
		},
		"names with slashes and tildes": {
			objectWith("Cluster", labels(fields{"example.org/old": "1"}), spec(fields{"~": "1"})),
			objectWith("Cluster", labels(fields{"example.org/a": "2", "x~y/z": "2", "~1": "2", "~0": "2", "~01": "2", "/": "2"}), spec(fields{"~": "2"})),
			[]string{
				"metadata.labels./ would become 2", "metadata.labels.example.org/a would become 2", "metadata.labels.example.org/old would be removed",
				"metadata.labels.x~y/z would become 2", "metadata.labels.~0 would become 2", "metadata.labels.~01 would become 2", "metadata.labels.~1 would become 2",
				"spec.~ would become 2",
			},
		},
		"values of every type": {
			objectWith("Cluster", nil, spec(fields{"text": "1", "number": int64(1), "list": []any{}, "bool": false})),
			objectWith("Cluster", nil, spec(fields{
				"text": "a \"b\" <c>", "number": int64(12345678901234567), "fraction": 0.5, "bool": true, "nothing": nil,
				"list": []any{"a", int64(1)}, "map": fields{"b": "<&>", "a": []any{fields{"c": nil}}}, "empty": fields{},
			})),
			[]string{
				"spec.bool would become true", "spec.empty would become {}", "spec.fraction would become 0.5",
				"spec.list.0 would become a", "spec.list.1 would become 1", `spec.map would become {"a":[{"c":null}],"b":"<&>"}`,
				"spec.nothing would become null", "spec.number would become 12345678901234567", `spec.text would become a "b" <c>`,
			},
		},
		"another type": {
			objectWith("Cluster", nil, spec(fields{"a": "1", "b": fields{"c": "d"}})), objectWith("Cluster", nil, spec(fields{"a": int64(1), "b": "x"})),
			[]string{"spec.a would become 1", "spec.b would become x"},
		},
		"Secret": {
			objectWith("Secret", labels(fields{"a/b": "1"}), fields{"data": fields{"password": "b2xk", "gone": "eA=="}}),
			objectWith("Secret", labels(fields{"a/b": "2"}), fields{"data": fields{"password": "bmV3"}, "stringData": fields{"more": "secret"}}),
			[]string{"data.gone differs", "data.password differs", "metadata.labels.a/b differs", "stringData differs"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live, wanted := test.live.DeepCopy(), test.wanted.DeepCopy()
			got, err := differences(live, wanted)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]any{test.live, test.wanted}, []any{live, wanted}); diff != "" {
				t.Errorf("comparing changed the objects (-before +after):\n%s", diff)
			}
		})
	}
}

// TestTry: each object is tried with a dry run that takes over all fields, and
// nothing else is asked of the API server.
func TestTry(t *testing.T) {
	t.Parallel()
	type result struct {
		Change   Change
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
		"not there":     {nil, nil, nil, result{Change{Object: "Cluster/a", Action: Created}, "", []string{get, dryRun}}},
		"as wanted":     {wanted, nil, nil, result{Change{Object: "Cluster/a", Action: Unchanged, Fields: []string{}}, "", []string{get, dryRun}}},
		"different":     {live, nil, nil, result{Change{Object: "Cluster/a", Action: Changed, Fields: []string{"spec.a would become 2", "spec.b would become 2"}}, "", []string{get, dryRun, get}}},
		"being deleted": {leaving, nil, nil, result{Change{Object: "Cluster/a"}, "Cluster/a is being deleted; wait until it is gone", []string{get, dryRun}}},
		"no namespace": {nil, nil, apierrors.NewNotFound(namespaces, "ns"), result{
			Change{Object: "Cluster/a"}, "namespace ns does not exist in the management cluster; create it with 'kubectl create namespace ns'", []string{get, dryRun},
		}},
		"something else is not found": {nil, nil, apierrors.NewNotFound(clusters, "b"), result{Change{Object: "Cluster/a"}, `clusters.cluster.x-k8s.io "b" not found`, []string{get, dryRun}}},
		"cannot be read":              {nil, context.DeadlineExceeded, nil, result{Change{Object: "Cluster/a"}, "context deadline exceeded", []string{get}}},
		"is refused":                  {live, nil, context.Canceled, result{Change{Object: "Cluster/a"}, "context canceled", []string{get, dryRun}}},
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
			change, err := c.Try(t.Context(), before)
			got.Change = change
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
