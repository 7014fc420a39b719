package runtimeextension

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/files"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// TestCheck says all that is wrong with a request.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*Request)
		want   string
	}{
		"nothing":            {func(*Request) {}, "<nil>"},
		"registered":         {func(r *Request) { r.Register, r.Settings = true, map[string]string{"patches": "every"} }, "<nil>"},
		"a port":             {func(r *Request) { r.Port = 65536 }, "--port must be 1 to 65535, not 65536"},
		"no port, no host":   {func(r *Request) { r.Port, r.Host = 0, "a b" }, "--port must be 1 to 65535, not 0\n--host must be an IP address or the name of a host, not \"a b\""},
		"a setting":          {func(r *Request) { r.Register, r.Settings = true, map[string]string{"provider": "none"} }, "--setting provider: "},
		"for nobody":         {func(r *Request) { r.Settings = map[string]string{"patches": "every"} }, "--setting is written into the ExtensionConfig: use it with --register"},
		"an authority":       {func(r *Request) { r.ClientCA = "ca.crt" }, "--client-ca is the name of a file in --cert-dir"},
		"one elsewhere":      {func(r *Request) { r.CertDir, r.ClientCA = "a", "../ca.crt" }, "--client-ca is the name of a file in --cert-dir"},
		"every address":      {func(r *Request) { r.Register, r.Host = true, "0.0.0.0" }, "--register writes the address that Cluster API calls, which cannot be 0.0.0.0: set --host to one that can be reached"},
		"an ExtensionConfig": {func(r *Request) { r.Config = "A" }, `--extension-config is "A": `},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Request{Host: "127.0.0.1", Port: 9443, Config: "clusterctl-x"}
			test.change(&r)
			got := fmt.Sprint(r.Check(providers.BuiltIn()))
			if strings.HasSuffix(test.want, ": ") { // and then words of others
				got = got[:min(len(got), len(test.want))]
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGivenCertificate: who registers the server says who signed its certificate.
func TestGivenCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := Request{CertDir: dir, Register: true}
	_, err := r.GivenCertificate(time.Now())
	if want := fmt.Sprintf("reading the certificate in %s: open %s/tls.crt: no such file or directory", dir, dir); fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
	authority, err := OwnCertificate(dir, "127.0.0.1", time.Now(), files.WritePrivate)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.GivenCertificate(time.Now())
	if diff := cmp.Diff(string(authority), string(got)); diff != "" || err != nil {
		t.Errorf("authority: %v (-want +got):\n%s", err, diff)
	}
	if err := os.Remove(filepath.Join(dir, AuthorityFile)); err != nil {
		t.Fatal(err)
	}
	_, err = r.GivenCertificate(time.Now())
	if want := fmt.Sprintf("reading who signed the certificate: open %s/ca.crt: no such file or directory; --register writes that into the ExtensionConfig", dir); fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
	r.Register = false
	if authority, err := r.GivenCertificate(time.Now()); authority != nil || err != nil {
		t.Errorf("not registered: got %q, %v", authority, err)
	}
}
