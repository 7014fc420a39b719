package management

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

const (
	// recordSchema is the version of the record's content that is written. Version 1 was a
	// Secret with all of it.
	recordSchema = 2
	// recordType is that of the Secret of a record, and recordKey where a part of a record
	// is.
	recordType = "clusterctl-x.io/record"
	recordKey  = "record"
	// maxRecord bounds what a part of a record is unpacked to.
	maxRecord = 16 << 20
	// maxPacked is the size of a ConfigMap's data beyond which the oldest runs are dropped;
	// 1 MiB is the most that a ConfigMap can have.
	maxPacked = 512 << 10
)

// Record is what clusterctl-x knows about a cluster beyond its objects. Nothing is
// recovered from it; it shows what an upgrade changes, and keeps releases that the bundles
// may no longer have. It has two parts: a Secret with the file, and a ConfigMap with all
// else, which is nothing confidential. Either is of use without the other.
type Record struct {
	SchemaVersion int `json:"schemaVersion"`
	// Spec is the file that was last applied; empty where the Secret may not be read.
	Spec string `json:"spec,omitempty"`
	// Cluster is what that file says about versions, numbers of machines, and what cannot
	// be changed.
	Cluster *v1alpha1.Cluster `json:"cluster,omitempty"`
	// VersionOnly is true where Cluster is of no file: it has what the last upgrade asked
	// for, which changed versions and nothing else.
	VersionOnly bool `json:"versionOnly,omitempty"`
	// Versions that it was resolved to.
	Versions v1alpha1.ClusterVersions `json:"versions,omitzero"`
	// From are the versions that the cluster had before the upgrade to them began.
	From v1alpha1.ClusterVersions `json:"from,omitzero"`
	// Plan that was followed last, of a cluster from a ClusterClass, without changes of
	// fields: what Cluster API does can be compared with it.
	Plan *plan.Plan `json:"plan,omitempty"`
	// Releases of these versions and of those before.
	Releases []versionsbundle.Release `json:"releases,omitempty"`
	// Runs are those that changed the cluster, the newest last.
	Runs []state.Run `json:"runs,omitempty"`
	// Supersedes is a hash of the Secret as it was when this was written. One of version 1
	// with another hash was written later, by an older clusterctl-x.
	Supersedes string `json:"supersedes,omitempty"`
}

// recordFile is the part of a record in the Secret.
type recordFile struct {
	SchemaVersion int    `json:"schemaVersion"`
	Spec          string `json:"spec"`
}

func recordName(cluster string) string { return cluster + "-clusterctl-x" }

// storedRecord are the objects of a record as they are on the management cluster.
type storedRecord struct {
	cluster   string
	name      client.ObjectKey
	configMap *corev1.ConfigMap // nil where there is none
	secret    *corev1.Secret    // nil where there is none, or it may not be read
	// forbidden is why the Secret may not be read.
	forbidden error
}

func (c *Client) storedRecord(ctx context.Context, key client.ObjectKey) (storedRecord, error) {
	stored := storedRecord{cluster: key.Name, name: client.ObjectKey{Namespace: key.Namespace, Name: recordName(key.Name)}}
	var configMap corev1.ConfigMap
	switch err := c.Get(ctx, stored.name, &configMap); {
	case err == nil:
		stored.configMap = &configMap
	case !apierrors.IsNotFound(err):
		return stored, err
	}
	var secret corev1.Secret
	switch err := c.Get(ctx, stored.name, &secret); {
	case err == nil:
		stored.secret = &secret
	case apierrors.IsForbidden(err):
		stored.forbidden = err
	case !apierrors.IsNotFound(err):
		return stored, err
	}
	return stored, nil
}

// Record returns the record of a cluster, and false if there is none. Who may not read
// Secrets gets it without the file. The error is a *RefusedError about privileges where
// only a Secret can have it, as that of an older clusterctl-x.
func (c *Client) Record(ctx context.Context, key client.ObjectKey) (Record, bool, error) {
	stored, err := c.storedRecord(ctx, key)
	if err == nil && stored.configMap == nil {
		err = stored.forbidden
	}
	if err != nil {
		return Record{}, false, c.explain(ctx, fmt.Errorf("reading the record of cluster %s: %w", key, err))
	}
	record, damaged := stored.record()
	if newer := (newerError{}); errors.As(damaged, &newer) {
		return Record{}, false, refusedRecord(key, newer)
	}
	if damaged != nil {
		return Record{}, false, fmt.Errorf("reading the record of cluster %s in %w; delete it if it cannot be repaired: the next upgrade writes a new one", key, damaged)
	}
	return record, stored.configMap != nil || stored.secret != nil, nil
}

// record returns the record. With an error about a damaged part it has what the other
// part says.
func (s storedRecord) record() (Record, error) {
	var public, private Record
	var ofPublic, ofPrivate error
	if s.configMap != nil {
		public, ofPublic = s.unpack("ConfigMap", s.configMap.BinaryData)
	}
	if s.secret != nil {
		private, ofPrivate = s.unpack("Secret", s.secret.Data)
	}
	record := public
	if private.SchemaVersion == 1 && public.Supersedes != s.secretHash() {
		record, record.Runs = private, public.Runs // an older clusterctl-x wrote last
	}
	record.Spec = private.Spec
	return record, errors.Join(ofPublic, ofPrivate)
}

func (s storedRecord) unpack(kind string, data map[string][]byte) (Record, error) {
	record, err := unpack(data[recordKey])
	if err != nil {
		return Record{}, fmt.Errorf("%s %s: %w", kind, s.name.Name, err)
	}
	return record, nil
}

// secretHash identifies the content of the Secret.
func (s storedRecord) secretHash() string {
	if s.secret == nil {
		return ""
	}
	sum := sha256.Sum256(s.secret.Data[recordKey])
	return hex.EncodeToString(sum[:])
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

func pack(content any) ([]byte, error) {
	text, err := json.Marshal(content)
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
