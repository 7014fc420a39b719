package backup

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// departure is the client that clusterctl moves a cluster away with. clusterctl refuses what is
// paused, so that the pauses of an interrupted move are not shown to its checks.
type departure struct {
	pauser
	// complete is called once, before the first object is deleted: all of them were created then.
	complete func(context.Context) error

	mu       sync.Mutex
	deleting bool
}

// Get reads an object. The checks of clusterctl, which read Go types, do not see a pause for a
// move; what is created in the other management cluster has it.
func (d *departure) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if err := d.Client.Get(ctx, key, object, options...); err != nil {
		return err
	}
	if !leaves(object) {
		return nil
	}
	switch object := object.(type) {
	case *clusterv1.Cluster:
		object.Spec.Paused = nil
	case *clusterv1.ClusterClass:
		delete(object.Annotations, clusterv1.PausedAnnotation)
	}
	return nil
}

// Patch pauses objects until the first of them is to be deleted, which clusterctl begins with a
// JSON patch.
func (d *departure) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if patch.Type() == types.JSONPatchType && !d.deleting {
		if err := d.complete(ctx); err != nil {
			return err
		}
		d.deleting = true
	}
	if d.deleting {
		return d.Client.Patch(ctx, object, patch, options...)
	}
	return d.pauser.Patch(ctx, object, patch, options...)
}

// arrival is the client that clusterctl creates the objects of a cluster with that is moved.
type arrival struct {
	creator
	// from lists the providers of the other management cluster.
	from client.Client
}

// List says that there are the same providers, in the same versions: a management cluster that
// clusterctl did not make, as an embedded one, has no list to compare. The kinds were compared.
func (a *arrival) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, inventory := list.(*clusterctlv1.ProviderList); inventory {
		return a.from.List(ctx, list, options...)
	}
	return a.Client.List(ctx, list, options...)
}

// Update is what clusterctl does with an object that exists. One that the same move created is
// complete but for its field managers, and stays as it is. Another one ends the move.
func (a *arrival) Update(ctx context.Context, object client.Object, _ ...client.UpdateOption) error {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(object.GetObjectKind().GroupVersionKind())
	if err := a.Client.Get(ctx, client.ObjectKeyFromObject(object), live); err != nil {
		return err
	}
	if live.GetAnnotations()[v1alpha1.RestoredAnnotation] == a.id {
		return giveBack(ctx, a.Client, live, object.GetManagedFields())
	}
	err := fmt.Errorf("%s exists already in the management cluster that the cluster is moved into; delete it there, or rename it", nameOf(live))
	a.giveUp(err)
	return err
}

// Patch resumes Clusters and ClusterClasses. clusterctl patches other objects only to give them
// back to their field managers, which Create and Update did.
func (a *arrival) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	if patched, is := object.(*unstructured.Unstructured); is && !pauses(patched) {
		return nil
	}
	return a.creator.Patch(ctx, object, patch, options...)
}

// arrives prepares an object for the management cluster that it is moved into.
func arrives(object *unstructured.Unstructured, id, mark string) {
	setOrigin(object, id, mark)
	annotations := object.GetAnnotations()
	maps.DeleteFunc(annotations, func(name, _ string) bool { return name == clusterctlv1.DeleteForMoveAnnotation })
	object.SetAnnotations(annotations)
}

// remark replaces the mark of the pause of an object.
func remark(ctx context.Context, c client.Client, object *unstructured.Unstructured, mark string) error {
	target := &unstructured.Unstructured{}
	target.SetGroupVersionKind(object.GroupVersionKind())
	target.SetNamespace(object.GetNamespace())
	target.SetName(object.GetName())
	return pause(ctx, c, target, mark)
}
