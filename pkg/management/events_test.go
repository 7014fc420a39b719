package management

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestTell: an Event is one about the Cluster, as 'kubectl describe' finds it;
// that it cannot be written is nobody's business.
func TestTell(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got []client.Object
		c := clientOf(interceptor.Funcs{Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			got = append(got, o)
			return errors.New("no room")
		}})
		c.recordEvent(t.Context(), clusterKey(), "uid", "UpgradeBegun", "upgrade to v1.33.1")
		now := metav1.NewTime(time.Now())
		want := []client.Object{&corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: "ns", GenerateName: "c."},
			InvolvedObject: corev1.ObjectReference{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Cluster", Namespace: "ns", Name: "c", UID: "uid"},
			Reason:         "UpgradeBegun", Message: "upgrade to v1.33.1", Type: "Normal", Source: corev1.EventSource{Component: "clusterctl-x"},
			FirstTimestamp: now, LastTimestamp: now, Count: 1,
		}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Events (-want +got):\n%s", diff)
		}
	})
}
