package management

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// clusterKey is the cluster of the tests.
func clusterKey() client.ObjectKey { return client.ObjectKey{Namespace: "ns", Name: "c"} }

// allReleases are those of the bundles of clusterctl-x.
func allReleases(t *testing.T) []versionsbundle.Release {
	t.Helper()
	const file = "../../config/bundles/bundles.yaml"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	bundles, err := versionsbundle.Parse(file, data)
	if err != nil {
		t.Fatal(err)
	}
	return bundles.Releases()
}

func packed(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// records is a management cluster with one cluster, and room for its record.
type records struct {
	secret  *corev1.Secret // nil where there is none
	getErr  error          // of the Secret
	applied []string       // with which options
	version int
	before  func() // each write of a Secret that is there
}

func (r *records) client() *Client {
	return clientOf(interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
			switch o := into.(type) {
			case *clusterv1.Cluster:
				o.Name, o.Namespace, o.UID = key.Name, key.Namespace, "uid"
				return nil
			case *corev1.Secret:
				if r.secret == nil && r.getErr == nil {
					return apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, key.Name)
				}
				if r.getErr == nil && key == client.ObjectKeyFromObject(r.secret) {
					r.secret.DeepCopyInto(o)
				}
			}
			return r.getErr
		},
		Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			r.written(o.(*corev1.Secret).DeepCopy())
			return nil
		},
		Apply: func(_ context.Context, _ client.WithWatch, o runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			r.applied = append(r.applied, applied(options))
			data, err := json.Marshal(o)
			if err != nil {
				return err
			}
			var secret corev1.Secret
			if err := json.Unmarshal(data, &secret); err != nil {
				return err
			}
			if r.before != nil {
				r.before()
			}
			if secret.ResourceVersion != r.secret.ResourceVersion {
				return apierrors.NewConflict(schema.GroupResource{Resource: "secrets"}, secret.Name, errors.New("it has changed"))
			}
			r.written(&secret)
			return nil
		},
	})
}

// written is what an API server makes of a Secret.
func (r *records) written(secret *corev1.Secret) {
	r.version++
	r.secret = secret
	r.secret.ResourceVersion = strconv.Itoa(r.version)
}

// TestRecordRoundTrip: what was written is read again, from a Secret that goes
// where the Cluster goes.
func TestRecordRoundTrip(t *testing.T) {
	t.Parallel()
	var world records
	c := world.client()
	written := Record{Spec: "kind: Cluster\n# with \"quotes\"\n", Versions: enginetest.Versions("v1.35.1", "md-0", "v1.34.9", "md-1", "v1.35.1+build.7"), Releases: allReleases(t)}
	if _, exists, err := c.Record(t.Context(), clusterKey()); exists || err != nil {
		t.Fatalf("a record before it was written: %t, %v", exists, err)
	}
	for range 2 { // the second one takes the place of the first
		if err := c.ChangeRecord(t.Context(), clusterKey(), func(Record) Record { return written }); err != nil {
			t.Fatal(err)
		}
	}
	got, exists, err := c.Record(t.Context(), clusterKey())
	if err != nil || !exists {
		t.Fatalf("no record: %t, %v", exists, err)
	}
	want := written
	want.SchemaVersion = 1
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(v1alpha1.Version{})); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	world.secret.Data, world.secret.ResourceVersion = nil, ""
	wantSecret := &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "c-clusterctl-x", Labels: map[string]string{v1alpha1.ClusterLabel: "c"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Cluster", Name: "c", UID: "uid"}},
		},
		Type: "clusterctl-x.io/record",
	}
	if diff := cmp.Diff(wantSecret, world.secret); diff != "" {
		t.Errorf("Secret (-want +got):\n%s", diff)
	}
}

// TestRecordThatCannotBeRead: a newer one is another thing than a damaged one,
// and only the latter may be written over.
func TestRecordThatCannotBeRead(t *testing.T) {
	t.Parallel()
	type result struct {
		Err, Check string
		Written    bool
	}
	const damaged = "reading the record of cluster ns/c in Secret c-clusterctl-x: %s; delete it if it cannot be repaired: the next upgrade writes a new one"
	newer := func(version int) result {
		return result{Err: fmt.Sprintf("cluster ns/c was last changed by a newer clusterctl-x: this one does not understand its record (version %d; it knows 1); use the newer one", version), Check: "newer-record"}
	}
	whole := packed(t, `{"schemaVersion":1,"spec":"x"}`)
	tests := map[string]struct {
		data   []byte
		getErr error
		want   result
	}{
		"newer": {packed(t, `{"schemaVersion":2}`), nil, newer(2)},
		"newer, and everything has another form": {
			packed(t, `{"schemaVersion":7,"spec":{"file":"x"},"versions":["v1.35"],"releases":"none"}`), nil, newer(7),
		},
		"no data":          {nil, nil, result{Err: fmt.Sprintf(damaged, "EOF"), Written: true}},
		"not packed":       {[]byte(`{"schemaVersion":1}`), nil, result{Err: fmt.Sprintf(damaged, "gzip: invalid header"), Written: true}},
		"cut off":          {whole[:len(whole)-9], nil, result{Err: fmt.Sprintf(damaged, "unexpected EOF"), Written: true}},
		"one bit is wrong": {append(whole[:len(whole)-8:len(whole)-8], append([]byte{whole[len(whole)-8] ^ 1}, whole[len(whole)-7:]...)...), nil, result{Err: fmt.Sprintf(damaged, "gzip: invalid checksum"), Written: true}},
		"no JSON":          {packed(t, `schemaVersion: 1`), nil, result{Err: fmt.Sprintf(damaged, "invalid character 's' looking for beginning of value"), Written: true}},
		"a wrong version":  {packed(t, `{"schemaVersion":1,"versions":{"controlPlane":"1"}}`), nil, result{Err: fmt.Sprintf(damaged, `"1" is not a version of Kubernetes such as v1.34.2`), Written: true}},
		"a bomb":           {packed(t, `{"schemaVersion":1,"spec":"`+strings.Repeat("x", maxRecord)+`"}`), nil, result{Err: fmt.Sprintf(damaged, "unexpected end of JSON input"), Written: true}},
		"may not be read":  {nil, apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "c-clusterctl-x", errors.New("no")), result{Err: `reading the record of cluster ns/c: secrets "c-clusterctl-x" is forbidden: no; give the user of this kubeconfig the privileges of 'clusterctl-x generate rbac', or use another kubeconfig`, Check: "privileges"}},
		"one that can":     {whole, nil, result{Written: true}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := records{getErr: test.getErr, secret: &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c-clusterctl-x"}, Data: map[string][]byte{"record": test.data}}}
			c := world.client()
			var got result
			if _, _, err := c.Record(t.Context(), clusterKey()); err != nil {
				got.Err = err.Error()
				if refused := (*RefusedError)(nil); errors.As(err, &refused) {
					got.Check = refused.Check
				}
			}
			err := c.ChangeRecord(t.Context(), clusterKey(), func(Record) Record { return Record{} })
			got.Written = err == nil
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
			if !got.Written && world.applied != nil {
				t.Errorf("writing: %v; requests: %s", err, world.applied)
			}
		})
	}
}

// TestRecordOfTwoRuns: of two runs that change the record at the same time neither loses
// what the other one wrote.
func TestRecordOfTwoRuns(t *testing.T) {
	t.Parallel()
	var world records
	c := world.client()
	set := func(group, version string) func(Record) Record {
		return func(record Record) Record {
			record.Versions.WorkerNodeGroups[group] = v1alpha1.MustParseVersion(version)
			return record
		}
	}
	if err := c.ChangeRecord(t.Context(), clusterKey(), func(Record) Record {
		return Record{Versions: enginetest.Versions("v1.34.1", "md-0", "v1.33.1", "md-1", "v1.33.1")}
	}); err != nil {
		t.Fatal(err)
	}
	world.before = func() {
		world.before = nil
		if err := c.ChangeRecord(t.Context(), clusterKey(), set("md-1", "v1.34.1")); err != nil {
			t.Error(err)
		}
	}
	if err := c.ChangeRecord(t.Context(), clusterKey(), set("md-0", "v1.34.1")); err != nil {
		t.Fatal(err)
	}
	got, _, err := c.Record(t.Context(), clusterKey())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(enginetest.Versions("v1.34.1", "md-0", "v1.34.1", "md-1", "v1.34.1"), got.Versions, cmpopts.EquateComparable(v1alpha1.Version{})); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
}

// TestRecordSize: a Secret has room for a record of a very large cluster.
func TestRecordSize(t *testing.T) {
	t.Parallel()
	const groups = 1000
	releases := allReleases(t)
	var spec strings.Builder
	spec.WriteString("apiVersion: clusterctl-x.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: large\nspec:\n  workerNodeGroupConfigurations:\n")
	versions := enginetest.Versions("v1.35.1")
	for i := range groups {
		release := releases[i%len(releases)]
		name := fmt.Sprintf("group-%d-of-availability-zone-%d", i, i*7%5)
		fmt.Fprintf(&spec, "  - name: %s\n    count: %d\n    kubernetesVersion: %q\n    labels:\n      team: team-%d\n      cost-center: \"%d\"\n    taints:\n    - key: dedicated\n      value: team-%d\n      effect: NoSchedule\n",
			name, i%50+1, release.Version, i*13%97, i*7919%10007, i*13%97)
		versions.WorkerNodeGroups[name] = release.Version
	}
	data, err := Record{Spec: spec.String(), Versions: versions, Releases: releases}.pack()
	if err != nil {
		t.Fatal(err)
	}
	if most := corev1.MaxSecretSize / 20; len(data) > most {
		t.Errorf("the record has %d bytes, want %d at most", len(data), most)
	}
	if _, err := unpack(data); err != nil {
		t.Error(err)
	}
}
