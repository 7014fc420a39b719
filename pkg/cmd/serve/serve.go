// Package serve serves Cluster API's runtime hooks.
package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/klog/v2"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/embedded"
	"github.com/clusterctl-x/clusterctl-x/pkg/files"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/output"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/runtimeextension"
	"github.com/clusterctl-x/clusterctl-x/pkg/upgradeplan"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

type options struct {
	*cli.App
	host, certDir, clientCA, health string
	port                            int
	register                        bool
	config                          string
	settings                        map[string]string
}

// New returns the command serve.
func New(a *cli.App) *cobra.Command {
	o := options{App: a}
	cmd := &cobra.Command{
		Use:   "runtime-extension",
		Short: "Serve Cluster API's runtime hooks: upgrade plans, and whether an upgrade may proceed",
		Args:  cli.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.host, "host", "127.0.0.1", "address to listen on; 0.0.0.0 for all addresses of this machine")
	flags.IntVar(&o.port, "port", 9443, "port to listen on, for HTTPS")
	flags.StringVar(&o.certDir, "cert-dir", "", "directory with tls.crt and tls.key, reread when they change (default: a generated certificate, valid for a year, stored and renewed)")
	flags.StringVar(&o.clientCA, "client-ca", "", "name of a file in --cert-dir: accept only clients with a certificate of this authority")
	flags.StringVar(&o.health, "health-address", "127.0.0.1:9440", "address for /healthz, /readyz and /metrics, over HTTP; empty for none")
	flags.BoolVar(&o.register, "register", false, "register it with Cluster API, with an ExtensionConfig")
	flags.StringVar(&o.config, "extension-config", "clusterctl-x", "name of the ExtensionConfig")
	flags.StringToStringVar(&o.settings, "setting", nil, "setting of the ExtensionConfig, as NAME=VALUE; with --register")
	return cli.Group("serve", "Serve Cluster API's runtime hooks", cli.Starts(cmd))
}

// check tells what is wrong with the flags themselves.
func (o *options) check(known providers.Set) error {
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
	} else if _, err := runtimeextension.ReleasesOf(known, &versionsbundle.Bundles{})(policy.Provider); err != nil {
		wrong("--setting %s: %w", upgradeplan.ProviderSetting, err)
	}
	switch {
	case len(o.settings) > 0 && !o.register:
		wrong("--setting is written into the ExtensionConfig: use it with --register")
	case o.clientCA != "" && (o.certDir == "" || filepath.Base(o.clientCA) != o.clientCA):
		wrong("--client-ca is the name of a file in --cert-dir")
	case o.register && net.ParseIP(o.host).IsUnspecified():
		wrong("--register writes the address that Cluster API calls, which cannot be %s: set --host to one that can be reached", o.host)
	}
	if err := errors.Join(errs...); err != nil {
		return usage.Wrap(err)
	}
	return nil
}

func (o *options) run(ctx context.Context) error {
	known, err := o.ReadProviders()
	if err != nil {
		return err
	}
	if err := o.check(known); err != nil {
		return err
	}
	bundles, err := o.ReadBundles()
	if err != nil {
		return err
	}
	dir, authority, err := o.certificate()
	if err != nil {
		return err
	}
	server := runtimeextension.Registered{
		Options: runtimeextension.Options{
			Host: o.host, Port: o.port, CertDir: dir, ClientCA: o.clientCA, HealthAddress: o.health,
			Releases: runtimeextension.ReleasesOf(known, bundles), Log: o.structuredLog(),
		},
		Versions: len(bundles.Versions()), Config: o.config, Authority: authority,
	}
	if o.certDir == "" {
		server.Write = files.WritePrivate
	}
	if o.register {
		server.Register = func(ctx context.Context, url string, authority []byte) ([]string, error) {
			connection, err := o.Connect(ctx)
			if err != nil {
				return nil, err
			}
			return connection.RegisterExtension(ctx, management.Extension{Name: o.config, URL: url, Authority: authority, Settings: o.settings})
		}
	}
	return server.Serve(ctx)
}

// certificate is the directory of the certificate, and the authority that signed it
// as PEM.
func (o *options) certificate() (string, []byte, error) {
	if o.certDir == "" {
		home, err := embedded.DefaultHome()
		if err != nil {
			return "", nil, err
		}
		dir := filepath.Join(home, "runtime-extension", o.host)
		authority, err := runtimeextension.OwnCertificate(dir, o.host, time.Now(), files.WritePrivate)
		return dir, authority, err
	}
	if _, err := runtimeextension.Certificate(o.certDir, time.Now()); err != nil {
		return "", nil, usage.Wrap(err)
	}
	if !o.register {
		return o.certDir, nil, nil
	}
	authority, err := os.ReadFile(filepath.Join(o.certDir, runtimeextension.AuthorityFile))
	if err != nil {
		return "", nil, usage.Errorf("reading who signed the certificate: %w; --register writes that into the ExtensionConfig", err)
	}
	return o.certDir, authority, nil
}

// structuredLog is the log of a server, on stderr. What libraries log goes there too.
func (o *options) structuredLog() logr.Logger {
	options := &slog.HandlerOptions{Level: slog.Level(-o.Options.Verbosity)}
	var handler slog.Handler = slog.NewTextHandler(o.Err, options)
	if o.Format == output.JSON {
		handler = slog.NewJSONHandler(o.Err, options)
	}
	slog.SetDefault(slog.New(handler)) // and so for package log, which net/http logs by
	log := logr.FromSlogHandler(handler)
	klog.SetLogger(log.V(1)) // what libraries do is for who asks
	return log
}
