package providers

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/reconcilers/kubeadmconfig"
	bootstrapadmission "sigs.k8s.io/cluster-api/bootstrap/kubeadm/webhooks/admission"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/controlplane/kubeadm/pkg/etcd"
	"sigs.k8s.io/cluster-api/controlplane/kubeadm/reconcilers/kubeadmcontrolplane"
	"sigs.k8s.io/cluster-api/controlplane/kubeadm/setup"
	controlplaneadmission "sigs.k8s.io/cluster-api/controlplane/kubeadm/webhooks/admission"
	"sigs.k8s.io/cluster-api/controlplane/kubeadm/webhooks/conversion"
	"sigs.k8s.io/cluster-api/test/infrastructure/container"
	"sigs.k8s.io/cluster-api/test/infrastructure/docker/controllers"
	infrawebhooks "sigs.k8s.io/cluster-api/test/infrastructure/docker/webhooks"
	inmemoryserver "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/server"
	"sigs.k8s.io/cluster-api/util/contract"

	"github.com/clusterctl-x/clusterctl-x/cmd/clusterctl-x-embedded/internal/workload"
)

// What upstream's programs have as defaults of their flags.
const (
	clusterCacheQPS         = 20
	clusterCacheBurst       = 30
	etcdDialTimeout         = 10 * time.Second
	bootstrapTokenTTL       = 15 * time.Minute
	remoteConditionsGrace   = 5 * time.Minute
	controlPlaneTimeout     = 3 * time.Minute
	machineTimeout          = 5 * time.Minute
	concurrentReconciles    = 10
	concurrentClusterCaches = 100
)

func setupControllers(ctx context.Context, manager ctrl.Manager, options Options) error {
	secrets, err := setup.CreateSecretCachingClient(manager)
	if err != nil {
		return err
	}
	clusterCache, err := clustercache.SetupWithManager(ctx, manager, clustercache.Options{
		SecretClient: secrets,
		Cache:        setup.ClusterCacheCacheOptions(),
		Client:       setup.ClusterCacheClientOptions("clusterctl-x-embedded", clusterCacheQPS, clusterCacheBurst),
	}, controller.Options{MaxConcurrentReconciles: concurrentClusterCaches})
	if err != nil {
		return fmt.Errorf("setting up the cluster cache: %w", err)
	}
	bootstrap := &kubeadmconfig.Reconciler{
		Client: manager.GetClient(), APIReader: manager.GetAPIReader(), SecretCachingClient: secrets,
		ClusterCache: clusterCache, TokenTTL: bootstrapTokenTTL,
	}
	if err := bootstrap.SetupWithManager(ctx, manager, controller.Options{MaxConcurrentReconciles: concurrentReconciles}); err != nil {
		return fmt.Errorf("setting up the bootstrap controller: %w", err)
	}
	controlPlane := &kubeadmcontrolplane.Reconciler{
		Client: manager.GetClient(), APIReader: manager.GetAPIReader(), SecretCachingClient: secrets, ClusterCache: clusterCache,
		EtcdDialTimeout: etcdDialTimeout, EtcdCallTimeout: etcd.DefaultCallTimeout, EtcdLogger: zap.NewNop(),
		RemoteConditionsGracePeriod: remoteConditionsGrace,
	}
	if err := controlPlane.SetupWithManager(ctx, manager, controller.Options{
		MaxConcurrentReconciles: concurrentReconciles, ReconciliationTimeout: controlPlaneTimeout,
	}); err != nil {
		return fmt.Errorf("setting up the control plane controller: %w", err)
	}
	return setupInfrastructure(ctx, manager, clusterCache, options)
}

func setupInfrastructure(ctx context.Context, manager ctrl.Manager, clusterCache clustercache.ClusterCache, options Options) error {
	simulator, err := workload.NewManager(ctx)
	if err != nil {
		return err
	}
	servers, err := inmemoryserver.NewWorkloadClustersMux(simulator, "127.0.0.1", inmemoryserver.CustomPorts{
		MinPort: int32(options.FirstClusterPort), MaxPort: int32(options.LastClusterPort), DebugPort: int32(options.DebugPort),
	})
	if err != nil {
		return fmt.Errorf("starting the servers of the simulated clusters: %w", err)
	}
	// The client connects when it is first used: without Docker, only clusters
	// of provider docker fail.
	docker, err := container.NewDockerClient()
	if err != nil {
		return fmt.Errorf("creating the docker client: %w", err)
	}
	c, concurrency := manager.GetClient(), controller.Options{MaxConcurrentReconciles: concurrentReconciles}
	cluster := &controllers.DevClusterReconciler{Client: c, ContainerRuntime: docker, InMemoryManager: simulator, APIServerMux: servers}
	if err := cluster.SetupWithManager(ctx, manager, concurrency); err != nil {
		return fmt.Errorf("setting up the DevCluster controller: %w", err)
	}
	// It reads the capacity of machines from Docker, for autoscaling from zero,
	// and without Docker does nothing but fail.
	if _, err := docker.GetSystemInfo(ctx); err == nil {
		template := &controllers.DevMachineTemplateReconciler{Client: c, ContainerRuntime: docker}
		if err := template.SetupWithManager(ctx, manager, concurrency); err != nil {
			return fmt.Errorf("setting up the DevMachineTemplate controller: %w", err)
		}
	}
	machine := &controllers.DevMachineReconciler{
		Client: c, ContainerRuntime: docker, ClusterCache: clusterCache, InMemoryManager: simulator, APIServerMux: servers,
	}
	concurrency.ReconciliationTimeout = machineTimeout
	if err := machine.SetupWithManager(ctx, manager, concurrency); err != nil {
		return fmt.Errorf("setting up the DevMachine controller: %w", err)
	}
	return nil
}

func setupWebhooks(manager ctrl.Manager) error {
	conversion.SetAPIVersionGetter(func(ctx context.Context, kind schema.GroupKind) (string, error) {
		return storageVersion(ctx, manager.GetAPIReader(), kind)
	})
	webhooks := []interface {
		SetupWebhookWithManager(manager ctrl.Manager) error
	}{
		&bootstrapadmission.KubeadmConfig{},
		&bootstrapadmission.KubeadmConfigTemplate{},
		&controlplaneadmission.KubeadmControlPlane{},
		&controlplaneadmission.KubeadmControlPlaneTemplate{},
		&controlplaneadmission.ScaleValidator{Client: manager.GetClient()},
		&infrawebhooks.DevCluster{},
		&infrawebhooks.DevClusterTemplate{},
		&infrawebhooks.DevMachine{},
		&infrawebhooks.DevMachineTemplate{},
		&infrawebhooks.DockerCluster{},
		&infrawebhooks.DockerClusterTemplate{},
		&infrawebhooks.DockerMachine{},
		&infrawebhooks.DockerMachineTemplate{},
	}
	for _, w := range webhooks {
		if err := w.SetupWebhookWithManager(manager); err != nil {
			return fmt.Errorf("setting up webhook %T: %w", w, err)
		}
	}
	return nil
}

// storageVersion is the API version at which references of converted objects
// point to kind. The kinds of the embedded management cluster are all stored
// at the version of the contract in use.
func storageVersion(ctx context.Context, reader client.Reader, kind schema.GroupKind) (string, error) {
	var crd apiextensionsv1.CustomResourceDefinition
	if err := reader.Get(ctx, client.ObjectKey{Name: contract.CalculateCRDName(kind.Group, kind.Kind)}, &crd); err != nil {
		return "", fmt.Errorf("finding the version of %s: %w", kind, err)
	}
	for _, version := range crd.Spec.Versions {
		if version.Storage {
			return schema.GroupVersion{Group: kind.Group, Version: version.Name}.String(), nil
		}
	}
	return "", fmt.Errorf("finding the version of %s: the CRD stores none", kind)
}
