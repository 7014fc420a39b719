package management

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

//go:generate go tool mockgen -source=apply.go -package=management -destination=mock_writer_test.go

// writer is the management cluster that objects are applied to. Its order is a
// contract: nothing is written before every object was tried.
type writer interface {
	trier
	// Begin writes what is kept about the cluster, for which these objects are created.
	Begin(ctx context.Context, created []changes.Change) error
	// Write applies the object.
	Write(ctx context.Context, object *unstructured.Unstructured) error
}

type trier interface {
	// Try returns what applying an object would change, as the API server and its
	// webhooks see it, and writes nothing.
	Try(ctx context.Context, object *unstructured.Unstructured) ([]changes.Change, error)
}

// AlreadyExistsError says that a cluster that is to be created exists, and is not the one
// that was asked for.
type AlreadyExistsError struct {
	Cluster string
	// Changes would make of it the one that was asked for.
	Changes []changes.Change
}

func (e *AlreadyExistsError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cluster %s exists and does not match the file; 'create' does not change existing clusters: 'upgrade cluster' does, and 'plan upgrade' shows what", e.Cluster)
	for _, change := range e.Changes {
		fmt.Fprintf(&b, "\n  %s", change)
	}
	return b.String()
}

// Creation is a cluster to create.
type Creation struct {
	// Objects of the cluster in the order in which they are written.
	Objects []*unstructured.Unstructured
	// Record is the record of the cluster, which is written before the first object.
	Record Record
	// Command is what the history of the cluster calls the run.
	Command string
	// TakeOver and Waiting are those of a Claim.
	TakeOver bool
	Waiting  func(HeldLock)
	// Warn is called with failures that do not affect the cluster.
	Warn func(string)
}

// CreateCluster applies the objects of a cluster that is not there yet, in their
// order. Where some of them are there already and are as they should be, as
// after a create that was stopped, the missing ones are added. It returns the
// changes that create them. It holds the lock of the cluster as long as it writes.
func (c *Client) CreateCluster(ctx context.Context, key client.ObjectKey, creation Creation) ([]changes.Change, error) {
	held, release, err := c.Lock(ctx, key, Claim{Unowned: true, TakeOver: creation.TakeOver, Waiting: creation.Waiting})
	if err != nil {
		return nil, err
	}
	defer release()
	if err := c.namesAreFree(held, key, creation.Objects); err != nil {
		return nil, c.explain(held, err)
	}
	w := creating{Client: c, key: key, record: creation.Record, run: c.newRun(held, creation.Command)}
	w.run.To = creation.Record.Versions
	done, err := create(held, w, key.String(), creation.Objects)
	err = c.explain(held, err)
	c.endRun(held, key, w.run, err, creation.Warn)
	return done, err
}

// TryCreate returns what CreateCluster would create, and writes nothing.
func (c *Client) TryCreate(ctx context.Context, key client.ObjectKey, objects []*unstructured.Unstructured) ([]changes.Change, error) {
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
	run    state.Run
}

// Begin writes the record, so that the spec of a stopped create is known. A run that
// creates nothing is not part of the history.
func (w creating) Begin(ctx context.Context, created []changes.Change) error {
	if len(created) == 0 {
		return w.keep(ctx, w.after)
	}
	return w.keep(ctx, w.afterRun)
}

func (w creating) keep(ctx context.Context, change func(Record) Record) error {
	return w.whileHeld(ctx, func() error { return w.ChangeRecord(ctx, w.key, change) })
}

// after is the record of the new cluster, afterRun has the run besides.
func (w creating) after(before Record) Record {
	record := w.record
	record.Runs = before.Runs
	return record
}

func (w creating) afterRun(before Record) Record { return w.after(before).with(w.run) }

// Write applies the object server-side. Fields that others own and that differ are a
// conflict. The Cluster becomes the owner of the record.
func (w creating) Write(ctx context.Context, object *unstructured.Unstructured) error {
	err := w.whileHeld(ctx, func() error {
		return w.Apply(ctx, client.ApplyConfigurationFromUnstructured(object.DeepCopy()), FieldOwner)
	})
	if err != nil || !changes.IsKind(object, "Cluster") {
		return err
	}
	return w.keep(ctx, w.afterRun)
}

func create(ctx context.Context, w writer, cluster string, objects []*unstructured.Unstructured) ([]changes.Change, error) {
	all, err := tryAll(ctx, w, cluster, objects)
	if err != nil {
		return nil, err
	}
	if err := w.Begin(ctx, all); err != nil {
		return nil, err
	}
	for _, object := range objects {
		if !slices.ContainsFunc(all, func(c changes.Change) bool { return c.Object == changes.ObjectName(object) }) {
			continue
		}
		if err := w.Write(ctx, object); err != nil {
			return nil, notApplied(ctx, object, err)
		}
	}
	return all, nil
}

// notApplied adds to the error of a write what was written, and how to continue where
// explain and the command do not say it, as they do for timeouts and interrupts.
func notApplied(ctx context.Context, object *unstructured.Unstructured, err error) error {
	name := changes.ObjectName(object)
	switch {
	case errors.Is(err, ErrTimeout): // before the write
		return fmt.Errorf("%w while applying %s", err, name)
	case ctx.Err() != nil:
		return fmt.Errorf("applying %s: %w", name, err)
	default:
		return fmt.Errorf("applying %s: %w; run the same command again to continue", name, err)
	}
}

// tryAll returns what applying the objects would change: each change creates an object.
// One that exists and would change is an *AlreadyExistsError.
func tryAll(ctx context.Context, w trier, cluster string, objects []*unstructured.Unstructured) ([]changes.Change, error) {
	var created, different []changes.Change
	for _, object := range objects {
		found, err := w.Try(ctx, object)
		if err != nil {
			return nil, fmt.Errorf("trying to apply %s: %w", changes.ObjectName(object), err)
		}
		for _, change := range found {
			if change.Creates() {
				created = append(created, change)
			} else {
				different = append(different, change)
			}
		}
	}
	if len(different) > 0 {
		return nil, &AlreadyExistsError{Cluster: cluster, Changes: different}
	}
	return created, nil
}

// maxTries of a comparison with an object that others write at the same time.
const maxTries = 5

// Try compares the live object with what the API server would make of it. Writes of
// others between the two requests are no difference.
func (c *Client) Try(ctx context.Context, object *unstructured.Unstructured) ([]changes.Change, error) {
	for tries := 1; ; tries++ {
		found, version, err := c.tryOnce(ctx, object)
		if err != nil || len(found) == 0 || found[0].Creates() || tries == maxTries {
			return found, err
		}
		again, err := c.live(ctx, object)
		if err != nil {
			return nil, err
		}
		if again.GetResourceVersion() == version {
			return found, nil
		}
	}
}

// tryOnce returns also the resource version of the object that it compared with.
func (c *Client) tryOnce(ctx context.Context, object *unstructured.Unstructured) ([]changes.Change, string, error) {
	live, err := c.live(ctx, object)
	exists := !apierrors.IsNotFound(err)
	if err != nil && exists {
		return nil, "", err
	}
	wanted := object.DeepCopy()
	// Who owns the fields now does not matter to the question what they would be.
	if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted), FieldOwner, client.ForceOwnership, client.DryRunAll); err != nil {
		return nil, "", namespaceMissing(err, object.GetNamespace())
	}
	name := changes.ObjectName(object)
	if !exists {
		return []changes.Change{{Object: name, Action: changes.Added}}, "", nil
	}
	if !live.GetDeletionTimestamp().IsZero() {
		return nil, "", &RefusedError{Check: "being-deleted", Reason: name + " is being deleted; wait until it is gone"}
	}
	found, err := changes.Between(live, wanted)
	return found, live.GetResourceVersion(), err
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
