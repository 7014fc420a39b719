package management

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/retry"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

const (
	// recordSchema is the version of the record's content that is written.
	recordSchema = 1
	// recordType and recordKey are of the Secret that holds a record.
	recordType = "clusterctl-x.io/record"
	recordKey  = "record"
	// maxRecord bounds what a record is unpacked to.
	maxRecord = 16 << 20
)

// Record is what clusterctl-x knows about a cluster beyond its objects: the spec last
// applied. Nothing is recovered from it; it shows what an upgrade changes, and keeps
// releases that the bundles may no longer have.
type Record struct {
	SchemaVersion int `json:"schemaVersion"`
	// Spec is the file that was last applied.
	Spec string `json:"spec"`
	// Versions that it was resolved to.
	Versions v1alpha1.ClusterVersions `json:"versions"`
	// From are the versions that the cluster had before the upgrade to them began.
	From v1alpha1.ClusterVersions `json:"from,omitzero"`
	// Plan that was followed last, of a cluster from a ClusterClass: what Cluster
	// API does can be compared with it.
	Plan *plan.Plan `json:"plan,omitempty"`
	// Releases of these versions and of those before.
	Releases []versionsbundle.Release `json:"releases"`
}

func recordName(cluster string) string { return cluster + "-clusterctl-x" }

// Record returns the record of a cluster, and false if there is none.
func (c *Client) Record(ctx context.Context, key client.ObjectKey) (Record, bool, error) {
	var secret corev1.Secret
	err := c.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: recordName(key.Name)}, &secret)
	if apierrors.IsNotFound(err) {
		return Record{}, false, nil
	}
	if err != nil {
		return Record{}, false, c.explain(ctx, fmt.Errorf("reading the record of cluster %s: %w", key, err))
	}
	record, err := unpack(secret.Data[recordKey])
	if newer := (newerError{}); errors.As(err, &newer) {
		return Record{}, false, refusedRecord(key, newer)
	}
	if err != nil {
		return Record{}, false, fmt.Errorf("reading the record of cluster %s in Secret %s: %w; delete it if it cannot be repaired: the next upgrade writes a new one", key, secret.Name, err)
	}
	return record, true, nil
}

func refusedRecord(key client.ObjectKey, newer newerError) error {
	return &RefusedError{Check: "newer-record", Reason: fmt.Sprintf("cluster %s was last changed by a newer clusterctl-x: %v; use the newer one", key, newer)}
}

// newerError says that a record has a schema of the future.
type newerError struct{ schema int }

func (e newerError) Error() string {
	return fmt.Sprintf("this one does not understand its record (version %d; it knows %d)", e.schema, recordSchema)
}

func unpack(data []byte) (Record, error) {
	packed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return Record{}, err
	}
	text, err := io.ReadAll(io.LimitReader(packed, maxRecord))
	if err != nil {
		return Record{}, err
	}
	// Of a newer record nothing else need have a form that is known.
	var header struct{ SchemaVersion int }
	if err := json.Unmarshal(text, &header); err != nil {
		return Record{}, err
	}
	if header.SchemaVersion > recordSchema {
		return Record{}, newerError{header.SchemaVersion}
	}
	var record Record
	return record, json.Unmarshal(text, &record)
}

func (r Record) pack() ([]byte, error) {
	r.SchemaVersion = recordSchema
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	packed := gzip.NewWriter(&b)
	if _, err := packed.Write(text); err != nil {
		return nil, err
	}
	if err := packed.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// ChangeRecord reads the record of a cluster, changes it, and writes it back, again
// where another run was faster. A newer record is refused; one that cannot be read is
// written anew. The Cluster owns the record, if there is one already, so that the record
// is moved and deleted with it.
func (c *Client) ChangeRecord(ctx context.Context, key client.ObjectKey, change func(Record) Record) error {
	var owners []metav1.OwnerReference
	owner, err := c.owner(ctx, key)
	switch {
	case err == nil:
		owners = append(owners, owner)
	case !apierrors.IsNotFound(err):
		return err
	}
	err = retry.OnError(retry.DefaultBackoff, func(err error) bool { return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) }, func() error {
		return c.changeRecordOnce(ctx, key, owners, change)
	})
	if err != nil {
		return c.explain(ctx, fmt.Errorf("writing the record of cluster %s: %w", key, err))
	}
	return nil
}

func (c *Client) changeRecordOnce(ctx context.Context, key client.ObjectKey, owners []metav1.OwnerReference, change func(Record) Record) error {
	var live corev1.Secret
	err := c.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: recordName(key.Name)}, &live)
	exists := !apierrors.IsNotFound(err)
	if err != nil && exists {
		return err
	}
	var record Record
	if exists {
		record, err = unpack(live.Data[recordKey])
		if newer := (newerError{}); errors.As(err, &newer) {
			return refusedRecord(key, newer)
		}
		if err != nil {
			record = Record{}
		}
	}
	data, err := change(record).pack()
	if err != nil {
		return err
	}
	secret := &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: recordName(key.Name), ResourceVersion: live.ResourceVersion,
			Labels: map[string]string{v1alpha1.ClusterLabel: key.Name}, OwnerReferences: owners,
		},
		Type: recordType,
		Data: map[string][]byte{recordKey: data},
	}
	if !exists {
		return c.Create(ctx, secret, FieldOwner)
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(secret)
	if err != nil {
		return err
	}
	return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: object}), FieldOwner, client.ForceOwnership)
}

// owner is a reference to the Cluster, for what is to go away with it.
func (c *Client) owner(ctx context.Context, key client.ObjectKey) (metav1.OwnerReference, error) {
	var cluster clusterv1.Cluster
	if err := c.Get(ctx, key, &cluster); err != nil {
		return metav1.OwnerReference{}, c.explain(ctx, fmt.Errorf("reading cluster %s: %w", key, err))
	}
	return metav1.OwnerReference{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: key.Name, UID: cluster.UID}, nil
}
