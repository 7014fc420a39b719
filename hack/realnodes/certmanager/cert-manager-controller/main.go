// Command cert-manager-controller starts those controllers of cert-manager that keep certificates
// of self-signed issuers and of CAs, with the flags that its chart gives it. It has no ACME, no
// other issuers, no metrics, and no file of settings.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"time"

	// They register themselves.
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	_ "github.com/cert-manager/cert-manager/pkg/controller/clusterissuers"
	_ "github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"

	"github.com/cert-manager/cert-manager/pkg/controller"
	"github.com/cert-manager/cert-manager/pkg/healthz"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	err := run(ctrl.SetupSignalHandler(), os.Args[1:])
	if err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "cert-manager-controller:", err)
		os.Exit(1)
	}
}

// run returns when the context ends or another instance leads.
func run(ctx context.Context, args []string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	flags := pflag.NewFlagSet("cert-manager-controller", pflag.ContinueOnError)
	resources := flags.String("cluster-resource-namespace", "kube-system", "namespace of what belongs to ClusterIssuers")
	lease := flags.String("leader-election-namespace", "kube-system", "namespace of the lease")
	flags.String("acme-http01-solver-image", "", "not used: there is no ACME")
	flags.Int("max-concurrent-challenges", 0, "not used: there is no ACME")
	logging := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(logging)
	flags.AddGoFlagSet(logging)
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctrl.SetLogger(klog.Background())
	factory, err := controller.NewContextFactory(ctx, controller.ContextOptions{
		IssuerOptions: controller.IssuerOptions{ClusterResourceNamespace: *resources},
		CertificateOptions: controller.CertificateOptions{
			CopiedAnnotationPrefixes:                 []string{"*", "-kubectl.kubernetes.io/"},
			CertificateRequestMinimumBackoffDuration: time.Hour,
			CertificateRequestMaximumBackoffDuration: 32 * time.Hour,
		},
	})
	if err != nil {
		return err
	}
	health := healthz.NewServer(20 * time.Second)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", ":9403") // which the chart's probe asks
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- health.Start(ctx, listener) }()
	if err := lead(ctx, factory, *lease, health.LeaderHealthzAdaptor); err != nil {
		return err
	}
	cancel()
	return <-ended
}

// lead runs the controllers while this instance has the lease, and until one of them fails.
func lead(ctx context.Context, factory *controller.ContextFactory, namespace string, watchdog *leaderelection.HealthzAdaptor) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	root, err := factory.Build()
	if err != nil {
		return err
	}
	identity, err := os.Hostname()
	if err != nil {
		return err
	}
	// The role in the chart lets it update a lease of this name.
	const name = "cert-manager-controller"
	failed := make(chan error, 1)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Name: name,
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: name},
			Client:     root.Client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		},
		LeaseDuration: time.Minute, RenewDeadline: 40 * time.Second, RetryPeriod: 15 * time.Second,
		ReleaseOnCancel: true,
		WatchDog:        watchdog,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				failed <- control(ctx, factory, root)
				cancel()
			},
			OnStoppedLeading: func() { klog.InfoS("Stopped leading") },
		},
	})
	if err != nil {
		return err
	}
	elector.Run(ctx)
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// control runs all controllers until the context ends, or one of them fails.
func control(ctx context.Context, factory *controller.ContextFactory, root *controller.Context) error {
	controllers := map[string]controller.Interface{}
	for name, construct := range controller.Known() {
		c, err := construct(factory)
		if err != nil {
			return fmt.Errorf("controller %s: %w", name, err)
		}
		controllers[name] = c
	}
	root.SharedInformerFactory.Start(ctx.Done())
	root.KubeSharedInformerFactory.Start(ctx.Done())
	root.HTTP01ResourceMetadataInformersFactory.Start(ctx.Done())
	running, ctx := errgroup.WithContext(ctx)
	for name, c := range controllers {
		running.Go(func() error {
			if err := c.Run(5, ctx); err != nil {
				return fmt.Errorf("controller %s: %w", name, err)
			}
			return nil
		})
	}
	return running.Wait()
}
