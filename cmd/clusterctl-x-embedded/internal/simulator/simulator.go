// Package simulator plays the infrastructure provider of any kinds that keep Cluster
// API's contract: their clusters get an endpoint, and their machines become ready nodes of
// a workload cluster that upstream's in-memory API server and etcd simulate. So tests drive
// Cluster API's own controllers over kinds whose controllers are elsewhere, or nowhere.
//
// What the workload clusters hold is in memory. After a restart of the program they are
// served on the same ports again, with the same nodes, etcd members and objects of kubeadm,
// but without what others have written there.
package simulator

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Options of the simulator.
type Options struct {
	Kubeconfig       string                    // path
	Clusters         []schema.GroupVersionKind // infrastructure clusters to play the controller of
	Machines         []schema.GroupVersionKind // infrastructure machines, likewise
	FirstClusterPort int32                     // workload clusters get the ports from here
	LastClusterPort  int32                     // to here, one each
}

// finalizer keeps an infrastructure object until nothing is left of what it stands for.
const finalizer = "infrastructure-simulator.clusterctl-x.io"

// ParseKind reads GROUP/VERSION/KIND.
func ParseKind(text string) (schema.GroupVersionKind, error) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return schema.GroupVersionKind{}, fmt.Errorf("kind %q is not GROUP/VERSION/KIND, such as infrastructure.cluster.x-k8s.io/v1beta1/ExampleCluster", text)
	}
	return schema.GroupVersionKind{Group: parts[0], Version: parts[1], Kind: parts[2]}, nil
}

// Run plays the infrastructure provider until ctx ends. The CRDs of the kinds have to be
// there.
func Run(ctx context.Context, options Options) error {
	kubeconfig, err := clientcmd.BuildConfigFromFlags("", options.Kubeconfig)
	if err != nil {
		return fmt.Errorf("reading kubeconfig %s: %w", options.Kubeconfig, err)
	}
	kubeconfig.QPS, kubeconfig.Burst = 100, 200
	kubeconfig.UserAgent = "cluster-api-infrastructure-simulator" // the field manager is named as that of a provider
	// A status is written for all contracts at once. The API server drops the fields that
	// a kind does not have, and warns.
	kubeconfig.WarningHandler = rest.NoWarnings{}
	manager, err := newManager(kubeconfig)
	if err != nil {
		return fmt.Errorf("creating the controller manager: %w", err)
	}
	servers, err := newServers(ctx, manager.GetAPIReader(), options)
	if err != nil {
		return err
	}
	for _, kind := range options.Clusters {
		r := &clusterReconciler{Client: manager.GetClient(), kind: kind, servers: servers}
		if err := r.setup(ctx, manager); err != nil {
			return fmt.Errorf("setting up the controller of %s: %w", kind, err)
		}
	}
	for _, kind := range options.Machines {
		r := &machineReconciler{Client: manager.GetClient(), kind: kind, servers: servers}
		if err := r.setup(manager); err != nil {
			return fmt.Errorf("setting up the controller of %s: %w", kind, err)
		}
	}
	return manager.Start(ctx)
}

func newManager(kubeconfig *rest.Config) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(clientgoscheme.AddToScheme, clusterv1.AddToScheme, controlplanev1.AddToScheme)
	if err := builder.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return ctrl.NewManager(kubeconfig, ctrl.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
		Client: client.Options{Cache: &client.CacheOptions{
			DisableFor:   []client.Object{&corev1.Secret{}},
			Unstructured: true,
		}},
	})
}

func newObject(kind schema.GroupVersionKind) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object
}

// metadataOf is as much of an object's metadata as upstream's functions look at.
func metadataOf(object *unstructured.Unstructured) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: object.GetNamespace(), Name: object.GetName(), Labels: object.GetLabels(), OwnerReferences: object.GetOwnerReferences()}
}

// clusterOf is the key of the Cluster that an infrastructure object is labelled with.
func clusterOf(object *unstructured.Unstructured) client.ObjectKey {
	return client.ObjectKey{Namespace: object.GetNamespace(), Name: object.GetLabels()[clusterv1.ClusterNameLabel]}
}

// fields are values by their path, with dots.
type fields map[string]any

// set sets those that differ, and reports whether there were any.
func (f fields) set(object *unstructured.Unstructured) (changed bool, err error) {
	for path, value := range f {
		keys := strings.Split(path, ".")
		if present, _, err := unstructured.NestedFieldNoCopy(object.Object, keys...); err == nil && reflect.DeepEqual(present, value) {
			continue
		}
		if err := unstructured.SetNestedField(object.Object, value, keys...); err != nil {
			return false, fmt.Errorf("setting %s of %s %s: %w", path, object.GetKind(), client.ObjectKeyFromObject(object), err)
		}
		changed = true
	}
	return changed, nil
}

// patchSpec writes fields of an object's spec.
func patchSpec(ctx context.Context, c client.Client, object *unstructured.Unstructured, spec fields) error {
	original := object.DeepCopy()
	if changed, err := spec.set(object); err != nil || !changed {
		return err
	}
	if err := c.Patch(ctx, object, client.MergeFrom(original)); err != nil {
		return fmt.Errorf("patching the spec of %s %s: %w", object.GetKind(), client.ObjectKeyFromObject(object), err)
	}
	return nil
}

// patchStatus writes fields of an object's status.
func patchStatus(ctx context.Context, c client.Client, object *unstructured.Unstructured, status fields) error {
	original := object.DeepCopy()
	if changed, err := status.set(object); err != nil || !changed {
		return err
	}
	if err := c.Status().Patch(ctx, object, client.MergeFrom(original)); err != nil {
		return fmt.Errorf("patching the status of %s %s: %w", object.GetKind(), client.ObjectKeyFromObject(object), err)
	}
	return nil
}
