// Command cert-manager-cainjector starts the CA injector of cert-manager with the flags that its
// chart gives it: it writes the CAs of certificates into webhook configurations, CRDs and
// APIServices. It has no metrics, and no file of settings.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/cert-manager/cert-manager/pkg/client/clientset/versioned/scheme"
	"github.com/cert-manager/cert-manager/pkg/controller/cainjector"
	"github.com/cert-manager/cert-manager/pkg/util"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func main() {
	err := run(ctrl.SetupSignalHandler(), os.Args[1:])
	if err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "cert-manager-cainjector:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := pflag.NewFlagSet("cert-manager-cainjector", pflag.ContinueOnError)
	namespace := flags.String("leader-election-namespace", "", "namespace of the lease")
	logging := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(logging)
	flags.AddGoFlagSet(logging)
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctrl.SetLogger(klog.Background())
	objects := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, scheme.AddToScheme, apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme,
	} {
		if err := add(objects); err != nil {
			return err
		}
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	// The injectors apply under the name in the user agent.
	config = util.RestConfigWithUserAgent(config, "cainjector")
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: objects,
		// The role in the chart lets it update a lease of this name.
		LeaderElection: true, LeaderElectionID: "cert-manager-cainjector-leader-election", LeaderElectionNamespace: *namespace,
		LeaderElectionReleaseOnCancel: true,
		Metrics:                       metricsserver.Options{BindAddress: "0"},
		// The injectors watch no more of a Secret than its metadata.
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
	})
	if err != nil {
		return err
	}
	err = cainjector.RegisterAllInjectors(ctx, manager, cainjector.SetupOptions{
		EnableCertificatesDataSource: true,
		EnabledReconcilersFor: map[string]bool{
			cainjector.MutatingWebhookConfigurationName: true, cainjector.ValidatingWebhookConfigurationName: true,
			cainjector.APIServiceName: true, cainjector.CustomResourceDefinitionName: true,
		},
	})
	if err != nil {
		return err
	}
	return manager.Start(ctx)
}
