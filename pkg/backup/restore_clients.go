package backup

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// restoreOwner is the field manager of objects as they are created. It does not stay: it
// would own the fields together with their owners, who could no longer remove them.
const restoreOwner = client.FieldOwner("clusterctl-x-restore")

// creator is the client that objects are restored with.
type creator struct {
	pauser
	id string // of the backup or of the move
	// giveUp ends the restore: clusterctl would try for minutes what is refused for good.
	giveUp context.CancelCauseFunc

	mu      sync.Mutex
	created int
}

// Create creates an object with the field managers that it had. One that a controller made in its
// place is replaced.
func (c *creator) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	managers := object.GetManagedFields()
	restored, isRestored := object.(*unstructured.Unstructured)
	err := c.Client.Create(ctx, object, append(options, restoreOwner)...)
	if apierrors.IsAlreadyExists(err) && isRestored {
		err = c.replace(ctx, restored, err)
	}
	if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) {
		c.giveUp(fmt.Errorf("creating %s %s: %w", object.GetObjectKind().GroupVersionKind().Kind, client.ObjectKeyFromObject(object), err))
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.created++
	c.mu.Unlock()
	if isRestored {
		if err := giveBack(ctx, c.Client, restored, managers); err != nil {
			c.giveUp(err) // the next run does it
			return err
		}
	}
	return nil
}

// replace writes an object over one that a controller made in its place. Another object stays as
// it is, and exists is returned.
func (c *creator) replace(ctx context.Context, object *unstructured.Unstructured, exists error) error {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(object.GroupVersionKind())
	if err := c.Client.Get(ctx, client.ObjectKeyFromObject(object), live); err != nil {
		return err
	}
	standsIn, err := c.standsIn(ctx, live)
	if err != nil {
		return err
	}
	if !standsIn {
		return exists
	}
	object.SetUID(live.GetUID())
	object.SetResourceVersion(live.GetResourceVersion())
	object.SetManagedFields(nil)
	return c.Client.Update(ctx, object, restoreOwner)
}

// standsIn reports whether a controller made an object in the place of one that is to be restored.
func (c *creator) standsIn(ctx context.Context, live *unstructured.Unstructured) (bool, error) {
	if live.GetAnnotations()[v1alpha1.RestoredAnnotation] == c.id {
		return false, nil
	}
	return madeOf(ctx, c.Client, live, c.id)
}

// restoration is the client that clusterctl restores the objects of a backup with.
type restoration struct{ creator }

// Get reads an object. One that a controller made in the place of one of the backup is not found:
// clusterctl would let it be, and now creates the one of the backup.
func (r *restoration) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	err := r.Client.Get(ctx, key, object, options...)
	read, is := object.(*unstructured.Unstructured)
	if err != nil || !is {
		return err
	}
	standsIn, err := r.standsIn(ctx, read)
	if err == nil && standsIn {
		err = apierrors.NewNotFound(schema.GroupResource{Group: read.GroupVersionKind().Group, Resource: read.GetKind()}, key.Name)
	}
	return err
}
