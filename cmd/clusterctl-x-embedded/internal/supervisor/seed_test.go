package supervisor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/cmd/clusterctl-x-embedded/internal/manifests"
	"github.com/clusterctl-x/clusterctl-x/cmd/clusterctl-x-embedded/internal/pki"
	"github.com/clusterctl-x/clusterctl-x/pkg/embedded"
)

// lastPort is the port that was given out last: below those that the kernel
// gives to anyone, and not where another run of these tests begins.
var lastPort atomic.Int32 //nolint:gochecknoglobals // ports belong to the machine

// freePorts are ports that nobody listens on, for etcd.
func freePorts(t *testing.T) embedded.Ports {
	t.Helper()
	lastPort.CompareAndSwap(0, int32(10000+os.Getpid()*16%9000))
	var ports embedded.Ports
	for _, port := range []*int{&ports.EtcdClient, &ports.EtcdPeer} {
		for *port == 0 {
			next := int(lastPort.Add(1))
			listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:"+strconv.Itoa(next))
			if err != nil {
				continue
			}
			if err := listener.Close(); err != nil {
				t.Fatal(err)
			}
			*port = next
		}
	}
	return ports
}

func newKeys(t *testing.T) pki.PKI {
	t.Helper()
	keys, err := pki.Ensure(filepath.Join(t.TempDir(), "pki"))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// store is an etcd as the supervisor starts it.
type store struct{ *embed.Etcd }

func newStore(t *testing.T) store {
	t.Helper()
	dir := t.TempDir()
	etcd, err := startEtcd(t.Context(), filepath.Join(dir, "etcd"), filepath.Join(dir, "etcd.log"), freePorts(t), newKeys(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(etcd.Close)
	return store{etcd}
}

// revision counts the writes.
func (s store) revision(t *testing.T) int64 {
	t.Helper()
	all, err := s.Server.Range(t.Context(), &etcdserverpb.RangeRequest{Key: []byte("/")})
	if err != nil {
		t.Fatal(err)
	}
	return all.Header.Revision
}

// objects are all that is stored, by key, as the API server would read them.
func (s store) objects(t *testing.T) map[string]client.Object {
	t.Helper()
	all, err := s.Server.Range(t.Context(), &etcdserverpb.RangeRequest{Key: []byte("/"), RangeEnd: []byte("0")})
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]client.Object{}
	decoder := serializer.NewCodecFactory(testScheme(t)).UniversalDeserializer()
	for _, kv := range all.Kvs {
		object, _, err := decoder.Decode(kv.Value, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		objects[string(kv.Key)] = object.(client.Object)
	}
	return objects
}

func (s store) seed(t *testing.T, m manifests.Manifests) {
	t.Helper()
	if err := seed(t.Context(), s.Etcd, m); err != nil {
		t.Fatal(err)
	}
}

func (s store) put(t *testing.T, key string, value []byte) {
	t.Helper()
	if _, err := s.Server.Put(t.Context(), &etcdserverpb.PutRequest{Key: []byte(key), Value: value}); err != nil {
		t.Fatal(err)
	}
}

func testScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(apiextensionsv1.AddToScheme, admissionregistrationv1.AddToScheme)
	if err := builder.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return scheme
}

const (
	crdKey        = "/registry/apiextensions.k8s.io/customresourcedefinitions/things.example.com"
	mutatingKey   = "/registry/mutatingwebhookconfigurations/example"
	validatingKey = "/registry/validatingwebhookconfigurations/example"
)

// small is one object of each kind; the CRD's description is free to change.
func small(description string) manifests.Manifests {
	schema := &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Description: description}}
	return manifests.Manifests{
		CRDs: []apiextensionsv1.CustomResourceDefinition{{
			ObjectMeta: metav1.ObjectMeta{Name: "things.example.com", Annotations: map[string]string{"made-by": "controller-gen"}},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Group: "example.com", Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Kind: "Thing"}, Scope: apiextensionsv1.NamespaceScoped,
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true, Schema: schema}},
			},
		}},
		Mutating:   []admissionregistrationv1.MutatingWebhookConfiguration{{ObjectMeta: metav1.ObjectMeta{Name: "example"}, Webhooks: []admissionregistrationv1.MutatingWebhook{{Name: "a.example.com"}}}},
		Validating: []admissionregistrationv1.ValidatingWebhookConfiguration{{ObjectMeta: metav1.ObjectMeta{Name: "example"}, Webhooks: []admissionregistrationv1.ValidatingWebhook{{Name: "b.example.com"}}}},
	}
}

// wanted are the objects of small as they are stored for the first time, with
// what is made up then taken from got.
func wanted(t *testing.T, description string, got map[string]client.Object) map[string]client.Object {
	t.Helper()
	m := small(description)
	m.CRDs[0].TypeMeta = metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}
	m.Mutating[0].TypeMeta = metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "MutatingWebhookConfiguration"}
	m.Validating[0].TypeMeta = metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingWebhookConfiguration"}
	want := map[string]client.Object{crdKey: &m.CRDs[0], mutatingKey: &m.Mutating[0], validatingKey: &m.Validating[0]}
	for key, object := range want {
		stored, ok := got[key]
		if !ok {
			continue
		}
		annotations := map[string]string{hashAnnotation: stored.GetAnnotations()[hashAnnotation]}
		if key == crdKey {
			annotations["made-by"] = "controller-gen"
		}
		object.SetAnnotations(annotations)
		object.SetUID(stored.GetUID())
		object.SetCreationTimestamp(stored.GetCreationTimestamp())
		object.SetGeneration(1)
	}
	return want
}

func TestSeed(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	before := s.revision(t)
	began := time.Now().Truncate(time.Second)
	s.seed(t, small("first"))
	first := s.objects(t)
	if diff := cmp.Diff(wanted(t, "first", first), first); diff != "" {
		t.Errorf("first run (-want +got):\n%s", diff)
	}
	uids := map[string]string{}
	for key, object := range first {
		if _, err := uuid.Parse(string(object.GetUID())); err != nil || uids[string(object.GetUID())] != "" {
			t.Errorf("%s has the UID %q: %v", key, object.GetUID(), err)
		}
		uids[string(object.GetUID())] = key
		if created := object.GetCreationTimestamp(); created.Time.Before(began) || created.Time.After(time.Now()) {
			t.Errorf("%s was created %s, want after %s", key, created, began)
		}
		if hash := object.GetAnnotations()[hashAnnotation]; len(hash) != 64 {
			t.Errorf("%s has the hash %q", key, hash)
		}
	}
	if got := s.revision(t) - before; got != 3 {
		t.Errorf("the first run wrote %d times, want 3", got)
	}

	before = s.revision(t)
	s.seed(t, small("first"))
	if got := s.revision(t) - before; got != 0 {
		t.Errorf("the second run wrote %d times", got)
	}

	s.seed(t, small("second"))
	second := s.objects(t)
	if got := s.revision(t) - before; got != 1 {
		t.Errorf("the run with one change wrote %d times, want once", got)
	}
	want := wanted(t, "second", first)
	want[crdKey].SetGeneration(2)
	want[crdKey].SetAnnotations(second[crdKey].GetAnnotations())
	if diff := cmp.Diff(want, second); diff != "" {
		t.Errorf("run with one change (-want +got):\n%s", diff)
	}
	if second[crdKey].GetAnnotations()[hashAnnotation] == first[crdKey].GetAnnotations()[hashAnnotation] {
		t.Error("the hash stays, whatever the manifest")
	}
}

// TestSeedAfterAPIServer finds objects of an earlier run as the API server
// stores them, once it has changed them: in protobuf.
func TestSeedAfterAPIServer(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.seed(t, small("first"))
	first := s.objects(t)
	scheme := testScheme(t)
	for key, object := range first {
		object.SetCreationTimestamp(metav1.Unix(1600000000, 0))
		object.SetGeneration(7)
		var value bytes.Buffer
		if err := protobuf.NewSerializer(scheme, scheme).Encode(object, &value); err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(value.Bytes(), []byte("k8s\x00")) {
			t.Fatalf("no protobuf: %q", value.Bytes())
		}
		s.put(t, key, value.Bytes())
	}
	before := s.revision(t)
	s.seed(t, small("first"))
	if got := s.revision(t) - before; got != 0 {
		t.Errorf("a run without a change wrote %d times", got)
	}
	s.seed(t, small("second"))
	second := s.objects(t)
	want := wanted(t, "second", first)
	for key, object := range want {
		object.SetGeneration(first[key].GetGeneration())
	}
	want[crdKey].SetGeneration(8)
	want[crdKey].SetAnnotations(second[crdKey].GetAnnotations())
	if diff := cmp.Diff(want, second); diff != "" {
		t.Errorf("run with one change (-want +got):\n%s", diff)
	}
}

// TestSeedEverything puts what the embedded management cluster really has.
func TestSeedEverything(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	load := func(port int) manifests.Manifests {
		m, err := manifests.Load(map[manifests.Server]manifests.Endpoint{
			manifests.Core: {URL: fmt.Sprintf("https://127.0.0.1:%d", port)}, manifests.Providers: {URL: "https://127.0.0.1:2"},
		})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	prefixes := func() map[string]int {
		count := map[string]int{}
		all, err := s.Server.Range(t.Context(), &etcdserverpb.RangeRequest{Key: []byte("/"), RangeEnd: []byte("0"), KeysOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, kv := range all.Kvs {
			count[string(kv.Key[:bytes.LastIndexByte(kv.Key, '/')+1])]++
		}
		return count
	}
	s.seed(t, load(1))
	if diff := cmp.Diff(map[string]int{crdPrefix: 29, mutatingPrefix: 4, validatingPrefix: 4, policyPrefix: 7}, prefixes()); diff != "" {
		t.Errorf("number of objects (-want +got):\n%s", diff)
	}
	before := s.revision(t)
	s.seed(t, load(1))
	if got := s.revision(t) - before; got != 0 {
		t.Errorf("the second run wrote %d times", got)
	}
	s.seed(t, load(3))
	if got := s.revision(t) - before; got != 15 {
		t.Errorf("the run with another port of core wrote %d times, want 15: 13 CRDs and 2 webhook configurations", got)
	}
}

// TestBind: guardrails are bound after a seed, and not before: the next start
// takes the bindings of the one before away.
func TestBind(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	m := manifests.Manifests{
		Policies: []admissionregistrationv1.ValidatingAdmissionPolicy{{ObjectMeta: metav1.ObjectMeta{Name: "example"}}},
		Bindings: []admissionregistrationv1.ValidatingAdmissionPolicyBinding{{
			ObjectMeta: metav1.ObjectMeta{Name: "example"}, Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "example"},
		}},
	}
	const policy, binding, ofUser = policyPrefix + "example", bindingPrefix + "example", bindingPrefix + "of-user"
	s.put(t, ofUser, []byte(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicyBinding","metadata":{"name":"of-user"}}`))
	for start := range 2 {
		s.seed(t, m)
		if diff := cmp.Diff([]string{policy, ofUser}, slices.Sorted(maps.Keys(s.objects(t)))); diff != "" {
			t.Errorf("start %d, seeded (-want +got):\n%s", start, diff)
		}
		if err := bind(t.Context(), s.Etcd, m); err != nil {
			t.Fatal(err)
		}
		objects := s.objects(t)
		if diff := cmp.Diff([]string{policy, binding, ofUser}, slices.Sorted(maps.Keys(objects))); diff != "" {
			t.Errorf("start %d, bound (-want +got):\n%s", start, diff)
		}
		if got := objects[binding].(*admissionregistrationv1.ValidatingAdmissionPolicyBinding).Spec.PolicyName; got != "example" {
			t.Errorf("start %d: a binding of %q", start, got)
		}
	}
}

func TestSeedFails(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := seed(ended, s.Etcd, small("first")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	s.put(t, mutatingKey, []byte("no object"))
	err := seed(t.Context(), s.Etcd, small("first"))
	if err == nil || !strings.HasPrefix(err.Error(), "decoding "+mutatingKey+" from etcd: ") {
		t.Errorf("error %v, want one that names %s", err, mutatingKey)
	}
}
