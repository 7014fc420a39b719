package management

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestData(t *testing.T) {
	t.Parallel()
	type result struct {
		Asked  string
		Data   Data
		Exists bool
		Err    string
	}
	secrets := schema.GroupResource{Resource: "secrets"}
	tests := map[string]struct {
		kind string
		data any // of an object that is there
		err  error
		want result
	}{
		"Secret":        {"Secret", map[string]any{"tls.key": "eA==", "tls.crt": "eQ==", "a": ""}, nil, result{"/v1, Kind=Secret ns/a", Data{Type: "Opaque", Keys: []string{"a", "tls.crt", "tls.key"}}, true, ""}},
		"ConfigMap":     {"ConfigMap", map[string]any{"b.yaml": "kind: X", "a.yaml": "kind: Y"}, nil, result{"/v1, Kind=ConfigMap ns/a", Data{Keys: []string{"a.yaml", "b.yaml"}}, true, ""}},
		"empty data":    {"Secret", map[string]any{}, nil, result{"/v1, Kind=Secret ns/a", Data{}, true, ""}},
		"without data":  {"Secret", nil, nil, result{"/v1, Kind=Secret ns/a", Data{}, true, ""}},
		"is not there":  {"Secret", nil, apierrors.NewNotFound(secrets, "a"), result{Asked: "/v1, Kind=Secret ns/a"}},
		"data is wrong": {"Secret", "text", nil, result{"/v1, Kind=Secret ns/a", Data{}, true, "reading Secret ns/a: .data accessor error: text is of the type string, expected map[string]interface{}"}},
		"forbidden": {"Secret", nil, apierrors.NewForbidden(secrets, "a", errors.New("no")), result{
			Asked: "/v1, Kind=Secret ns/a",
			Err:   `looking for Secret ns/a: secrets "a" is forbidden: no; give the user of this kubeconfig the privileges of 'clusterctl-x generate rbac', or use another kubeconfig`,
		}},
		"no answer": {"Secret", nil, context.DeadlineExceeded, result{
			Asked: "/v1, Kind=Secret ns/a",
			Err:   "timed out: the management cluster https://host does not answer: looking for Secret ns/a: context deadline exceeded",
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got result
			c := clientOf(interceptor.Funcs{Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
				got.Asked = o.GetObjectKind().GroupVersionKind().String() + " " + key.String()
				if test.data != nil {
					o.(*unstructured.Unstructured).Object["data"] = test.data
				}
				if name == "Secret" {
					o.(*unstructured.Unstructured).Object["type"] = "Opaque"
				}
				return test.err
			}})
			data, exists, err := c.Data(t.Context(), test.kind, client.ObjectKey{Namespace: "ns", Name: "a"})
			got.Data, got.Exists = data, exists
			if err != nil {
				got.Err = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Data (-want +got):\n%s", diff)
			}
		})
	}
}
