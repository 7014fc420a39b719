package management

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
)

// Change is the effect of applying an object, planned or done.
type Change struct {
	Object string // Kind/name
	Action Action
	// Fields that would change, for Action Changed.
	Fields []changes.Field
}

// Action says what happens to an object.
type Action string

// Actions.
const (
	Created   Action = "created"
	Unchanged Action = "unchanged"
	Changed   Action = "changed"
	// Restored is a template that a live object refers to, and that is not there.
	Restored Action = "restored"
)

//go:generate go tool mockgen -source=apply.go -package=management -destination=mock_writer_test.go

// writer is the management cluster that objects are applied to. Its order is a
// contract: nothing is written before every object was tried.
type writer interface {
	trier
	// Begin writes what is kept about the cluster.
	Begin(ctx context.Context) error
	// Write applies the object.
	Write(ctx context.Context, object *unstructured.Unstructured) error
}

type trier interface {
	// Try says what applying an object would do, as the API server and its
	// webhooks see it, and writes nothing.
	Try(ctx context.Context, object *unstructured.Unstructured) (Change, error)
}

// DifferentError says that a cluster is there already and is not the one that
// was asked for.
type DifferentError struct {
	Cluster string
	Changes []Change
}

func (e *DifferentError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cluster %s exists and does not match the file; 'create' does not change existing clusters: 'upgrade cluster' does, and 'plan upgrade' shows what", e.Cluster)
	for _, change := range e.Changes {
		for _, field := range change.Fields {
			fmt.Fprintf(&b, "\n  %s: %s", change.Object, field)
		}
	}
	return b.String()
}

// Creation is a cluster to create.
type Creation struct {
	// Objects of the cluster in the order in which they are written.
	Objects []*unstructured.Unstructured
	// Record is the record of the cluster, which is written before the first object.
	Record Record
	// TakeOver and Waiting are those of a Claim.
	TakeOver bool
	Waiting  func(HeldLock)
}

// CreateCluster applies the objects of a cluster that is not there yet, in their
// order. Where some of them are there already and are as they should be, as
// after a create that was stopped, the missing ones are added. It returns what
// was done. It holds the lock of the cluster as long as it writes.
func (c *Client) CreateCluster(ctx context.Context, key client.ObjectKey, creation Creation) ([]Change, error) {
	held, release, err := c.Lock(ctx, key, Claim{Unowned: true, TakeOver: creation.TakeOver, Waiting: creation.Waiting})
	if err != nil {
		return nil, err
	}
	defer release()
	if err := c.namesAreFree(held, key, creation.Objects); err != nil {
		return nil, c.explain(held, err)
	}
	done, err := create(held, creating{Client: c, key: key, record: creation.Record}, key.String(), creation.Objects)
	return done, c.explain(held, err)
}

// TryCreate says what CreateCluster would do, and writes nothing.
func (c *Client) TryCreate(ctx context.Context, key client.ObjectKey, objects []*unstructured.Unstructured) ([]Change, error) {
	if err := c.namesAreFree(ctx, key, objects); err != nil {
		return nil, c.explain(ctx, err)
	}
	all, err := tryAll(ctx, c, key.String(), objects)
	return all, c.explain(ctx, err)
}

// creating writes a cluster that is being created.
type creating struct {
	*Client
	key    client.ObjectKey
	record Record
}

// Begin writes the record, so that the spec of a stopped create is known.
func (w creating) Begin(ctx context.Context) error {
	return w.whileHeld(ctx, func() error { return w.ChangeRecord(ctx, w.key, func(Record) Record { return w.record }) })
}

// Write applies the object server-side. Fields that others own and that differ are a
// conflict. The Cluster becomes the owner of the record.
func (w creating) Write(ctx context.Context, object *unstructured.Unstructured) error {
	err := w.whileHeld(ctx, func() error {
		return w.Apply(ctx, client.ApplyConfigurationFromUnstructured(object.DeepCopy()), FieldOwner)
	})
	if err != nil || !changes.IsKind(object, "Cluster") {
		return err
	}
	return w.Begin(ctx)
}

func create(ctx context.Context, w writer, cluster string, objects []*unstructured.Unstructured) ([]Change, error) {
	all, err := tryAll(ctx, w, cluster, objects)
	if err != nil {
		return nil, err
	}
	if err := w.Begin(ctx); err != nil {
		return nil, err
	}
	for i, object := range objects {
		if all[i].Action == Unchanged {
			continue
		}
		if err := w.Write(ctx, object); err != nil {
			return nil, fmt.Errorf("applying %s: %w; run the same command again to continue", changes.ObjectName(object), err)
		}
	}
	return all, nil
}

// tryAll says what applying the objects would do. An object that is there and would
// change is a *DifferentError.
func tryAll(ctx context.Context, w trier, cluster string, objects []*unstructured.Unstructured) ([]Change, error) {
	var all, different []Change
	for _, object := range objects {
		change, err := w.Try(ctx, object)
		if err != nil {
			return nil, fmt.Errorf("trying to apply %s: %w", changes.ObjectName(object), err)
		}
		all = append(all, change)
		if change.Action == Changed {
			different = append(different, change)
		}
	}
	if len(different) > 0 {
		return nil, &DifferentError{Cluster: cluster, Changes: different}
	}
	return all, nil
}

// maxTries of a comparison with an object that others write at the same time.
const maxTries = 5

// Try compares the live object with what the API server would make of it. Writes of
// others between the two requests are no difference.
func (c *Client) Try(ctx context.Context, object *unstructured.Unstructured) (Change, error) {
	for tries := 1; ; tries++ {
		change, version, err := c.tryOnce(ctx, object)
		if err != nil || change.Action != Changed || tries == maxTries {
			return change, err
		}
		again, err := c.live(ctx, object)
		if err != nil {
			return change, err
		}
		if again.GetResourceVersion() == version {
			return change, nil
		}
	}
}

// tryOnce returns also the resource version of the object that it compared with.
func (c *Client) tryOnce(ctx context.Context, object *unstructured.Unstructured) (Change, string, error) {
	change := Change{Object: changes.ObjectName(object)}
	live, err := c.live(ctx, object)
	exists := !apierrors.IsNotFound(err)
	if err != nil && exists {
		return change, "", err
	}
	wanted := object.DeepCopy()
	// Who owns the fields now does not matter to the question what they would be.
	if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted), FieldOwner, client.ForceOwnership, client.DryRunAll); err != nil {
		return change, "", namespaceMissing(err, object.GetNamespace())
	}
	if !exists {
		change.Action = Created
		return change, "", nil
	}
	if !live.GetDeletionTimestamp().IsZero() {
		return change, "", &RefusedError{Check: "being-deleted", Reason: change.Object + " is being deleted; wait until it is gone"}
	}
	change.Fields, err = changes.Between(live, wanted)
	change.Action = Unchanged
	if len(change.Fields) > 0 {
		change.Action = Changed
	}
	return change, live.GetResourceVersion(), err
}

func (c *Client) live(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(object.GroupVersionKind())
	err := c.Get(ctx, client.ObjectKeyFromObject(object), live)
	return live, err
}

func namespaceMissing(err error, namespace string) error {
	var status apierrors.APIStatus
	if apierrors.IsNotFound(err) && errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Kind == "namespaces" {
		return &RefusedError{Check: "namespace-missing", Reason: fmt.Sprintf("namespace %s does not exist in the management cluster; create it with 'kubectl create namespace %s'", namespace, namespace)}
	}
	return err
}

// CountCreated counts the objects that were created, or would be.
func CountCreated(all []Change) int {
	created := 0
	for _, change := range all {
		if change.Action == Created {
			created++
		}
	}
	return created
}
