// Command cert-manager-webhook starts the webhook of cert-manager with the flags that its chart
// gives it. It has no metrics, and no file of settings.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	config "github.com/cert-manager/cert-manager/internal/apis/config/webhook"
	"github.com/cert-manager/cert-manager/internal/webhook"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	err := run(ctrl.SetupSignalHandler(), os.Args[1:])
	if err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "cert-manager-webhook:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	// The chart's probes ask this port.
	options := config.WebhookConfiguration{HealthzPort: 6080, MetricsListenAddress: "0"}
	serving := &options.TLSConfig.Dynamic
	serving.LeafDuration = 7 * 24 * time.Hour
	flags := pflag.NewFlagSet("cert-manager-webhook", pflag.ContinueOnError)
	flags.Int32Var(&options.SecurePort, "secure-port", 6443, "port of the webhook")
	flags.StringVar(&serving.SecretNamespace, "dynamic-serving-ca-secret-namespace", "", "namespace of the Secret with the CA of the webhook")
	flags.StringVar(&serving.SecretName, "dynamic-serving-ca-secret-name", "", "name of the Secret with the CA of the webhook")
	flags.StringSliceVar(&serving.DNSNames, "dynamic-serving-dns-names", nil, "names in the certificate of the webhook")
	logging := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(logging)
	flags.AddGoFlagSet(logging)
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctrl.SetLogger(klog.Background())
	server, err := webhook.NewCertManagerWebhookServer(klog.Background(), options)
	if err != nil {
		return err
	}
	return server.Run(ctx)
}
