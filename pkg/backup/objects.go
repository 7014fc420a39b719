package backup

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// isCluster reports whether an object is a Cluster.
func isCluster(object *unstructured.Unstructured) bool {
	return object.GroupVersionKind().GroupKind() == clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind).GroupKind()
}

// pauses reports whether clusterctl pauses objects of this kind: Clusters and ClusterClasses.
func pauses(object *unstructured.Unstructured) bool {
	return isCluster(object) || object.GroupVersionKind().GroupKind() == clusterv1.GroupVersion.WithKind(clusterv1.ClusterClassKind).GroupKind()
}

// isPaused reports whether a Cluster or a ClusterClass is paused.
func isPaused(object *unstructured.Unstructured) bool {
	_, annotated := object.GetAnnotations()[clusterv1.PausedAnnotation]
	field, _, _ := unstructured.NestedBool(object.Object, "spec", "paused")
	return annotated || field
}

// pauseOf returns the use case that a Cluster or ClusterClass is marked with, or nothing.
func pauseOf(object client.Object) state.PauseFor {
	var pause state.Pause
	if json.Unmarshal([]byte(object.GetAnnotations()[v1alpha1.PauseAnnotation]), &pause) != nil {
		return ""
	}
	return pause.For
}

// setAnnotations sets annotations of an object.
func setAnnotations(object *unstructured.Unstructured, with map[string]string) {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	maps.Copy(annotations, with)
	object.SetAnnotations(annotations)
}

// setOrigin says in an object of a backup where it is from, so that a restore knows what it
// made. Until the restore is complete a Cluster or ClusterClass is paused, with a mark.
func setOrigin(object *unstructured.Unstructured, id, mark string) {
	annotations := map[string]string{v1alpha1.RestoredAnnotation: id}
	if pauses(object) {
		annotations[v1alpha1.PauseAnnotation] = mark
	}
	setAnnotations(object, annotations)
}

// ownedByRestore reports whether an object was created by a restore that did not give it back
// to its field managers yet.
func ownedByRestore(object *unstructured.Unstructured) bool {
	return slices.ContainsFunc(object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager == string(restoreOwner) })
}

// madeOf reports whether an object has an owner that a restore or a move made, so that it is what a
// controller made of that meanwhile: Cluster API's makes a ClusterResourceSetBinding for a Cluster
// that is paused, too.
func madeOf(ctx context.Context, c client.Client, object *unstructured.Unstructured, id string) (bool, error) {
	for _, reference := range object.GetOwnerReferences() {
		owner := &unstructured.Unstructured{}
		owner.SetAPIVersion(reference.APIVersion)
		owner.SetKind(reference.Kind)
		err := c.Get(ctx, client.ObjectKey{Namespace: object.GetNamespace(), Name: reference.Name}, owner)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return false, fmt.Errorf("reading an owner of %s: %w", nameOf(object), err)
		case owner.GetUID() == reference.UID && owner.GetAnnotations()[v1alpha1.RestoredAnnotation] == id:
			return true, nil
		}
	}
	return false, nil
}

// giveBack gives an object that was created to the field managers that it had. An API server
// ignores them in what it creates.
func giveBack(ctx context.Context, c client.Client, object *unstructured.Unstructured, managers []metav1.ManagedFieldsEntry) error {
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if !ownedByRestore(object) {
			return nil
		}
		changed := object.DeepCopy()
		changed.SetManagedFields(managers)
		err := c.Patch(ctx, changed, client.MergeFromWithOptions(object.DeepCopy(), client.MergeFromWithOptimisticLock{}), restoreOwner)
		if err != nil {
			if read := c.Get(ctx, client.ObjectKeyFromObject(object), object); read != nil {
				return client.IgnoreNotFound(read)
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("giving %s back to its field managers: %w", nameOf(object), err)
	}
	return nil
}
