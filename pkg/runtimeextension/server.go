// Package runtimeextension is a runtime extension of Cluster API's Runtime SDK: the
// server that Cluster API asks for upgrade plans, and whether an upgrade may proceed.
// It is stateless, so several may run side by side.
package runtimeextension

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	runtimecatalog "sigs.k8s.io/cluster-api/api/runtime/catalog"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	"sigs.k8s.io/cluster-api/exp/runtime/server"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	"github.com/clusterctl-x/clusterctl-x/pkg/upgradeplan"
)

// Options of a server.
type Options struct {
	// Host and Port are where it answers to Cluster API, by HTTPS.
	Host string
	Port int
	// CertDir has tls.crt and tls.key, which are read again when they change.
	CertDir string
	// ClientCA is the name of a file in CertDir with the authority of the clients'
	// certificates; empty where they need none.
	ClientCA string
	// HealthAddress is where /healthz, /readyz and /metrics are, by HTTP; empty for
	// nowhere.
	HealthAddress string
	// Releases there are of Kubernetes.
	Releases ReleasesFunc
	Log      logr.Logger
}

// ReleasesFunc returns the releases there are for a provider; the empty name is
// that of one that needs nothing but a version.
type ReleasesFunc func(provider string) (upgradeplan.Releases, error)

// stopWithin is how long requests for health may take, once the server is to stop too.
// Those of Cluster API may take a minute then, which controller-runtime says.
const stopWithin = 10 * time.Second

// Serve answers until ctx ends, and then what was asked before. It calls ready once it
// answers.
func Serve(ctx context.Context, o Options, ready func(ctx context.Context) error) error {
	if _, err := Certificate(o.CertDir, time.Now()); err != nil {
		return err
	}
	catalog := runtimecatalog.New()
	if err := runtimehooksv1.AddToCatalog(catalog); err != nil {
		return fmt.Errorf("reading the hooks of Cluster API: %w", err)
	}
	extension, err := server.New(server.Options{Catalog: catalog, Host: o.Host, Port: o.Port, CertDir: o.CertDir, ClientCAName: o.ClientCA})
	if err != nil {
		return fmt.Errorf("setting up the runtime extension: %w", err)
	}
	for _, handler := range handlers(o.Releases) {
		if err := extension.AddExtensionHandler(handler); err != nil {
			return fmt.Errorf("setting up handler %s: %w", handler.Name, err)
		}
	}
	metrics := newMetrics()
	extension.Server = guarded{Server: extension.Server, log: o.Log, metrics: metrics}

	var started atomic.Bool
	tasks, ctx := errgroup.WithContext(ctx)
	tasks.Go(func() error {
		if err := extension.Start(ctx); err != nil {
			return fmt.Errorf("answering on %s: %w", net.JoinHostPort(o.Host, fmt.Sprint(o.Port)), err)
		}
		return nil
	})
	if o.HealthAddress != "" {
		tasks.Go(func() error { return serveHealth(ctx, o, &started, metrics) })
	}
	tasks.Go(func() error {
		if err := untilStarted(ctx, extension.StartedChecker()); err != nil {
			return nil //nolint:nilerr // it is being stopped, or the other task says why
		}
		started.Store(true)
		return ready(ctx)
	})
	return tasks.Wait()
}

// serveHealth serves what orchestrators and Prometheus ask for.
func serveHealth(ctx context.Context, o Options, started *atomic.Bool, metrics *metrics) error {
	mux := http.NewServeMux()
	mux.Handle("/healthz", http.StripPrefix("/healthz", &healthz.Handler{Checks: map[string]healthz.Checker{"ping": healthz.Ping}}))
	mux.Handle("/readyz", http.StripPrefix("/readyz", &healthz.Handler{Checks: map[string]healthz.Checker{
		"answers": func(*http.Request) error {
			if !started.Load() {
				return errors.New("it does not answer yet")
			}
			return nil
		},
		"certificate": func(*http.Request) error {
			_, err := Certificate(o.CertDir, time.Now())
			return err
		},
	}}))
	mux.Handle("/metrics", metrics.handler())
	health := &http.Server{Addr: o.HealthAddress, Handler: mux, ReadHeaderTimeout: stopWithin, BaseContext: func(net.Listener) context.Context { return ctx }}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
		defer cancel()
		stopped <- health.Shutdown(limited)
	}()
	if err := health.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving health on %s: %w", o.HealthAddress, err)
	}
	return <-stopped
}

// untilStarted waits until the server answers.
func untilStarted(ctx context.Context, started healthz.Checker) error {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		if err := started(nil); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}
