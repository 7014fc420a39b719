package management

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// recordEvent writes an Event about the Cluster. An Event is for people only, so a
// failed write is ignored.
func (c *Client) recordEvent(ctx context.Context, key client.ObjectKey, uid, reason, message string) {
	now := metav1.NewTime(c.opts().Clock.Now())
	_ = c.Create(ctx, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: key.Namespace, GenerateName: key.Name + "."},
		InvolvedObject: corev1.ObjectReference{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Namespace: key.Namespace, Name: key.Name, UID: types.UID(uid)},
		Reason:         reason, Message: message, Type: corev1.EventTypeNormal, Source: corev1.EventSource{Component: string(FieldOwner)},
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	})
}
