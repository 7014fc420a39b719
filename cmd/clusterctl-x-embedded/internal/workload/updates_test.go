package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestUpdatesWithoutResourceVersion: they replace what is there, and only these do.
func TestUpdatesWithoutResourceVersion(t *testing.T) {
	t.Parallel()
	objects, err := NewManager(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	objects.AddResourceGroup("ns/a")
	c := objects.GetResourceGroup("ns/a").GetClient()
	configMap := func(resourceVersion, value string) *corev1.ConfigMap {
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "coredns", ResourceVersion: resourceVersion},
			Data:       map[string]string{"Corefile": value},
		}
	}
	reason := func(err error) metav1.StatusReason {
		if err == nil {
			return ""
		}
		return apierrors.ReasonForError(err)
	}
	got := []metav1.StatusReason{
		reason(c.Update(t.Context(), configMap("", "none is there"))),
		reason(c.Create(t.Context(), configMap("", "first"))),
		reason(c.Update(t.Context(), configMap("", "second"))),
		reason(c.Update(t.Context(), configMap("1000", "of another version"))),
	}
	want := []metav1.StatusReason{metav1.StatusReasonNotFound, "", "", metav1.StatusReasonConflict}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reasons of errors (-want +got):\n%s", diff)
	}
	present := configMap("", "")
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(present), present); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(configMap("", "second").Data, present.Data); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
}
