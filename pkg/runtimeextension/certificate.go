package runtimeextension

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/util/cert"
)

// Names of the files in a directory with a certificate, as Kubernetes calls them in
// Secrets of the type kubernetes.io/tls.
const (
	certificateFile = "tls.crt"
	keyFile         = "tls.key"
	// AuthorityFile is the certificate of the authority that signed it.
	AuthorityFile = "ca.crt"
)

// renewBefore is how long before its end a certificate of our own is made anew.
const renewBefore = 30 * 24 * time.Hour

// OwnCertificate ensures that a directory has a certificate for a host, signed by a
// generated authority, and returns the authority's certificate as PEM. It is made for a
// year, and renewed once it is good for less than 30 days. write writes a file that
// only its owner may read, atomically.
func OwnCertificate(dir, host string, now time.Time, write func(path string, data []byte) error) ([]byte, error) {
	if leaf, err := Certificate(dir, now.Add(renewBefore)); err == nil && leaf.VerifyHostname(host) == nil {
		if authority, err := os.ReadFile(filepath.Join(dir, AuthorityFile)); err == nil {
			return authority, nil
		}
	}
	chain, key, err := cert.GenerateSelfSignedCertKey(host, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("making a certificate for %s: %w", host, err)
	}
	certificates, err := cert.ParseCertsPEM(chain)
	if err != nil {
		return nil, fmt.Errorf("making a certificate for %s: %w", host, err)
	}
	authority, err := cert.EncodeCertificates(certificates[len(certificates)-1])
	if err != nil {
		return nil, fmt.Errorf("making a certificate for %s: %w", host, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("keeping a certificate: %w", err)
	}
	for _, file := range []struct {
		name string
		data []byte
	}{{keyFile, key}, {AuthorityFile, authority}, {certificateFile, chain}} {
		if err := write(filepath.Join(dir, file.name), file.data); err != nil {
			return nil, fmt.Errorf("keeping a certificate: %w", err)
		}
	}
	return authority, nil
}

// Certificate reads the certificate of a directory, and fails where its key is not
// that of the certificate, or where it is not good at a time.
func Certificate(dir string, at time.Time) (*x509.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, certificateFile), filepath.Join(dir, keyFile))
	if err != nil {
		return nil, fmt.Errorf("reading the certificate in %s: %w", dir, err)
	}
	leaf := pair.Leaf
	switch {
	case at.After(leaf.NotAfter):
		return nil, fmt.Errorf("the certificate in %s expired on %s: renew it", dir, leaf.NotAfter.UTC().Format(time.RFC3339))
	case at.Before(leaf.NotBefore):
		return nil, fmt.Errorf("the certificate in %s is not valid before %s", dir, leaf.NotBefore.UTC().Format(time.RFC3339))
	}
	return leaf, nil
}
