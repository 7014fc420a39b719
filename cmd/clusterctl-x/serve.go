package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/klog/v2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/embedded"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers/docker"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers/inmemory"
	"github.com/clusterctl-x/clusterctl-x/pkg/runtimeextension"
	"github.com/clusterctl-x/clusterctl-x/pkg/upgradeplan"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// serveOptions are the flags of 'serve runtime-extension'.
type serveOptions struct {
	host, certDir, clientCA, health string
	port                            int
	register                        bool
	config                          string
	settings                        map[string]string
}

func (a *app) serveRuntimeExtensionCommand() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "runtime-extension",
		Short: "Answer Cluster API: the upgrade plan, and whether an upgrade may go on",
		Long: `Answer Cluster API: the upgrade plan, and whether an upgrade may go on.

This is a runtime extension of Cluster API's Runtime SDK. It answers
GenerateUpgradePlan from the versions bundles, and keeps to the holds that
'clusterctl-x hold cluster' sets, by HTTPS. It keeps nothing, so that several may run
side by side. A ClusterClass has its plans from it by

  spec:
    upgrade:
      external:
        generateUpgradePlanExtension: generate-upgrade-plan.clusterctl-x

What plan it makes is said by spec.settings of the ExtensionConfig: patches (newest,
every), workers (efficient, every-minor, every-version), workersThrough (minors that
workers stop at in any case), avoid (versions) and provider (docker: only versions
with a node image).

The log is written to stderr, one line for each event; with -o json one object. It
ends with SIGINT or SIGTERM, once what was asked is answered.
docs/runtime-extension.md says how it is deployed in a cluster.`,
		Example: `  clusterctl-x serve runtime-extension --register
  clusterctl-x serve runtime-extension --register --setting patches=every --setting avoid=v1.33.2`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.host, "host", "127.0.0.1", "address to answer at; 0.0.0.0 for all of this machine")
	flags.IntVar(&o.port, "port", 9443, "port to answer at, by HTTPS")
	flags.StringVar(&o.certDir, "cert-dir", "", "directory with tls.crt and tls.key, which are read again when they change (default: a certificate of its own, made for a year, kept, and renewed)")
	flags.StringVar(&o.clientCA, "client-ca", "", "name of a file in --cert-dir: answer only to clients with a certificate of this authority")
	flags.StringVar(&o.health, "health-address", "127.0.0.1:9440", "address of /healthz, /readyz and /metrics, by HTTP; empty for none")
	flags.BoolVar(&o.register, "register", false, "tell Cluster API of it, by an ExtensionConfig")
	flags.StringVar(&o.config, "extension-config", "clusterctl-x", "name of the ExtensionConfig")
	flags.StringToStringVar(&o.settings, "setting", nil, "setting of the ExtensionConfig, as NAME=VALUE; with --register")
	return cmd
}

// check tells what is wrong with the flags themselves.
func (o serveOptions) check() error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.port < 1 || o.port > 65535 {
		wrong("--port must be 1 to 65535, not %d", o.port)
	}
	if net.ParseIP(o.host) == nil && len(utilvalidation.IsDNS1123Subdomain(o.host)) > 0 {
		wrong("--host must be an IP address or the name of a host, not %q", o.host)
	}
	for _, problem := range utilvalidation.IsDNS1123Subdomain(o.config) {
		wrong("--extension-config is %q: %s", o.config, problem)
	}
	if policy, err := upgradeplan.ParsePolicy(o.settings); err != nil {
		wrong("--setting: %w", err)
	} else if _, err := releasesFor(&versionsbundle.Bundles{})(policy.Provider); err != nil {
		wrong("--setting %s: %w", upgradeplan.ProviderSetting, err)
	}
	switch {
	case len(o.settings) > 0 && !o.register:
		wrong("--setting is written into the ExtensionConfig: use it with --register")
	case o.clientCA != "" && (o.certDir == "" || filepath.Base(o.clientCA) != o.clientCA):
		wrong("--client-ca is the name of a file in --cert-dir")
	case o.register && net.ParseIP(o.host).IsUnspecified():
		wrong("--register writes the address that Cluster API is to ask, which %s is not: give --host one that can be reached", o.host)
	}
	if err := errors.Join(errs...); err != nil {
		return usageError{err}
	}
	return nil
}

func (a *app) serve(ctx context.Context, o serveOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	bundles, err := a.readBundles()
	if err != nil {
		return err
	}
	dir, authority, err := a.certificate(o)
	if err != nil {
		return err
	}
	log := a.structuredLog()
	err = runtimeextension.Serve(ctx, runtimeextension.Options{
		Host: o.host, Port: o.port, CertDir: dir, ClientCA: o.clientCA, HealthAddress: o.health, Releases: releasesFor(bundles), Log: log,
	}, func(ctx context.Context) error {
		log.Info("answering", "address", o.url(), "versions", len(bundles.Versions()), "health", o.health)
		if o.register {
			if err := a.register(ctx, o, authority, log); err != nil {
				return err
			}
		}
		a.renew(ctx, o, dir, authority, log)
		return nil
	})
	if err == nil {
		log.Info("stopped")
	}
	return err
}

// releasesFor are the releases that a plan of the runtime extension may name: those
// that machines of a provider can be made at.
func releasesFor(bundles *versionsbundle.Bundles) runtimeextension.ReleasesFunc {
	return func(provider string) (upgradeplan.Releases, error) {
		needs, with := versionsbundle.Needs{}, ""
		switch provider {
		case "", inmemory.Name:
		case docker.Name:
			needs = versionsbundle.Needs{NodeImage: docker.Name}
			with = " with a node image for provider " + docker.Name
		default:
			return upgradeplan.Releases{}, fmt.Errorf("there is no provider %q: must be %s or %s", provider, docker.Name, inmemory.Name)
		}
		lacks := func(version v1alpha1.Version) bool {
			release, known := bundles.Release(version)
			return !known || needs.LacksNodeImage(release)
		}
		return upgradeplan.Releases{
			Known: slices.DeleteFunc(bundles.Versions(), lacks), Offered: slices.DeleteFunc(bundles.Offered(needs), lacks), With: with,
		}, nil
	}
}

func (o serveOptions) url() string {
	return "https://" + net.JoinHostPort(o.host, fmt.Sprint(o.port))
}

// certificate is the directory of the certificate, and the authority that signed it
// as PEM.
func (a *app) certificate(o serveOptions) (string, []byte, error) {
	if o.certDir == "" {
		home, err := embedded.DefaultHome()
		if err != nil {
			return "", nil, err
		}
		dir := filepath.Join(home, "runtime-extension", o.host)
		authority, err := runtimeextension.OwnCertificate(dir, o.host, time.Now(), embedded.WriteFile)
		return dir, authority, err
	}
	if _, err := runtimeextension.Certificate(o.certDir, time.Now()); err != nil {
		return "", nil, usageError{err}
	}
	if !o.register {
		return o.certDir, nil, nil
	}
	authority, err := os.ReadFile(filepath.Join(o.certDir, runtimeextension.AuthorityFile))
	if err != nil {
		return "", nil, usageError{fmt.Errorf("reading who signed the certificate: %w; --register writes that into the ExtensionConfig", err)}
	}
	return o.certDir, authority, nil
}

// renew keeps a certificate that clusterctl-x made good while the server runs; those of
// --cert-dir are renewed by who made them.
func (a *app) renew(ctx context.Context, o serveOptions, dir string, authority []byte, log logr.Logger) {
	if o.certDir != "" {
		return
	}
	runtimeextension.Renewal{
		Dir: dir, Host: o.host, Authority: authority, Write: embedded.WriteFile,
		Renewed: func(ctx context.Context, authority []byte) error {
			log.Info("certificate renewed", "authority", filepath.Join(dir, runtimeextension.AuthorityFile), "registered", o.register)
			if !o.register {
				return nil
			}
			return a.register(ctx, o, authority, log)
		},
		Failed: func(err error) { log.Error(err, "renewing the certificate; it is tried again") },
	}.Run(ctx)
}

// register tells Cluster API of the server, and people how a class uses it.
func (a *app) register(ctx context.Context, o serveOptions, authority []byte, log logr.Logger) error {
	connection, err := a.connect(ctx)
	if err != nil {
		return err
	}
	handlers, err := connection.RegisterExtension(ctx, management.Extension{Name: o.config, URL: o.url(), Authority: authority, Settings: o.settings})
	if err != nil {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it is being stopped
		}
		return err
	}
	if plan := runtimeextension.PlanHandler + "." + o.config; !slices.Contains(handlers, plan) {
		return fmt.Errorf("Cluster API found the handlers %s at %s, and not %s: another server answers there", strings.Join(handlers, ", "), o.url(), plan)
	}
	log.Info("registered", "extensionConfig", o.config, "handlers", strings.Join(handlers, " "))
	return nil
}

// structuredLog is the log of a server, on stderr. What libraries log goes there too.
func (a *app) structuredLog() logr.Logger {
	options := &slog.HandlerOptions{Level: slog.Level(-a.options.Verbosity)}
	var handler slog.Handler = slog.NewTextHandler(a.err, options)
	if a.options.Output == outputJSON {
		handler = slog.NewJSONHandler(a.err, options)
	}
	slog.SetDefault(slog.New(handler)) // and so for package log, which net/http logs by
	log := logr.FromSlogHandler(handler)
	klog.SetLogger(log.V(1)) // what libraries do is for who asks
	return log
}
