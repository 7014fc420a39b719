// Command providerwebhooks serves the admission webhooks of Cluster API's providers for AWS
// and GCP, unchanged, to the API server of an embedded management cluster, and installs their
// CustomResourceDefinitions and webhook configurations there. Tests ask it what the providers
// accept. It runs no controllers, so it needs no credentials.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctrl.SetLogger(klog.Background())
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run says "ready" once the API server has the configurations, and serves until ctx or the
// input ends: the program that started this one may be killed.
func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("providerwebhooks", flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "path of the management cluster's kubeconfig")
	certs := flags.String("cert-dir", "", "directory with serving.crt and serving.key, for 127.0.0.1, and with ca.crt, which signed them")
	if err := flags.Parse(args); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return fmt.Errorf("reading kubeconfig %s: %w", *kubeconfig, err)
	}
	ca, err := os.ReadFile(filepath.Join(*certs, "ca.crt"))
	if err != nil {
		return fmt.Errorf("reading the CA of the webhooks: %w", err)
	}
	webhooks, err := newWebhooks(config)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening for the API server: %w", err)
	}
	server := &http.Server{Handler: webhooks, ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() {
		served <- server.ServeTLS(listener, filepath.Join(*certs, "serving.crt"), filepath.Join(*certs, "serving.key"))
	}()
	if err := install(config, webhooks, listener.Addr().(*net.TCPAddr), ca); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, "ready"); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, in) // an error ends it as well
	}()
	select {
	case <-ctx.Done():
		return server.Close()
	case err := <-served:
		return fmt.Errorf("serving the webhooks: %w", err)
	}
}
