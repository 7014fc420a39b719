package providers

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// What kube-controller-manager has as defaults.
const (
	resync                   = 12 * time.Hour
	discoverEvery            = 30 * time.Second
	garbageWorkers           = 20
	namespaceWorkers         = 10
	namespaceResync          = 5 * time.Minute
	namespaceControllerQPS   = 20 * 20
	namespaceControllerBurst = 30 * 100
)

// setupCollectors adds the two controllers of kube-controller-manager without
// which nothing that an owner or a namespace leaves behind goes away, wired as
// that program wires them.
func setupCollectors(ctx context.Context, manager ctrl.Manager, kubeconfig *rest.Config) error {
	if err := setupGarbageCollector(ctx, manager, kubeconfig); err != nil {
		return fmt.Errorf("setting up the garbage collector: %w", err)
	}
	if err := setupNamespaceController(ctx, manager, kubeconfig); err != nil {
		return fmt.Errorf("setting up the namespace controller: %w", err)
	}
	return nil
}

func setupGarbageCollector(ctx context.Context, m ctrl.Manager, kubeconfig *rest.Config) error {
	config := rest.AddUserAgent(rest.CopyConfig(kubeconfig), "generic-garbage-collector")
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	metadataClient, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(clients.Discovery()))
	objects := metadataInformers{metadatainformer.NewSharedInformerFactoryWithOptions(
		metadataClient, resync, metadatainformer.WithTransform(cache.TransformStripManagedFields()))}
	started := make(chan struct{})
	graph := garbagecollector.NewDependencyGraphBuilder(ctx, metadataClient, mapper, garbagecollector.DefaultIgnoredResources(), objects, started)
	collector, err := garbagecollector.NewComposedGarbageCollector(ctx, clients, metadataClient, mapper, graph)
	if err != nil {
		return err
	}
	return addAll(m,
		func(ctx context.Context) {
			wait.UntilWithContext(ctx, func(context.Context) { mapper.Reset() }, discoverEvery)
		},
		func(ctx context.Context) { collector.Sync(ctx, clients.Discovery(), discoverEvery) },
		func(ctx context.Context) {
			objects.Start(ctx.Done())
			close(started)
			collector.Run(ctx, garbageWorkers, discoverEvery)
		})
}

func setupNamespaceController(ctx context.Context, m ctrl.Manager, kubeconfig *rest.Config) error {
	config := rest.AddUserAgent(rest.CopyConfig(kubeconfig), "namespace-controller")
	config.QPS, config.Burst = namespaceControllerQPS, namespaceControllerBurst
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	metadataClient, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	objects := informers.NewSharedInformerFactoryWithOptions(clients, resync, informers.WithTransform(cache.TransformStripManagedFields()))
	controller := namespace.NewNamespaceController(ctx, clients, metadataClient, clients.Discovery().ServerPreferredNamespacedResources,
		objects.Core().V1().Namespaces(), namespaceResync, corev1.FinalizerKubernetes)
	return addAll(m, func(ctx context.Context) {
		objects.Start(ctx.Done())
		controller.Run(ctx, namespaceWorkers)
	})
}

// addAll has the manager run what ends with its context.
func addAll(m ctrl.Manager, runs ...func(context.Context)) error {
	for _, run := range runs {
		err := m.Add(manager.RunnableFunc(func(ctx context.Context) error {
			run(ctx)
			return nil
		}))
		if err != nil {
			return err
		}
	}
	return nil
}

// metadataInformers keep no more of an object than its metadata, which is all
// that the garbage collector looks at.
type metadataInformers struct {
	metadatainformer.SharedInformerFactory
}

func (i metadataInformers) ForResource(resource schema.GroupVersionResource) (informers.GenericInformer, error) {
	return i.SharedInformerFactory.ForResource(resource), nil
}
