// Package pki makes the keys and certificates of one embedded management
// cluster. They are made at the first start and belong to that instance alone.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/clusterctl-x/clusterctl-x/pkg/files"
)

// validity of every certificate. The instance is for one person on one
// machine, and its CA never signs anything else.
const validity = 10 * 365 * 24 * time.Hour

// PKI names the files, all in one directory, all readable by their owner only.
type PKI struct{ dir string }

// CA is the path of the certificate that signed all the others.
func (p PKI) CA() string { return p.path("ca.crt") }

// Serving returns the paths of certificate and key for servers on 127.0.0.1.
func (p PKI) Serving() (cert, key string) { return p.path("serving.crt"), p.path("serving.key") }

// Admin returns the paths of the administrator's client certificate and key.
func (p PKI) Admin() (cert, key string) { return p.path("admin.crt"), p.path("admin.key") }

// EtcdClient returns the paths of the API server's client certificate and key for etcd.
func (p PKI) EtcdClient() (cert, key string) {
	return p.path("etcd-client.crt"), p.path("etcd-client.key")
}

// ServiceAccountKey is the path of the private key that signs service account tokens.
func (p PKI) ServiceAccountKey() string { return p.path("service-account.key") }

func (p PKI) path(name string) string { return filepath.Join(p.dir, name) }

// Ensure makes whatever is missing in dir.
func Ensure(dir string) (PKI, error) {
	p := PKI{dir: dir}
	// Written last, so that a start that was killed half-way begins anew.
	done := p.path("complete")
	if _, err := os.Stat(done); err == nil {
		return p, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return PKI{}, err
	}
	if err := p.generate(); err != nil {
		return PKI{}, fmt.Errorf("making keys and certificates in %s: %w", dir, err)
	}
	return p, files.WritePrivate(done, nil)
}

func (p PKI) generate() error {
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return err
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	ca, err := template("clusterctl-x-embedded", nil)
	if err != nil {
		return err
	}
	ca.IsCA, ca.BasicConstraintsValid = true, true
	ca.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return err
	}
	if err := writePEM(p.CA(), "CERTIFICATE", caDER); err != nil {
		return err
	}

	serving, err := template("127.0.0.1", nil)
	if err != nil {
		return err
	}
	serving.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	serving.DNSNames = []string{"localhost", "kubernetes.default.svc"}
	admin, err := template("clusterctl-x-admin", []string{"system:masters"})
	if err != nil {
		return err
	}
	etcdClient, err := template("kube-apiserver", nil)
	if err != nil {
		return err
	}
	for name, leaf := range map[string]*x509.Certificate{"serving": serving, "admin": admin, "etcd-client": etcdClient} {
		if err := p.issue(name, leaf, ca, caKey); err != nil {
			return err
		}
	}
	return p.serviceAccountKey()
}

func (p PKI) issue(name string, leaf, ca *x509.Certificate, caKey *ecdsa.PrivateKey) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, ca, key.Public(), caKey)
	if err != nil {
		return err
	}
	if err := writePEM(p.path(name+".crt"), "CERTIFICATE", der); err != nil {
		return err
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(p.path(name+".key"), "EC PRIVATE KEY", keyDER)
}

func (p PKI) serviceAccountKey() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	return writePEM(p.ServiceAccountKey(), "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key))
}

// template is a certificate for client and server authentication: etcd's
// peers and its gateway use one certificate for both sides.
func template(commonName string, organization []string) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: commonName, Organization: organization},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(validity),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}, nil
}

func writePEM(path, kind string, der []byte) error {
	return files.WritePrivate(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}
