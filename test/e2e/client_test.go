package e2e_test

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
)

// reader reads the objects of one management cluster.
type reader struct {
	client    dynamic.Interface
	discovery discovery.DiscoveryInterface
	mapper    *restmapper.DeferredDiscoveryRESTMapper
}

// readers are kept, so that a management cluster is asked once what kinds it has.
type readers struct {
	mu  sync.Mutex
	all map[string]*reader // by instance
}

func (r *readers) of(instance string) (*reader, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.all[instance]; ok {
		return known, nil
	}
	config, err := configOf(instance)
	if err != nil {
		return nil, err
	}
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	if r.all == nil {
		r.all = map[string]*reader{}
	}
	r.all[instance] = &reader{client, kinds, restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(kinds))}
	return r.all[instance], nil
}

// forget is for a management cluster that was made anew under the same name.
func (r *readers) forget(instance string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, instance)
}

// configOf is what a client of a management cluster needs.
func configOf(instance string) (*rest.Config, error) {
	return clientcmd.BuildConfigFromFlags("", kubeconfigOf(instance))
}

// kubeconfigOf is the path of a management cluster's kubeconfig.
func kubeconfigOf(instance string) string {
	return filepath.Join(everyone.home, "embedded", instance, "kubeconfig")
}

// resource is where objects of a kind are: "machine", or "machines.v1beta1.cluster.x-k8s.io".
func (r *reader) resource(kind, namespace string) (dynamic.ResourceInterface, error) {
	wanted, _ := schema.ParseResourceArg(kind)
	if wanted == nil {
		wanted = &schema.GroupVersionResource{Resource: kind}
	}
	found, err := r.mapper.ResourceFor(*wanted)
	if err != nil {
		return nil, err
	}
	return r.client.Resource(found).Namespace(namespace), nil
}

// objects lists one kind in a namespace, of the group and version that kubectl would take.
func (r *reader) objects(t *testing.T, namespace, resource, selector string) []unstructured.Unstructured {
	t.Helper()
	mapped, err := r.resource(resource, namespace)
	if err != nil {
		t.Fatal(err)
	}
	all, err := mapped.List(t.Context(), metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		t.Fatalf("listing %s in namespace %s: %v", resource, namespace, err)
	}
	return all.Items
}

// list reads the objects of kinds, such as "clusters,machines", in a namespace, and only
// those that a label selector chooses where there is one.
func list[T any](t *testing.T, instance, namespace, kinds string, selector ...string) []T {
	t.Helper()
	r, err := everyone.readers.of(instance)
	if err != nil {
		t.Fatal(err)
	}
	all := []T{}
	for kind := range strings.SplitSeq(kinds, ",") {
		for _, object := range r.objects(t, namespace, kind, strings.Join(selector, ",")) {
			var typed T
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &typed); err != nil {
				t.Fatal(err)
			}
			all = append(all, typed)
		}
	}
	return all
}

// objectsIn names all objects of a namespace, as KIND/NAME. Events do not count: they are
// the log of what happened and expire by themselves.
func objectsIn(t *testing.T, namespace string) []string {
	t.Helper()
	r, err := everyone.readers.of(shared)
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := discovery.ServerPreferredNamespacedResources(r.discovery)
	if err != nil {
		t.Fatal(err)
	}
	all := []string{}
	for _, group := range kinds {
		version, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range group.APIResources {
			if kind.Kind == "Event" || !slices.Contains(kind.Verbs, "list") {
				continue
			}
			objects, err := r.client.Resource(version.WithResource(kind.Name)).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatalf("listing %s in namespace %s: %v", kind.Name, namespace, err)
			}
			for _, object := range objects.Items {
				all = append(all, kind.Kind+"/"+object.GetName())
			}
		}
	}
	slices.Sort(all)
	return all
}

// objectsOfKind maps the objects of a kind in a namespace to their UIDs.
func objectsOfKind(t *testing.T, namespace, kind string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, object := range list[metav1.PartialObjectMetadata](t, shared, namespace, kind) {
		all[object.Name] = string(object.UID)
	}
	return all
}
