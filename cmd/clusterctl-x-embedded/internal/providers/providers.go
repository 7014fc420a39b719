// Package providers runs Cluster API's kubeadm bootstrap, kubeadm control
// plane and dev infrastructure controllers in one process, from upstream's
// public packages, unchanged. Upstream's own programs for them cannot be told
// an address for their webhooks nor ports for the simulated clusters.
//
// The same process runs the garbage collector and the namespace controller of
// Kubernetes, from upstream's packages too: kube-controller-manager is as large
// as the API server, and an embedded management cluster needs nothing else of it.
package providers

import (
	"context"
	"crypto/tls"
	"fmt"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	bootstrapv1beta1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta1" //nolint:staticcheck // objects of this version are still converted
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1beta1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta1" //nolint:staticcheck // objects of this version are still converted
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	infrav1beta1 "sigs.k8s.io/cluster-api/test/infrastructure/docker/api/v1beta1" //nolint:staticcheck // objects of this version are still converted
	infrav1 "sigs.k8s.io/cluster-api/test/infrastructure/docker/api/v1beta2"
)

// Options of the process.
type Options struct {
	Kubeconfig       string // path
	WebhookPort      int    // on 127.0.0.1
	WebhookCert      string // path of the PEM file
	WebhookKey       string // path of the PEM file, in the same directory
	HealthAddress    string // host:port
	DebugPort        int    // of the simulator; on all addresses, upstream has no setting
	FirstClusterPort int    // of the simulated clusters; on all addresses, likewise
	LastClusterPort  int
}

// Run runs the controllers until ctx ends.
func Run(ctx context.Context, options Options) error {
	kubeconfig, err := clientcmd.BuildConfigFromFlags("", options.Kubeconfig)
	if err != nil {
		return fmt.Errorf("reading kubeconfig %s: %w", options.Kubeconfig, err)
	}
	// Upstream's defaults of --kube-api-qps and --kube-api-burst.
	kubeconfig.QPS, kubeconfig.Burst = 100, 200
	manager, err := newManager(kubeconfig, options)
	if err != nil {
		return fmt.Errorf("creating the controller manager: %w", err)
	}
	if err := manager.AddReadyzCheck("webhook", manager.GetWebhookServer().StartedChecker()); err != nil {
		return err
	}
	if err := setupControllers(ctx, manager, options); err != nil {
		return err
	}
	if err := setupWebhooks(manager); err != nil {
		return err
	}
	if err := setupCollectors(ctx, manager, kubeconfig); err != nil {
		return err
	}
	return manager.Start(ctx)
}

func newManager(kubeconfig *rest.Config, options Options) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	addToScheme := runtime.NewSchemeBuilder(
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, clusterv1.AddToScheme,
		bootstrapv1beta1.AddToScheme, bootstrapv1.AddToScheme,
		controlplanev1beta1.AddToScheme, controlplanev1.AddToScheme,
		infrav1beta1.AddToScheme, infrav1.AddToScheme,
	)
	if err := addToScheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	ofACluster, err := labels.NewRequirement(clusterv1.ClusterNameLabel, selection.Exists, nil)
	if err != nil {
		return nil, err
	}
	syncPeriod := 10 * time.Minute
	return ctrl.NewManager(kubeconfig, ctrl.Options{
		Scheme:                 scheme,
		Controller:             config.Controller{CacheSyncTimeout: 5 * time.Minute},
		HealthProbeBindAddress: options.HealthAddress,
		Metrics:                metricsserver.Options{BindAddress: "0"},
		// As upstream's programs have it: Secrets of clusters are cached for the
		// clients that ask for them, and read live by all others. Managed fields
		// stay: the control plane controller needs them.
		Cache: cache.Options{
			SyncPeriod: &syncPeriod,
			ByObject: map[client.Object]cache.ByObject{
				&corev1.Secret{}: {Label: labels.NewSelector().Add(*ofACluster)},
			},
		},
		Client: client.Options{Cache: &client.CacheOptions{
			DisableFor:   []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}},
			Unstructured: true,
		}},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host:     "127.0.0.1",
			Port:     options.WebhookPort,
			CertDir:  filepath.Dir(options.WebhookCert),
			CertName: filepath.Base(options.WebhookCert),
			KeyName:  filepath.Base(options.WebhookKey),
			TLSOpts:  []func(*tls.Config){func(c *tls.Config) { c.MinVersion = tls.VersionTLS12 }},
		}),
	})
}
