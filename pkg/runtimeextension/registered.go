package runtimeextension

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/upgradeplan"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// ReleasesOf returns the releases of the bundles that a plan may name: those that machines
// of a provider can be made at.
func ReleasesOf(all providers.Set, bundles *versionsbundle.Bundles) ReleasesFunc {
	return func(provider string) (upgradeplan.Releases, error) {
		of, known := all[provider]
		if !known && provider != "" {
			return upgradeplan.Releases{}, fmt.Errorf("there is no provider %q: must be %s", provider, strings.Join(all.Names(), " or "))
		}
		needs, with := versionsbundle.Needs{NodeImage: of.Needs().NodeImage}, ""
		if needs.NodeImage != "" {
			with = " with a node image for provider " + provider
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

// Registered is a server that is registered with Cluster API.
type Registered struct {
	Options
	// Versions is how many there are, for the log.
	Versions int
	// Config is the name of the ExtensionConfig.
	Config string
	// Authority that signed the certificate, as PEM.
	Authority []byte
	// Write is as for OwnCertificate, which made the certificate; nil where it did not.
	Write func(path string, data []byte) error
	// Register writes the ExtensionConfig, and returns the handlers that Cluster API
	// found at the URL; nil if the user registers the server.
	Register func(ctx context.Context, url string, authority []byte) ([]string, error)
}

// Serve answers until ctx ends, and then what was asked before.
func (s Registered) Serve(ctx context.Context) error {
	err := Serve(ctx, s.Options, func(ctx context.Context) error {
		s.Log.Info("answering", "address", s.url(), "versions", s.Versions, "health", s.HealthAddress)
		if err := s.register(ctx, s.Authority); err != nil {
			return err
		}
		s.renew(ctx)
		return nil
	})
	if err == nil {
		s.Log.Info("stopped")
	}
	return err
}

func (s Registered) url() string { return "https://" + net.JoinHostPort(s.Host, fmt.Sprint(s.Port)) }

// renew keeps a certificate that OwnCertificate made good while the server runs; others
// are renewed by who made them.
func (s Registered) renew(ctx context.Context) {
	if s.Write == nil {
		return
	}
	Renewal{
		Dir: s.CertDir, Host: s.Host, Authority: s.Authority, Write: s.Write,
		Renewed: func(ctx context.Context, authority []byte) error {
			s.Log.Info("certificate renewed", "authority", filepath.Join(s.CertDir, AuthorityFile), "registered", s.Register != nil)
			return s.register(ctx, authority)
		},
		Failed: func(err error) { s.Log.Error(err, "renewing the certificate; it is tried again") },
	}.Run(ctx)
}

// register registers the server with Cluster API, and checks that this server is the
// one that answers.
func (s Registered) register(ctx context.Context, authority []byte) error {
	if s.Register == nil {
		return nil
	}
	handlers, err := s.Register(ctx, s.url(), authority)
	if err != nil {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it is being stopped
		}
		return err
	}
	if plan := PlanHandler + "." + s.Config; !slices.Contains(handlers, plan) {
		return fmt.Errorf("Cluster API found the handlers %s at %s, and not %s: another server answers there", strings.Join(handlers, ", "), s.url(), plan)
	}
	s.Log.Info("registered", "extensionConfig", s.Config, "handlers", strings.Join(handlers, " "))
	return nil
}
