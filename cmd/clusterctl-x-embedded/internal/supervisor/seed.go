package supervisor

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/cmd/clusterctl-x-embedded/internal/manifests"
)

// Where kube-apiserver keeps objects in etcd: its default for --etcd-prefix,
// then group (none for admissionregistration.k8s.io, by its history) and resource.
const (
	crdPrefix        = "/registry/apiextensions.k8s.io/customresourcedefinitions/"
	mutatingPrefix   = "/registry/mutatingwebhookconfigurations/"
	validatingPrefix = "/registry/validatingwebhookconfigurations/"
	policyPrefix     = "/registry/validatingadmissionpolicies/"
	bindingPrefix    = "/registry/validatingadmissionpolicybindings/"
)

// hashAnnotation holds the hash of the manifest that an object was seeded from.
const hashAnnotation = "clusterctl-x.io/manifest-hash"

// seed puts Cluster API's CRDs and webhook configurations, and our guardrails,
// where the API server finds them when it starts. Asked for over its API, the CRDs
// alone cost it five seconds. What an equal build put there before is left alone.
// The guardrails hold once they are bound.
func seed(ctx context.Context, etcd *embed.Etcd, m manifests.Manifests) error {
	s, err := newSeeder(etcd)
	if err != nil {
		return err
	}
	admission := admissionregistrationv1.SchemeGroupVersion
	return cmp.Or(
		putAll(ctx, s, crdPrefix, apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"), m.CRDs),
		putAll(ctx, s, mutatingPrefix, admission.WithKind("MutatingWebhookConfiguration"), m.Mutating),
		putAll(ctx, s, validatingPrefix, admission.WithKind("ValidatingWebhookConfiguration"), m.Validating),
		putAll(ctx, s, policyPrefix, admission.WithKind("ValidatingAdmissionPolicy"), m.Policies),
		s.unbind(ctx, m.Bindings),
	)
}

// bind puts the guardrails in force, once the API server serves the kinds of their
// parameters. Where it finds bindings before that, as at its start, it looks for
// these kinds again only half a minute later, and lets everything pass until then.
func bind(ctx context.Context, etcd *embed.Etcd, m manifests.Manifests) error {
	s, err := newSeeder(etcd)
	if err != nil {
		return err
	}
	return putAll(ctx, s, bindingPrefix, admissionregistrationv1.SchemeGroupVersion.WithKind("ValidatingAdmissionPolicyBinding"), m.Bindings)
}

// unbind removes the bindings of an earlier start.
func (s seeder) unbind(ctx context.Context, bindings []admissionregistrationv1.ValidatingAdmissionPolicyBinding) error {
	for i := range bindings {
		key := bindingPrefix + bindings[i].Name
		if _, err := s.etcd.Server.DeleteRange(ctx, &etcdserverpb.DeleteRangeRequest{Key: []byte(key)}); err != nil {
			return fmt.Errorf("removing %s from etcd: %w", key, err)
		}
	}
	return nil
}

func newSeeder(etcd *embed.Etcd) (seeder, error) {
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(apiextensionsv1.AddToScheme, admissionregistrationv1.AddToScheme)
	err := builder.AddToScheme(scheme)
	return seeder{etcd: etcd, decoder: serializer.NewCodecFactory(scheme).UniversalDeserializer()}, err
}

type seeder struct {
	etcd *embed.Etcd
	// decoder reads objects as this package stores them (JSON) and as the API
	// server does (protobuf).
	decoder runtime.Decoder
}

// objectOf is a pointer to a T.
type objectOf[T any] interface {
	*T
	client.Object
}

func putAll[T any, P objectOf[T]](ctx context.Context, s seeder, prefix string, kind schema.GroupVersionKind, objects []T) error {
	for i := range objects {
		if err := s.put(ctx, prefix, kind, P(&objects[i])); err != nil {
			return err
		}
	}
	return nil
}

func (s seeder) put(ctx context.Context, prefix string, kind schema.GroupVersionKind, object client.Object) error {
	key := prefix + object.GetName()
	object.GetObjectKind().SetGroupVersionKind(kind)
	content, err := json.Marshal(object)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	hash := hex.EncodeToString(sum[:])

	before, err := s.get(ctx, key)
	if err != nil {
		return err
	}
	object.SetUID(types.UID(uuid.NewString()))
	object.SetCreationTimestamp(metav1.NewTime(time.Now().UTC().Truncate(time.Second)))
	object.SetGeneration(1)
	if before != nil {
		if before.GetAnnotations()[hashAnnotation] == hash {
			return nil
		}
		object.SetUID(before.GetUID())
		object.SetCreationTimestamp(before.GetCreationTimestamp())
		object.SetGeneration(before.GetGeneration() + 1)
	}
	annotations := map[string]string{hashAnnotation: hash}
	for name, value := range object.GetAnnotations() {
		annotations[name] = value
	}
	object.SetAnnotations(annotations)
	value, err := json.Marshal(object)
	if err != nil {
		return err
	}
	if _, err := s.etcd.Server.Put(ctx, &etcdserverpb.PutRequest{Key: []byte(key), Value: value}); err != nil {
		return fmt.Errorf("writing %s to etcd: %w", key, err)
	}
	return nil
}

// get returns nil where etcd has no such key.
func (s seeder) get(ctx context.Context, key string) (metav1.Object, error) {
	stored, err := s.etcd.Server.Range(ctx, &etcdserverpb.RangeRequest{Key: []byte(key)})
	if err != nil {
		return nil, fmt.Errorf("reading %s from etcd: %w", key, err)
	}
	if len(stored.Kvs) == 0 {
		return nil, nil
	}
	object, _, err := s.decoder.Decode(stored.Kvs[0].Value, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("decoding %s from etcd: %w", key, err)
	}
	return object.(metav1.Object), nil
}
