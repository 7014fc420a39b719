package validations_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

func TestSpecRegistryMirror(t *testing.T) {
	t.Parallel()
	const (
		path      = "spec.registryMirrorConfiguration."
		endpoint  = ": must be a host name in lower case or an address and nothing else; a port goes into port, a path into ociNamespaces"
		registry  = ": must be HOST or HOST:PORT and nothing else, such as registry.k8s.io; a path goes into namespace"
		namespace = ": must be a path in the mirror such as team/images: at most 255 lower-case letters, digits, dots, dashes, underscores and slashes, without a slash at either end"
	)
	mirror := func(config v1alpha1.RegistryMirrorConfiguration) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { c.Spec.RegistryMirrorConfiguration = &config }
	}
	at := func(endpoint string) func(*v1alpha1.Cluster) {
		return mirror(v1alpha1.RegistryMirrorConfiguration{Endpoint: endpoint})
	}
	notAt := func(text, shown string) specTest {
		return specTest{at(text), []string{path + `endpoint: Invalid value: "` + shown + `"` + endpoint}}
	}
	of := func(namespaces ...v1alpha1.OCINamespace) func(*v1alpha1.Cluster) {
		return mirror(v1alpha1.RegistryMirrorConfiguration{Endpoint: "mirror", OCINamespaces: namespaces})
	}
	notOf := func(text, shown string) specTest {
		return specTest{of(v1alpha1.OCINamespace{Registry: text}), []string{path + `ociNamespaces[0].registry: Invalid value: "` + shown + `"` + registry}}
	}
	to := func(name string) func(*v1alpha1.Cluster) {
		return of(v1alpha1.OCINamespace{Registry: "docker.io", Namespace: name})
	}
	notTo := func(name string) specTest {
		return specTest{to(name), []string{path + `ociNamespaces[0].namespace: Invalid value: "` + name + `"` + namespace}}
	}
	many := func(number int) []v1alpha1.OCINamespace {
		var namespaces []v1alpha1.OCINamespace
		for i := range number {
			namespaces = append(namespaces, v1alpha1.OCINamespace{Registry: fmt.Sprintf("r%d.io", i)})
		}
		return namespaces
	}
	testSpec(t, map[string]specTest{
		"host":        {at("mirror.example.com"), nil},
		"address":     {at("10.0.0.1"), nil},
		"IPv6":        {at("fd00::1"), nil},
		"no endpoint": {at(""), []string{path + "endpoint: Required value: the host name or address of the mirror"}},
		"scheme":      notAt("https://mirror", "https://mirror"),
		"port":        notAt("mirror:5000", "mirror:5000"),
		"path":        notAt("mirror/images", "mirror/images"),
		"user":        notAt("me:secret@mirror", "...@mirror"),
		"no user":     notAt("@mirror", "...@mirror"),
		"brackets":    notAt("[fd00::1]", "[fd00::1]"),
		"capitals":    notAt("Mirror", "Mirror"),

		"registries":       {of(v1alpha1.OCINamespace{Registry: "docker.io"}, v1alpha1.OCINamespace{Registry: "localhost:5000", Namespace: "a"}, v1alpha1.OCINamespace{Registry: "[fd00::1]:5000"}), nil},
		"100 registries":   {of(many(100)...), nil},
		"101 registries":   {of(many(101)...), []string{path + "ociNamespaces: Invalid value: has 101 entries and must have at most 100; remove some, or all to mirror every registry"}},
		"no registry":      {of(v1alpha1.OCINamespace{}), []string{path + "ociNamespaces[0].registry: Required value: the registry that is mirrored, such as registry.k8s.io"}},
		"registry's path":  notOf("docker.io/library", "docker.io/library"),
		"registry's port":  notOf("docker.io:", "docker.io:"),
		"registry's user":  notOf("me:secret@docker.io", "...@docker.io"),
		"registry's sheme": notOf("https://docker.io", "https://docker.io"),
		"registry twice":   {of(v1alpha1.OCINamespace{Registry: "a"}, v1alpha1.OCINamespace{Registry: "a", Namespace: "b"}), []string{path + `ociNamespaces[1].registry: Duplicate value: "a": ` + path + "ociNamespaces[0] has this registry already; remove one of the two"}},

		"namespace":                {to("a/b-c_d/e.f__g--h/1"), nil},
		"namespace of 255 letters": {to(long(255)), nil},
		"namespace of 256 letters": notTo(long(256)),
		"namespace with slash":     notTo("/a"),
		"namespace ends in slash":  notTo("a/"),
		"namespace of two slashes": notTo("a//b"),
		"namespace in capitals":    notTo("Team"),
		"namespace of dots":        notTo("a..b"),

		"insecure": {mirror(v1alpha1.RegistryMirrorConfiguration{Endpoint: "mirror", InsecureSkipVerify: true}), nil},
		"insecure with certificate": {
			mirror(v1alpha1.RegistryMirrorConfiguration{Endpoint: "mirror", InsecureSkipVerify: true, CACertContent: v1alpha1.Content(certificate(t))}), nil,
		},
	})
}

// certificate is a new one, as PEM.
func certificate(t *testing.T) string {
	t.Helper()
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(nil, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	return block("CERTIFICATE", der)
}

func block(of string, content []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: of, Bytes: content}))
}

func TestSpecMirrorCertificate(t *testing.T) {
	t.Parallel()
	const (
		at      = "spec.registryMirrorConfiguration.caCertContent: Invalid value: "
		remedy  = "; use the certificate of the mirror's authority, which begins with -----BEGIN CERTIFICATE-----"
		nothing = at + "must hold a certificate" + remedy
		mixed   = at + "must hold certificates in PEM and nothing else" + remedy
	)
	valid := certificate(t)
	content := func(parts ...string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.RegistryMirrorConfiguration = &v1alpha1.RegistryMirrorConfiguration{Endpoint: "mirror", CACertContent: v1alpha1.Content(strings.Join(parts, ""))}
		}
	}
	malformed := strings.Replace(valid, "\n", "\n!", 1)
	testSpec(t, map[string]specTest{
		"one":                  {content(valid), nil},
		"without line break":   {content(strings.TrimSpace(valid)), nil},
		"two":                  {content(valid, valid), nil},
		"comments":             {content("# a\n\n  # b\n", valid, "\n# c\n", valid, "# d"), nil},
		"10240 bytes":          {content(valid, "#", long(10239-len(valid))), nil},
		"10241 bytes":          {content(valid, "#", long(10240-len(valid))), []string{at + "must have at most 10240 bytes, and has 10241; shorten it"}},
		"nothing":              {content(" \n"), []string{nothing}},
		"only a comment":       {content("# a"), []string{nothing}},
		"text":                 {content("certificate"), []string{mixed}},
		"text before":          {content("subject=a\n", valid), []string{mixed}},
		"text after":           {content(valid, "subject=a\n"), []string{mixed}},
		"text between":         {content(valid, "subject=a\n", valid), []string{mixed}},
		"not PEM":              {content(malformed), []string{mixed}},
		"not PEM, and another": {content(malformed, valid), []string{mixed}},
		"key":                  {content(block("PRIVATE KEY", []byte("secret"))), []string{at + "must hold certificates only; remove the PRIVATE KEY, which has no place in a spec"}},
		"certificate and key":  {content(valid, block("RSA PRIVATE KEY", []byte("secret"))), []string{at + "must hold certificates only; remove the RSA PRIVATE KEY, which has no place in a spec"}},
		"not a certificate":    {content(valid, block("CERTIFICATE", []byte("a"))), []string{at + "certificate 2 cannot be read (x509: malformed certificate)" + remedy}},
	})
}

func TestSpecProxy(t *testing.T) {
	t.Parallel()
	const (
		path   = "spec.proxyConfiguration."
		rule   = ": must be HOST:PORT, http://HOST:PORT or https://HOST:PORT and nothing else, the host in lower case or an address"
		secret = ": must not have a user or password, which would be readable in the cluster's templates; use a proxy that needs none from these machines"
		direct = ": must be a host, a domain such as .example.com, an address, or a network such as 10.0.0.0/8; one per entry"
	)
	proxy := func(http, https string, noProxy ...string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.ProxyConfiguration = &v1alpha1.ProxyConfiguration{HTTPProxy: http, HTTPSProxy: https, NoProxy: noProxy}
		}
	}
	wrong := func(address string) specTest {
		return specTest{proxy(address, "proxy:3128"), []string{path + `httpProxy: Invalid value: "` + address + `"` + rule}}
	}
	except := func(entries ...string) func(*v1alpha1.Cluster) {
		return proxy("proxy:3128", "proxy:3128", entries...)
	}
	wrongExcept := func(entry string) specTest {
		return specTest{except(entry), []string{path + `noProxy[0]: Invalid value: "` + entry + `"` + direct}}
	}
	many := func(last string) []string {
		entries := []string{last}
		for range 79 { // 79 of 100 bytes with their commas
			entries = append(entries, strings.Repeat("abcdefghi.", 9)+"abcdefghi")
		}
		return entries
	}
	testSpec(t, map[string]specTest{
		"hosts":            {proxy("proxy:3128", "proxy.example.com:1"), nil},
		"URLs":             {proxy("http://proxy:3128", "https://10.0.0.1:65535"), nil},
		"IPv6":             {proxy("[fd00::1]:3128", "http://[fd00::1]:3128"), nil},
		"neither":          {proxy("", ""), []string{path + "httpProxy: Required value: the proxy: HOST:PORT or http://HOST:PORT", path + "httpsProxy: Required value: the proxy: HOST:PORT or http://HOST:PORT"}},
		"second is wrong":  {proxy("proxy:1", "proxy"), []string{path + `httpsProxy: Invalid value: "proxy"` + rule}},
		"no port":          wrong("http://proxy"),
		"port 0":           wrong("proxy:0"),
		"port 65536":       wrong("http://proxy:65536"),
		"path":             wrong("http://proxy:3128/"),
		"another scheme":   wrong("socks5://proxy:1080"),
		"scheme twice":     wrong("http://http://proxy:1"),
		"no scheme":        wrong("://proxy:3128"),
		"capitals":         wrong("Proxy:3128"),
		"password":         {proxy("http://me:secret@proxy:3128", "proxy:1"), []string{path + `httpProxy: Invalid value: "http://...@proxy:3128"` + secret}},
		"password, no URL": {proxy("me:secret@proxy:3128", "proxy:1"), []string{path + `httpProxy: Invalid value: "...@proxy:3128"` + secret}},

		"exceptions":        {except("localhost", "a.example.com", ".example.com", "10.0.0.1", "fd00::1", "10.0.0.0/8", "fd00::/8"), nil},
		"star and domain":   {except("*.example.com"), []string{path + `noProxy[0]: Invalid value: "*.example.com": must not begin with *, which programs do not understand here; use .example.com`}},
		"star":              wrongExcept("*"),
		"empty entry":       wrongExcept(""),
		"dot":               wrongExcept("."),
		"two dots":          wrongExcept("..example.com"),
		"space":             wrongExcept("a b"),
		"comma":             wrongExcept("a,b"),
		"port of a host":    wrongExcept("a:80"),
		"no such network":   wrongExcept("10.0.0.0/33"),
		"dot, address":      wrongExcept(".10.0.0.1"),
		"no such address":   wrongExcept("10.0.0.256"),
		"domain in capital": wrongExcept(".Example.com"),
		"8000 bytes":        {except(many(long(50) + "." + long(49))...), nil},
		"8001 bytes":        {except(many(long(51) + "." + long(49))...), []string{path + "noProxy: Invalid value: must have at most 8000 bytes together, with commas between, and have 8001; use domains and networks for hosts"}},
	})
}
