// Package serve serves Cluster API's runtime hooks.
package serve

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/embedded"
	"github.com/clusterctl-x/clusterctl-x/pkg/files"
	"github.com/clusterctl-x/clusterctl-x/pkg/logs"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/runtimeextension"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

type options struct {
	*cli.App
	runtimeextension.Request
}

// New returns the command serve.
func New(a *cli.App) *cobra.Command {
	o := options{App: a}
	cmd := commandline.New("runtime-extension", "Serve Cluster API's runtime hooks: upgrade plans, and whether an upgrade may proceed", func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) })
	flags := cmd.Flags()
	flags.StringVar(&o.Host, "host", "127.0.0.1", "address to listen on; 0.0.0.0 for all addresses of this machine")
	flags.IntVar(&o.Port, "port", 9443, "port to listen on, for HTTPS")
	flags.StringVar(&o.CertDir, "cert-dir", "", "directory with tls.crt and tls.key, reread when they change (default: a generated certificate, valid for a year, stored and renewed)")
	flags.StringVar(&o.ClientCA, "client-ca", "", "name of a file in --cert-dir: accept only clients with a certificate of this authority")
	flags.StringVar(&o.HealthAddress, "health-address", "127.0.0.1:9440", "address for /healthz, /readyz and /metrics, over HTTP; empty for none")
	flags.BoolVar(&o.Register, "register", false, "register it with Cluster API, with an ExtensionConfig")
	flags.StringVar(&o.Config, "extension-config", "clusterctl-x", "name of the ExtensionConfig")
	flags.StringToStringVar(&o.Settings, "setting", nil, "setting of the ExtensionConfig, as NAME=VALUE; with --register")
	return commandline.Group("serve", "Serve Cluster API's runtime hooks", cli.Starts(cmd))
}

func (o *options) run(ctx context.Context) error {
	known, err := o.ReadProviders()
	if err != nil {
		return err
	}
	if err := o.Check(known); err != nil {
		return usage.Wrap(err)
	}
	bundles, err := o.ReadBundles()
	if err != nil {
		return err
	}
	home, err := embedded.DefaultHome()
	if err != nil {
		return err
	}
	dir, authority, err := o.ServingCertificate(home, time.Now(), files.WritePrivate)
	if err != nil && o.CertDir != "" {
		err = usage.Wrap(err)
	}
	if err != nil {
		return err
	}
	server := runtimeextension.Registered{
		Options: runtimeextension.Options{
			Host: o.Host, Port: o.Port, CertDir: dir, ClientCA: o.ClientCA, HealthAddress: o.HealthAddress,
			Releases: runtimeextension.ReleasesOf(known, bundles), Log: logs.Structured(o.Err, o.Format, o.Verbosity),
		},
		Versions: len(bundles.Versions()), Config: o.Config, Authority: authority,
	}
	if o.CertDir == "" {
		server.Write = files.WritePrivate
	}
	if o.Register {
		server.Register = func(ctx context.Context, url string, authority []byte) ([]string, error) {
			connection, err := o.Connect(ctx)
			if err != nil {
				return nil, err
			}
			return connection.RegisterExtension(ctx, management.Extension{Name: o.Config, URL: url, Authority: authority, Settings: o.Settings})
		}
	}
	return server.Serve(ctx)
}
