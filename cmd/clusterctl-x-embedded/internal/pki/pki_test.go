package pki_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/cmd/clusterctl-x-embedded/internal/pki"
)

// ensure makes the keys and certificates of one instance.
func ensure(t *testing.T, dir string) pki.PKI {
	t.Helper()
	keys, err := pki.Ensure(dir)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range names(t, dir) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(data)
	}
	return files
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, entry := range entries {
		all = append(all, entry.Name())
	}
	return all
}

func TestModes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "pki")
	ensure(t, dir)
	got := map[string]fs.FileMode{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		got[strings.TrimPrefix(path, dir)] = info.Mode()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]fs.FileMode{
		"": fs.ModeDir | 0o700, "/ca.crt": 0o600, "/complete": 0o600, "/service-account.key": 0o600,
		"/serving.crt": 0o600, "/serving.key": 0o600, "/admin.crt": 0o600, "/admin.key": 0o600, "/etcd-client.crt": 0o600, "/etcd-client.key": 0o600,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("modes (-want +got):\n%s", diff)
	}
}

// subject is what a certificate says of its owner.
type subject struct {
	CommonName   string
	Organization []string
	DNSNames     []string
	IPAddresses  []string
	IsCA         bool
	KeyUsage     x509.KeyUsage
	ExtKeyUsage  []x509.ExtKeyUsage
}

func subjectOf(c *x509.Certificate) subject {
	s := subject{
		CommonName: c.Subject.CommonName, Organization: c.Subject.Organization, DNSNames: c.DNSNames,
		IsCA: c.IsCA, KeyUsage: c.KeyUsage, ExtKeyUsage: c.ExtKeyUsage,
	}
	for _, ip := range c.IPAddresses {
		s.IPAddresses = append(s.IPAddresses, ip.String())
	}
	return s
}

var bothUsages = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth} //nolint:gochecknoglobals // a constant

func TestCertificates(t *testing.T) {
	t.Parallel()
	keys := ensure(t, t.TempDir())
	data, err := os.ReadFile(keys.CA())
	if err != nil {
		t.Fatal(err)
	}
	block, rest := pem.Decode(data)
	if block == nil || len(rest) > 0 {
		t.Fatalf("%s holds %q", keys.CA(), data)
	}
	ca, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	wantCA := subject{CommonName: "clusterctl-x-embedded", IsCA: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: bothUsages}
	if diff := cmp.Diff(wantCA, subjectOf(ca)); diff != "" {
		t.Errorf("CA (-want +got):\n%s", diff)
	}
	pool := x509.NewCertPool()
	pool.AddCert(ca)

	leaves := map[string]struct {
		files func() (cert, key string)
		want  subject
	}{
		"serving": {
			files: keys.Serving,
			want: subject{
				CommonName: "127.0.0.1", IPAddresses: []string{"127.0.0.1"}, DNSNames: []string{"localhost", "kubernetes.default.svc"},
				KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: bothUsages,
			},
		},
		"admin": {
			files: keys.Admin,
			want:  subject{CommonName: "clusterctl-x-admin", Organization: []string{"system:masters"}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: bothUsages},
		},
		"etcd client": {
			files: keys.EtcdClient,
			want:  subject{CommonName: "kube-apiserver", KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: bothUsages},
		},
	}
	for name, test := range leaves {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pair, err := tls.LoadX509KeyPair(test.files()) // the key fits the certificate
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, subjectOf(pair.Leaf)); diff != "" {
				t.Errorf("certificate (-want +got):\n%s", diff)
			}
			for _, usage := range bothUsages {
				if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{usage}}); err != nil {
					t.Errorf("usage %v: %v", usage, err)
				}
			}
		})
	}
}

// TestHandshake has the API server's client of etcd and etcd itself, which
// asks for a certificate, talk as they do.
func TestHandshake(t *testing.T) {
	t.Parallel()
	keys := ensure(t, t.TempDir())
	data, err := os.ReadFile(keys.CA())
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(data)
	load := func(cert, key string) []tls.Certificate {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			t.Fatal(err)
		}
		return []tls.Certificate{pair}
	}
	serverSide, clientSide := net.Pipe()
	server := tls.Server(serverSide, &tls.Config{Certificates: load(keys.Serving()), ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert})
	client := tls.Client(clientSide, &tls.Config{Certificates: load(keys.EtcdClient()), RootCAs: pool, ServerName: "127.0.0.1"})
	served := make(chan error, 1)
	go func() { served <- server.HandshakeContext(t.Context()) }()
	if err := client.HandshakeContext(t.Context()); err != nil {
		t.Errorf("client: %v", err)
	}
	if err := <-served; err != nil {
		t.Errorf("server: %v", err)
	}
}

func TestServiceAccountKey(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(ensure(t, t.TempDir()).ServiceAccountKey())
	if err != nil {
		t.Fatal(err)
	}
	block, rest := pem.Decode(data)
	if block == nil || len(rest) > 0 {
		t.Fatalf("the file holds %d bytes that are no PEM", len(data))
	}
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if got := key.N.BitLen(); got != 2048 {
		t.Errorf("%d bits, want 2048", got)
	}
}

func TestEnsureAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := ensure(t, dir)
	before := contents(t, dir)
	if second := ensure(t, dir); second != first {
		t.Errorf("got %v, then %v", first, second)
	}
	if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
}

// TestEnsureAfterInterruption has a first run that ended half-way: nothing of
// it stays, as its CA key is gone.
func TestEnsureAfterInterruption(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ensure(t, dir)
	before := contents(t, dir)
	for _, name := range []string{"complete", "admin.key", "service-account.key"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	ensure(t, dir)
	assertNothingShared(t, before, contents(t, dir))
}

func TestInstancesShareNothing(t *testing.T) {
	t.Parallel()
	a, b := t.TempDir(), t.TempDir()
	ensure(t, a)
	ensure(t, b)
	assertNothingShared(t, contents(t, a), contents(t, b))
}

func assertNothingShared(t *testing.T, a, b map[string]string) {
	t.Helper()
	if diff := cmp.Diff(slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b))); diff != "" {
		t.Errorf("files (-a +b):\n%s", diff)
	}
	shared := []string{}
	for name := range a {
		if a[name] == b[name] {
			shared = append(shared, name)
		}
	}
	if diff := cmp.Diff([]string{"complete"}, shared); diff != "" { // which is empty
		t.Errorf("equal files (-want +got):\n%s", diff)
	}
}

func TestEnsureWhereItCannot(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(file, "pki")
	keys, err := pki.Ensure(dir)
	if keys != (pki.PKI{}) || err == nil {
		t.Errorf("got %v, %v", keys, err)
	}
}
