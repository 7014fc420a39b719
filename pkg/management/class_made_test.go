package management

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestTryMade: each object is created by a dry run, under another name, and what the API
// server says against it is returned.
func TestTryMade(t *testing.T) {
	t.Parallel()
	var lock sync.Mutex
	var requests []string
	answers := map[string]error{
		"Wrong":   apierrors.NewInvalid(schema.GroupKind{Kind: "Wrong"}, "", field.ErrorList{field.TypeInvalid(field.NewPath("spec", "size"), "x", "must be of type integer")}),
		"Unknown": apierrors.NewBadRequest(`strict decoding error: unknown field "spec.sise"`),
		"Webhook": apierrors.NewBadRequest("admission webhook denied the request: cannot unmarshal"),
	}
	c := clientOf(interceptor.Funcs{Create: func(_ context.Context, _ client.WithWatch, o client.Object, options ...client.CreateOption) error {
		lock.Lock()
		defer lock.Unlock()
		all := (&client.CreateOptions{}).ApplyOptions(options)
		requests = append(requests, fmt.Sprintf("%s %q %s %v %s", o.GetObjectKind().GroupVersionKind().Kind, o.GetName(), o.GetGenerateName(), all.DryRun, all.FieldValidation))
		return answers[o.GetObjectKind().GroupVersionKind().Kind]
	}})
	got, err := c.TryMade(t.Context(), []*unstructured.Unstructured{object("Wrong", "a"), object("Fine", "b"), object("Unknown", "c"), object("Webhook", "d")})
	if err != nil {
		t.Fatal(err)
	}
	want := []ClassReason{
		{Object: "Wrong/a", Cause: metav1.StatusCause{Type: metav1.CauseTypeTypeInvalid, Field: "spec.size", Message: `Invalid value: "x": must be of type integer`}},
		{Object: "Unknown/c", Cause: metav1.StatusCause{Type: metav1.CauseTypeForbidden, Field: "spec.sise", Message: "Unknown has no such field; remove it, or correct its name"}},
		{Object: "Webhook/d", Cause: metav1.StatusCause{Type: metav1.CauseTypeForbidden, Message: "admission webhook denied the request: cannot unmarshal"}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(ClassReason{})); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
	slices.Sort(requests)
	asked := []string{
		`Fine "" clusterctl-x-tried- [All] Strict`, `Unknown "" clusterctl-x-tried- [All] Strict`,
		`Webhook "" clusterctl-x-tried- [All] Strict`, `Wrong "" clusterctl-x-tried- [All] Strict`,
	}
	if diff := cmp.Diff(asked, requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	answers["Fine"] = apierrors.NewForbidden(schema.GroupResource{Resource: "fines"}, "", errors.New("no right"))
	if _, err := c.TryMade(t.Context(), []*unstructured.Unstructured{object("Fine", "b")}); !errors.As(err, new(*RefusedError)) {
		t.Errorf("without privileges: %v", err)
	}
}
