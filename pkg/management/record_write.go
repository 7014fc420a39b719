package management

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/retry"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// ChangeRecord reads the record of a cluster, changes it, and writes it back, again
// where another run was faster. A newer record is refused; a part that cannot be read is
// written anew. The Cluster owns the record, if there is one already, so that the record
// is moved and deleted with it.
//
// The ConfigMap is written first: a run that is killed in between has the file of the run
// before it in the Secret, which nothing is planned with.
func (c *Client) ChangeRecord(ctx context.Context, key client.ObjectKey, change func(Record) Record) error {
	return c.changeRecord(ctx, key, func(before Record) (Record, bool) { return change(before), true })
}

// changeRecord is ChangeRecord with a function that returns false where nothing is to be
// written.
func (c *Client) changeRecord(ctx context.Context, key client.ObjectKey, change func(Record) (Record, bool)) error {
	var owners []metav1.OwnerReference
	owner, err := c.owner(ctx, key)
	switch {
	case err == nil:
		owners = append(owners, owner.OwnerReference)
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

func (c *Client) changeRecordOnce(ctx context.Context, key client.ObjectKey, owners []metav1.OwnerReference, change func(Record) (Record, bool)) error {
	stored, err := c.storedRecord(ctx, key)
	if err == nil {
		err = stored.forbidden
	}
	if err != nil {
		return err
	}
	before, damaged := stored.record()
	if newer := (newerError{}); errors.As(damaged, &newer) {
		return refusedRecord(key, newer)
	}
	after, write := change(before)
	if !write {
		return nil
	}
	if len(owners) == 0 && stored.configMap != nil {
		owners = stored.configMap.OwnerReferences // it goes with the Cluster that is gone
	}
	if err := c.writePublicRecord(ctx, stored, owners, after); err != nil {
		return err
	}
	return c.writeRecordFile(ctx, stored, owners, after.Spec)
}

// writePublicRecord writes the ConfigMap, and nothing confidential to it.
func (c *Client) writePublicRecord(ctx context.Context, stored storedRecord, owners []metav1.OwnerReference, record Record) error {
	record.SchemaVersion, record.Spec, record.Supersedes = recordSchema, "", stored.secretHash()
	if record.Plan != nil {
		record.Plan = new(record.Plan.Outline())
	}
	data, err := pack(record)
	for err == nil && len(data) > maxPacked && len(record.Runs) > 0 {
		record.Runs = record.Runs[1:]
		data, err = pack(record)
	}
	if err != nil {
		return err
	}
	configMap := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: stored.meta(owners),
		BinaryData: map[string][]byte{recordKey: data},
	}
	if stored.configMap == nil {
		return c.Create(ctx, configMap, FieldOwner)
	}
	configMap.ResourceVersion = stored.configMap.ResourceVersion
	return c.replace(ctx, configMap)
}

// writeRecordFile writes the Secret, unless it is as it should be.
func (c *Client) writeRecordFile(ctx context.Context, stored storedRecord, owners []metav1.OwnerReference, spec string) error {
	data, err := pack(recordFile{SchemaVersion: recordSchema, Spec: spec})
	if err != nil {
		return err
	}
	secret := &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: stored.meta(owners),
		Type:       recordType,
		Data:       map[string][]byte{recordKey: data},
	}
	switch live := stored.secret; {
	case live == nil:
		return c.Create(ctx, secret, FieldOwner)
	case bytes.Equal(live.Data[recordKey], data) && reflect.DeepEqual(live.OwnerReferences, owners):
		return nil
	default:
		secret.ResourceVersion = live.ResourceVersion
		return c.replace(ctx, secret)
	}
}

// meta is the metadata of both parts.
func (s storedRecord) meta(owners []metav1.OwnerReference) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: s.name.Namespace, Name: s.name.Name, OwnerReferences: owners,
		Labels: map[string]string{v1alpha1.ClusterLabel: s.cluster},
	}
}

// replace writes an object that is there, all of what clusterctl-x owns of it, unless it
// was changed since it was read.
func (c *Client) replace(ctx context.Context, object runtime.Object) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return err
	}
	return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: content}), FieldOwner, client.ForceOwnership)
}

// owner is a reference to the Cluster, for what is to go away with it.
type owner struct {
	metav1.OwnerReference
	// managesItself is true where the cluster says that it manages itself.
	managesItself bool
}

func (c *Client) owner(ctx context.Context, key client.ObjectKey) (owner, error) {
	var cluster clusterv1.Cluster
	if err := c.Get(ctx, key, &cluster); err != nil {
		return owner{}, c.explain(ctx, fmt.Errorf("reading cluster %s: %w", key, err))
	}
	return owner{
		OwnerReference: metav1.OwnerReference{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: key.Name, UID: cluster.UID},
		managesItself:  cluster.Labels[v1alpha1.ManagementClusterLabel] == key.Name,
	}, nil
}
