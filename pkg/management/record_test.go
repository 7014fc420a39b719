package management

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
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
	objects map[string]client.Object // by kind
	getErr  map[string]error         // by kind
	writes  []string
	version int
	// before is called before each write; its error is that of the write.
	before func(kind string) error
}

func kindOf(o client.Object) string {
	if _, is := o.(*corev1.ConfigMap); is {
		return "ConfigMap"
	}
	return "Secret"
}

func (r *records) client() *Client {
	return clientOf(interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
			if cluster, is := into.(*clusterv1.Cluster); is {
				cluster.Name, cluster.Namespace, cluster.UID = key.Name, key.Namespace, "uid"
				return nil
			}
			kind := kindOf(into)
			live, exists := r.objects[kind]
			switch {
			case r.getErr[kind] != nil:
				return r.getErr[kind]
			case !exists || key != client.ObjectKeyFromObject(live):
				return apierrors.NewNotFound(schema.GroupResource{Resource: kind}, key.Name)
			}
			data, err := json.Marshal(live)
			if err != nil {
				return err
			}
			return json.Unmarshal(data, into)
		},
		Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			if review, is := o.(*authenticationv1.SelfSubjectReview); is {
				review.Status.UserInfo.Username = "jane"
				return nil
			}
			return r.write("create", "", o.DeepCopyObject().(client.Object))
		},
		Apply: func(_ context.Context, _ client.WithWatch, o runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			data, err := json.Marshal(o)
			if err != nil {
				return err
			}
			var object client.Object = &corev1.Secret{}
			if strings.Contains(string(data), `"kind":"ConfigMap"`) {
				object = &corev1.ConfigMap{}
			}
			if err := json.Unmarshal(data, object); err != nil {
				return err
			}
			return r.write("apply", applied(options), object)
		},
	})
}

// write does what an API server does.
func (r *records) write(verb, options string, o client.Object) error {
	kind := kindOf(o)
	if r.before != nil {
		if err := r.before(kind); err != nil {
			return err
		}
	}
	r.writes = append(r.writes, strings.TrimSpace(verb+" "+kind+" "+options))
	live, exists := r.objects[kind]
	switch {
	case verb == "create" && exists:
		return apierrors.NewAlreadyExists(schema.GroupResource{Resource: kind}, o.GetName())
	case verb == "apply" && (!exists || o.GetResourceVersion() != live.GetResourceVersion()):
		return apierrors.NewConflict(schema.GroupResource{Resource: kind}, o.GetName(), errors.New("it has changed"))
	}
	r.put(o)
	return nil
}

// put stores an object, whatever is there.
func (r *records) put(o client.Object) {
	if r.objects == nil {
		r.objects = map[string]client.Object{}
	}
	r.version++
	o.SetResourceVersion(strconv.Itoa(r.version))
	r.objects[kindOf(o)] = o
}

// old stores a record as clusterctl-x wrote it when all of it was in the Secret.
func (r *records) old(t *testing.T, text string) {
	t.Helper()
	r.put(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c-clusterctl-x"}, Data: map[string][]byte{"record": packed(t, text)}})
}

// content is what a part of the record has, unpacked.
func (r *records) content(t *testing.T, kind string) string {
	t.Helper()
	var data []byte
	switch o := r.objects[kind].(type) {
	case *corev1.ConfigMap:
		data = o.BinaryData["record"]
	case *corev1.Secret:
		data = o.Data["record"]
	}
	reader, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (r *records) change(t *testing.T, change func(Record) Record) {
	t.Helper()
	if err := r.client().ChangeRecord(t.Context(), clusterKey(), change); err != nil {
		t.Fatal(err)
	}
}

// read returns the record, without what every record has.
func (r *records) read(t *testing.T) Record {
	t.Helper()
	record, exists, err := r.client().Record(t.Context(), clusterKey())
	if err != nil || !exists {
		t.Fatalf("the record: exists %t, %v", exists, err)
	}
	record.SchemaVersion, record.Supersedes = 0, ""
	return record
}

// group changes the recorded version of a group.
func group(name, version string) func(Record) Record {
	return func(record Record) Record {
		versions := enginetest.Versions("v1.34.1")
		maps.Copy(versions.WorkerNodeGroups, record.Versions.WorkerNodeGroups)
		versions.WorkerNodeGroups[name] = v1alpha1.MustParseVersion(version)
		record.Versions = versions
		return record
	}
}

func compareRecords(t *testing.T, what string, want, got Record) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(v1alpha1.Version{}, v1alpha1.KubernetesVersion{})); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// TestRecordRoundTrip: what was written is read again, from objects that go where the
// Cluster goes; the file is in the Secret alone, and values of fields are nowhere.
func TestRecordRoundTrip(t *testing.T) {
	t.Parallel()
	var world records
	if _, exists, err := world.client().Record(t.Context(), clusterKey()); exists || err != nil {
		t.Fatalf("a record before it was written: %t, %v", exists, err)
	}
	secretly := plan.Changes{Fields: []changes.Change{{Object: "Cluster/c", Path: "spec.x", Action: changes.Changed, New: changes.Text("s3cret")}}}
	written := Record{
		Spec:     "kind: Cluster\n# s3cret, with \"quotes\"\n",
		Cluster:  &v1alpha1.Cluster{Kind: "Cluster", Metadata: v1alpha1.Meta{Name: "c"}, Spec: v1alpha1.ClusterSpec{ClusterNetwork: v1alpha1.ClusterNetwork{CNI: "cilium"}}},
		Versions: enginetest.Versions("v1.35.1", "md-0", "v1.34.9", "md-1", "v1.35.1+build.7"),
		Plan: &plan.Plan{
			Metadata: plan.Metadata{Name: "c", UID: "uid", Spec: "hash of s3cret", Generations: map[string]int64{"Cluster/c": 1}},
			Steps:    []plan.Step{{Kind: plan.Workers, WorkerNodeGroups: []plan.Group{{Name: "md-0", Changes: secretly}}, Changes: secretly}},
			Notes:    []string{"s3cret"}, Findings: []plan.Finding{{Reason: "s3cret"}}, Source: &plan.Source{Spec: "s3cret"},
		},
		Releases: allReleases(t),
	}
	for range 2 { // the second one takes the place of the first, and the file stays
		world.change(t, func(Record) Record { return written })
	}
	want := written
	want.Plan = &plan.Plan{
		Metadata: plan.Metadata{Name: "c", UID: "uid"},
		Steps:    []plan.Step{{Kind: plan.Workers, WorkerNodeGroups: []plan.Group{{Name: "md-0"}}}},
	}
	compareRecords(t, "record", want, world.read(t))
	if diff := cmp.Diff([]string{"create ConfigMap", "create Secret", "apply ConfigMap " + applied([]client.ApplyOption{FieldOwner, client.ForceOwnership})}, world.writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	if public := world.content(t, "ConfigMap"); strings.Contains(public, "s3cret") {
		t.Errorf("the ConfigMap has %s", public)
	}
	if diff := cmp.Diff(`{"schemaVersion":2,"spec":"kind: Cluster\n# s3cret, with \"quotes\"\n"}`, world.content(t, "Secret")); diff != "" {
		t.Errorf("content of the Secret (-want +got):\n%s", diff)
	}
	meta := metav1.ObjectMeta{
		Namespace: "ns", Name: "c-clusterctl-x", Labels: map[string]string{v1alpha1.ClusterLabel: "c"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Cluster", Name: "c", UID: "uid"}},
	}
	configMap, secret := world.objects["ConfigMap"].(*corev1.ConfigMap), world.objects["Secret"].(*corev1.Secret)
	configMap.BinaryData, secret.Data = nil, nil
	configMap.ResourceVersion, secret.ResourceVersion = "", ""
	wantObjects := map[string]client.Object{
		"ConfigMap": &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: meta},
		"Secret":    &corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: meta, Type: "clusterctl-x.io/record"},
	}
	if diff := cmp.Diff(wantObjects, world.objects); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

// TestRecordOfOlderClusterctlX: a record that is all in the Secret is read, and taken over
// by the next write, of which an older clusterctl-x understands nothing. What that one
// writes between the two writes counts.
func TestRecordOfOlderClusterctlX(t *testing.T) {
	t.Parallel()
	const before, later = `{"schemaVersion":1,"spec":"x","versions":{"controlPlane":"v1.34.1","workerNodeGroups":{"md-0":"v1.33.1"}}}`,
		`{"schemaVersion":1,"spec":"y","versions":{"controlPlane":"v1.34.1","workerNodeGroups":{"md-0":"v1.33.9"}}}`
	record := func(spec string, versions ...string) Record {
		return Record{Spec: spec, Versions: enginetest.Versions("v1.34.1", versions...)}
	}
	var world records
	world.old(t, before)
	compareRecords(t, "read", record("x", "md-0", "v1.33.1"), world.read(t))

	killed := errors.New("killed")
	world.before = func(kind string) error {
		if kind == "Secret" {
			return killed
		}
		return nil
	}
	if err := world.client().ChangeRecord(t.Context(), clusterKey(), group("md-1", "v1.34.1")); !errors.Is(err, killed) {
		t.Fatal(err)
	}
	world.before = nil
	compareRecords(t, "killed between the two writes", record("x", "md-0", "v1.33.1", "md-1", "v1.34.1"), world.read(t))

	world.old(t, later)
	compareRecords(t, "written by an older one", record("y", "md-0", "v1.33.9"), world.read(t))

	// Another run on other groups takes the old record over at the same time.
	world.before = func(kind string) error {
		if kind == "Secret" {
			world.before = nil
			world.change(t, group("md-2", "v1.34.1"))
		}
		return nil
	}
	world.change(t, group("md-1", "v1.34.1"))
	compareRecords(t, "taken over by two runs", record("y", "md-0", "v1.33.9", "md-1", "v1.34.1", "md-2", "v1.34.1"), world.read(t))
	if diff := cmp.Diff(`{"schemaVersion":2,"spec":"y"}`, world.content(t, "Secret")); diff != "" {
		t.Errorf("content of the Secret (-want +got):\n%s", diff)
	}
}

// TestRecordThatCannotBeRead: a newer one is another thing than a damaged one,
// and only the latter may be written over. Without the Secret only the file is missing.
func TestRecordThatCannotBeRead(t *testing.T) {
	t.Parallel()
	type result struct {
		Spec, Version, Err, Check string
		Exists, Written           bool
	}
	damaged := func(kind, why string) result {
		return result{Err: fmt.Sprintf("reading the record of cluster ns/c in %s c-clusterctl-x: %s; delete it if it cannot be repaired: the next upgrade writes a new one", kind, why), Written: true}
	}
	newer := func(version int) result {
		return result{Err: fmt.Sprintf("cluster ns/c was last changed by a newer clusterctl-x: this one does not understand its record (version %d; it knows 2); use the newer one", version), Check: "newer-record"}
	}
	forbidden := func(resource string) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "c-clusterctl-x", errors.New("no"))
	}
	missingPrivileges := func(resource string) result {
		return result{Err: fmt.Sprintf(`reading the record of cluster ns/c: %s "c-clusterctl-x" is forbidden: no; give the user of this kubeconfig the privileges of 'clusterctl-x generate rbac', or use another kubeconfig`, resource), Check: "privileges"}
	}
	const public, file = `{"schemaVersion":2,"versions":{"controlPlane":"v1.35.1"}}`, `{"schemaVersion":2,"spec":"x"}`
	whole := packed(t, public)
	flipped := append([]byte(nil), whole...)
	flipped[len(flipped)-8] ^= 1
	tests := map[string]struct {
		configMap, secret []byte // nil where there is none
		getErr            map[string]error
		want              result
	}{
		"both":                            {whole, packed(t, file), nil, result{Spec: "x", Version: "v1.35.1", Exists: true, Written: true}},
		"no Secret":                       {whole, nil, nil, result{Version: "v1.35.1", Exists: true, Written: true}},
		"no ConfigMap":                    {nil, packed(t, file), nil, result{Spec: "x", Exists: true, Written: true}},
		"Secrets may not be read":         {whole, packed(t, file), map[string]error{"Secret": forbidden("secrets")}, result{Version: "v1.35.1", Exists: true}},
		"nor is there a ConfigMap":        {nil, packed(t, file), map[string]error{"Secret": forbidden("secrets")}, missingPrivileges("secrets")},
		"ConfigMaps may not be read":      {whole, packed(t, file), map[string]error{"ConfigMap": forbidden("configmaps")}, missingPrivileges("configmaps")},
		"newer":                           {packed(t, `{"schemaVersion":3}`), nil, nil, newer(3)},
		"newer Secret":                    {whole, packed(t, `{"schemaVersion":3}`), nil, newer(3)},
		"newer, and a damaged part":       {packed(t, `{"schemaVersion":3}`), []byte("x"), nil, newer(3)},
		"newer, and all has another form": {packed(t, `{"schemaVersion":7,"spec":{"file":"x"},"versions":["v1.35"],"releases":"none"}`), nil, nil, newer(7)},
		"no data":                         {[]byte{}, nil, nil, damaged("ConfigMap", "EOF")},
		"not packed":                      {[]byte(`{"schemaVersion":1}`), nil, nil, damaged("ConfigMap", "gzip: invalid header")},
		"cut off":                         {whole[:len(whole)-9], nil, nil, damaged("ConfigMap", "unexpected EOF")},
		"one bit is wrong":                {flipped, nil, nil, damaged("ConfigMap", "gzip: invalid checksum")},
		"no JSON":                         {packed(t, `schemaVersion: 1`), nil, nil, damaged("ConfigMap", "invalid character 's' looking for beginning of value")},
		"a wrong version":                 {packed(t, `{"schemaVersion":1,"versions":{"controlPlane":"1"}}`), nil, nil, damaged("ConfigMap", `"1" is not a version of Kubernetes such as v1.34.2`)},
		"a bomb":                          {packed(t, `{"schemaVersion":1,"spec":"`+strings.Repeat("x", maxRecord)+`"}`), nil, nil, damaged("ConfigMap", "unexpected end of JSON input")},
		"a damaged Secret":                {whole, []byte("x"), nil, damaged("Secret", "unexpected EOF")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := records{getErr: test.getErr}
			meta := metav1.ObjectMeta{Namespace: "ns", Name: "c-clusterctl-x"}
			if test.configMap != nil {
				world.put(&corev1.ConfigMap{ObjectMeta: meta, BinaryData: map[string][]byte{"record": test.configMap}})
			}
			if test.secret != nil {
				world.put(&corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{"record": test.secret}})
			}
			c := world.client()
			record, exists, err := c.Record(t.Context(), clusterKey())
			got := result{Spec: record.Spec, Version: record.Versions.ControlPlane.String(), Exists: exists}
			if err != nil {
				got.Err = err.Error()
				if refused := (*RefusedError)(nil); errors.As(err, &refused) {
					got.Check = refused.Check
				}
			}
			err = c.ChangeRecord(t.Context(), clusterKey(), func(Record) Record { return Record{} })
			got.Written = err == nil
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
			if !got.Written && world.writes != nil {
				t.Errorf("writing: %v; requests: %s", err, world.writes)
			}
		})
	}
}

// TestRecordOfTwoRuns: of two runs that change the record at the same time neither loses
// what the other one wrote.
func TestRecordOfTwoRuns(t *testing.T) {
	t.Parallel()
	var world records
	world.change(t, func(Record) Record {
		return Record{Versions: enginetest.Versions("v1.34.1", "md-0", "v1.33.1", "md-1", "v1.33.1")}
	})
	world.before = func(string) error {
		world.before = nil
		world.change(t, group("md-1", "v1.34.1"))
		return nil
	}
	world.change(t, group("md-0", "v1.34.1"))
	compareRecords(t, "record", Record{Versions: enginetest.Versions("v1.34.1", "md-0", "v1.34.1", "md-1", "v1.34.1")}, world.read(t))
}

// TestRecordSize: a Secret and a ConfigMap have room for a record of a very large cluster.
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
	config := providers.BuiltIn().Decode("large.yaml", []byte(spec.String()))
	for kind, content := range map[string]any{
		"ConfigMap": Record{Cluster: config.Cluster, Versions: versions, From: versions, Releases: releases},
		"Secret":    recordFile{Spec: spec.String()},
	} {
		data, err := pack(content)
		if err != nil {
			t.Fatal(err)
		}
		if most := corev1.MaxSecretSize / 20; len(data) > most {
			t.Errorf("the %s has %d bytes, want %d at most", kind, len(data), most)
		}
		if _, err := unpack(data); err != nil {
			t.Error(err)
		}
	}
}
