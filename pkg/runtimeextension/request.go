package runtimeextension

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"

	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/upgradeplan"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// Request says how a user wants the server to be, in the flags of 'serve runtime-extension'.
type Request struct {
	// Host and Port are what it listens on, and HealthAddress is that of its health.
	Host          string
	Port          int
	HealthAddress string
	// CertDir has a certificate; without one, it is generated. ClientCA is a file in it.
	CertDir, ClientCA string
	// Register has it registered with Cluster API, with an ExtensionConfig of this name and
	// these settings.
	Register bool
	Config   string
	Settings map[string]string
}

// Check says everything that is wrong with a request by itself.
func (r *Request) Check(known providers.Set) error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if r.Port < 1 || r.Port > 65535 {
		wrong("--port must be 1 to 65535, not %d", r.Port)
	}
	if net.ParseIP(r.Host) == nil && len(utilvalidation.IsDNS1123Subdomain(r.Host)) > 0 {
		wrong("--host must be an IP address or the name of a host, not %q", r.Host)
	}
	for _, problem := range utilvalidation.IsDNS1123Subdomain(r.Config) {
		wrong("--extension-config is %q: %s", r.Config, problem)
	}
	if policy, err := upgradeplan.ParsePolicy(r.Settings); err != nil {
		wrong("--setting: %w", err)
	} else if _, err := ReleasesOf(known, &versionsbundle.Bundles{})(policy.Provider); err != nil {
		wrong("--setting %s: %w", upgradeplan.ProviderSetting, err)
	}
	switch {
	case len(r.Settings) > 0 && !r.Register:
		wrong("--setting is written into the ExtensionConfig: use it with --register")
	case r.ClientCA != "" && (r.CertDir == "" || filepath.Base(r.ClientCA) != r.ClientCA):
		wrong("--client-ca is the name of a file in --cert-dir")
	case r.Register && net.ParseIP(r.Host).IsUnspecified():
		wrong("--register writes the address that Cluster API calls, which cannot be %s: set --host to one that can be reached", r.Host)
	}
	return errors.Join(errs...)
}

// ServingCertificate returns the directory of the certificate, and the authority that signed it as
// PEM, where it is needed. Without CertDir the certificate is generated below home, with write.
func (r *Request) ServingCertificate(home string, now time.Time, write func(path string, data []byte) error) (string, []byte, error) {
	if r.CertDir != "" {
		authority, err := r.GivenCertificate(now)
		return r.CertDir, authority, err
	}
	dir := filepath.Join(home, "runtime-extension", r.Host)
	authority, err := OwnCertificate(dir, r.Host, now, write)
	return dir, authority, err
}

// GivenCertificate checks the certificate in CertDir. It returns the authority that signed
// it as PEM, where that is registered.
func (r *Request) GivenCertificate(now time.Time) ([]byte, error) {
	if _, err := Certificate(r.CertDir, now); err != nil || !r.Register {
		return nil, err
	}
	authority, err := os.ReadFile(filepath.Join(r.CertDir, AuthorityFile))
	if err != nil {
		return nil, fmt.Errorf("reading who signed the certificate: %w; --register writes that into the ExtensionConfig", err)
	}
	return authority, nil
}
