package manifests

import (
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

func TestHosts(t *testing.T) {
	t.Parallel()
	const pull = "  capabilities = [\"pull\", \"resolve\"]\n  override_path = true\n"
	tests := map[string]struct {
		mirror    v1alpha1.RegistryMirrorConfiguration
		namespace string
		want      string
	}{
		"name":                   {v1alpha1.RegistryMirrorConfiguration{Endpoint: "mirror.example.org", Port: 443}, "", "[host.\"https://mirror.example.org:443/v2\"]\n" + pull},
		"IPv4":                   {v1alpha1.RegistryMirrorConfiguration{Endpoint: "10.0.0.1", Port: 5000}, "", "[host.\"https://10.0.0.1:5000/v2\"]\n" + pull},
		"IPv6":                   {v1alpha1.RegistryMirrorConfiguration{Endpoint: "fd00::1", Port: 5000}, "", "[host.\"https://[fd00::1]:5000/v2\"]\n" + pull},
		"namespace":              {v1alpha1.RegistryMirrorConfiguration{Endpoint: "a", Port: 1}, "k8s", "[host.\"https://a:1/v2/k8s\"]\n" + pull},
		"namespace of two parts": {v1alpha1.RegistryMirrorConfiguration{Endpoint: "fd00::1", Port: 65535}, "hub/library", "[host.\"https://[fd00::1]:65535/v2/hub/library\"]\n" + pull},
		"authority": {
			v1alpha1.RegistryMirrorConfiguration{Endpoint: "a", Port: 1, CACertContent: "PEM"}, "",
			"[host.\"https://a:1/v2\"]\n" + pull + "  ca = \"/etc/clusterctl-x/registry-mirror-ca.crt\"\n",
		},
		"unchecked": {v1alpha1.RegistryMirrorConfiguration{Endpoint: "a", Port: 1, InsecureSkipVerify: true}, "", "[host.\"https://a:1/v2\"]\n" + pull + "  skip_verify = true\n"},
		"authenticated": {
			v1alpha1.RegistryMirrorConfiguration{Endpoint: "a", Port: 1, Authenticate: true}, "",
			"[host.\"https://a:1/v2\"]\n" + pull + "  [host.\"https://a:1/v2\".header]\n    Authorization = \"Basic @registry-credentials@\"\n",
		},
		"everything": {
			v1alpha1.RegistryMirrorConfiguration{Endpoint: "fd00::1", Port: 5000, CACertContent: "PEM", InsecureSkipVerify: true, Authenticate: true}, "k8s",
			"[host.\"https://[fd00::1]:5000/v2/k8s\"]\n" + pull + "  ca = \"/etc/clusterctl-x/registry-mirror-ca.crt\"\n  skip_verify = true\n" +
				"  [host.\"https://[fd00::1]:5000/v2/k8s\".header]\n    Authorization = \"Basic @registry-credentials@\"\n",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := gocmp.Diff(test.want, hosts(&test.mirror, test.namespace)); diff != "" {
				t.Errorf("hosts.toml (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRegistryMirrorFiles: what has credentials is root's alone.
func TestRegistryMirrorFiles(t *testing.T) {
	t.Parallel()
	type machine struct{ Files, Commands []string }
	const config = "/etc/clusterctl-x/containerd-registry.toml 0644"
	namespaces := []v1alpha1.OCINamespace{{Registry: "registry.k8s.io", Namespace: "k8s"}, {Registry: "docker.io"}}
	tests := map[string]struct {
		mirror *v1alpha1.RegistryMirrorConfiguration
		want   machine
	}{
		"none":           {nil, machine{}},
		"every registry": {&v1alpha1.RegistryMirrorConfiguration{}, machine{Files: []string{config, "/etc/containerd/certs.d/_default/hosts.toml 0644"}, Commands: []string{useHosts}}},
		"some registries, with an authority": {
			&v1alpha1.RegistryMirrorConfiguration{Endpoint: "mirror", Port: 5000, OCINamespaces: namespaces, CACertContent: "PEM"},
			machine{Files: []string{
				config, "/etc/containerd/certs.d/registry.k8s.io/hosts.toml 0644", "/etc/containerd/certs.d/docker.io/hosts.toml 0644", "/etc/containerd/certs.d/mirror:5000/hosts.toml 0644",
				"/etc/clusterctl-x/registry-mirror-ca.crt 0644",
			}, Commands: []string{useHosts}},
		},
		"at the usual port": {
			&v1alpha1.RegistryMirrorConfiguration{Endpoint: "fd00::1", Port: 443, OCINamespaces: namespaces[:1]},
			machine{Files: []string{
				config, "/etc/containerd/certs.d/registry.k8s.io/hosts.toml 0644", "/etc/containerd/certs.d/[fd00::1]:443/hosts.toml 0644", "/etc/containerd/certs.d/[fd00::1]/hosts.toml 0644",
			}, Commands: []string{useHosts}},
		},
		"itself with a path": {
			&v1alpha1.RegistryMirrorConfiguration{Endpoint: "mirror", Port: 5000, OCINamespaces: []v1alpha1.OCINamespace{{Registry: "mirror:5000", Namespace: "team"}}},
			machine{Files: []string{config, "/etc/containerd/certs.d/mirror:5000/hosts.toml 0644"}, Commands: []string{useHosts}},
		},
		"authenticated": {
			&v1alpha1.RegistryMirrorConfiguration{Endpoint: "mirror", Port: 5000, OCINamespaces: namespaces[:1], Authenticate: true, CACertContent: "PEM"},
			machine{
				Files: []string{
					config, "/etc/containerd/certs.d/registry.k8s.io/hosts.toml 0600", "/etc/containerd/certs.d/mirror:5000/hosts.toml 0600", "/etc/clusterctl-x/registry-mirror-ca.crt 0644",
					"/etc/clusterctl-x/registry-username 0600 registry-credentials/username", "/etc/clusterctl-x/registry-password 0600 registry-credentials/password",
				},
				Commands: []string{useHosts, fillCredentials},
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, commands := registryMirror(test.mirror)
			got := machine{Commands: commands}
			for _, file := range files {
				line := file.Path + " " + file.Permissions
				if file.Append != nil && *file.Append {
					line += " append"
				}
				if secret := file.ContentFrom.Secret; secret.Name != "" {
					line += " " + secret.Name + "/" + secret.Key
				}
				got.Files = append(got.Files, line)
			}
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Errorf("machine (-want +got):\n%s", diff)
			}
		})
	}
}

// writeFiles puts the files of a machine below a directory, with the content of
// those that come from Secrets.
func writeFiles(t *testing.T, root string, files []bootstrapv1.File, secrets map[string]string) {
	t.Helper()
	for _, file := range files {
		content := file.Content
		if key := file.ContentFrom.Secret.Key; key != "" {
			content = secrets[key]
		}
		path := filepath.Join(root, file.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// bash runs a command and returns what it prints; errors are none of it.
func bash(t *testing.T, command string) string {
	t.Helper()
	run := exec.CommandContext(t.Context(), "bash", "-c", command)
	run.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/wrong", "a=wrong"}
	var problems strings.Builder
	run.Stderr = &problems
	out, err := run.Output()
	if err != nil || problems.Len() > 0 {
		t.Fatalf("%s: %v\n%s", command, err, problems.String())
	}
	return string(out)
}

// TestFillCredentials runs the command of the machines with credentials that
// shell, sed or base64 could take for something else.
func TestFillCredentials(t *testing.T) {
	t.Parallel()
	mirror := &v1alpha1.RegistryMirrorConfiguration{
		Endpoint: "mirror", Port: 443, Authenticate: true,
		OCINamespaces: []v1alpha1.OCINamespace{{Registry: "registry.k8s.io", Namespace: "k8s"}, {Registry: "docker.io"}, {Registry: "quay.io:8443"}},
	}
	tests := map[string]struct {
		username, password string
		want               string // before it is base64
	}{
		"words":                   {"user", "password", "user:password"},
		"line breaks at the ends": {"user\n", "password\n", "user:password"},
		"end of sed's command":    {"us|er", "pass|word|g", "us|er:pass|word|g"},
		"the match of sed":        {"&", `a&b\&`, `&:a&b\&`},
		"backslashes":             {`\`, `a\1\n\\`, `\:a\1\n\\`},
		"variables":               {"$HOME", "${a} $a $$ $1", "$HOME:${a} $a $$ $1"},
		"commands":                {"$(echo wrong)", "`echo wrong`;echo wrong", "$(echo wrong):`echo wrong`;echo wrong"},
		"quotes":                  {`"'`, `a"b'c"`, `"':a"b'c"`},
		"blanks":                  {" user ", "  pass  word\t", " user :  pass  word\t"},
		"directives of printf":    {"%s", `%d%%\x41`, `%s:%d%%\x41`},
		"options":                 {"-n", "-e --", "-n:-e --"},
		"patterns":                {"*", "/*?[a]~{b,c}!#", "*:/*?[a]~{b,c}!#"},
		"line break inside":       {"user", "a\nb", "user:a\nb"},
		"letters of any script":   {"ü", "漢\U0001F600", "ü:漢\U0001F600"},
		"the place itself":        {"@registry-credentials@", "@", "@registry-credentials@:@"},
		"longer than a line":      {"user", strings.Repeat("p", 1000), "user:" + strings.Repeat("p", 1000)},
		"nothing":                 {"", "", ":"},
		"slashes in base64":       {"u", "???>>>", "u:???>>>"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			files, commands := registryMirror(mirror)
			writeFiles(t, root, files, map[string]string{"username": test.username, "password": test.password})
			for _, command := range commands {
				if out := bash(t, strings.ReplaceAll(command, "/etc/", root+"/etc/")); out != "" {
					t.Errorf("it prints %q", out)
				}
			}
			want, got := map[string]string{}, map[string]string{}
			for _, namespace := range mirror.OCINamespaces {
				filled := base64.StdEncoding.EncodeToString([]byte(test.want))
				want[namespace.Registry] = strings.ReplaceAll(hosts(mirror, namespace.Namespace), "@registry-credentials@", filled)
				got[namespace.Registry] = string(readFile(t, filepath.Join(root, "/etc/containerd/certs.d", namespace.Registry, "hosts.toml")))
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("hosts.toml of each registry (-want +got):\n%s", diff)
			}
		})
	}
}

// TestProxyFiles: the environment is read by systemd and by a shell.
func TestProxyFiles(t *testing.T) {
	t.Parallel()
	spec := func(proxy *v1alpha1.ProxyConfiguration, pods, services string) v1alpha1.ClusterSpec {
		return v1alpha1.ClusterSpec{
			ClusterNetwork: v1alpha1.ClusterNetwork{
				Pods: v1alpha1.Network{CIDRBlocks: []string{pods}}, Services: v1alpha1.Network{CIDRBlocks: []string{services}},
			},
			ProxyConfiguration: proxy,
		}
	}
	environment := func(http, https, no string) string {
		return fmt.Sprintf("HTTP_PROXY=%[1]s\nhttp_proxy=%[1]s\nHTTPS_PROXY=%[2]s\nhttps_proxy=%[2]s\nNO_PROXY=%[3]s\nno_proxy=%[3]s\n", http, https, no)
	}
	tests := map[string]struct {
		spec v1alpha1.ClusterSpec
		want string
	}{
		"host and port": {
			spec(&v1alpha1.ProxyConfiguration{HTTPProxy: "proxy:3128", HTTPSProxy: "10.0.0.1:3129"}, "192.168.0.0/16", "10.96.0.0/12"),
			environment("http://proxy:3128", "http://10.0.0.1:3129", "localhost,127.0.0.1,.svc,192.168.0.0/16,10.96.0.0/12"),
		},
		"addresses": {
			spec(&v1alpha1.ProxyConfiguration{HTTPProxy: "http://proxy:3128", HTTPSProxy: "https://[fd00::1]:3129"}, "192.168.0.0/16", "10.96.0.0/12"),
			environment("http://proxy:3128", "https://[fd00::1]:3129", "localhost,127.0.0.1,.svc,192.168.0.0/16,10.96.0.0/12"),
		},
		"more without a proxy": {
			spec(&v1alpha1.ProxyConfiguration{HTTPProxy: "a:1", HTTPSProxy: "b:2", NoProxy: []string{".example.org", "fd00:3::/64", "host"}}, "fd00:1::/52", "fd00:2::/112"),
			environment("http://a:1", "http://b:2", "localhost,127.0.0.1,.svc,fd00:1::/52,fd00:2::/112,.example.org,fd00:3::/64,host"),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			files := proxyFiles(test.spec)
			writeFiles(t, root, files, nil)
			const show = `; for name in HTTP_PROXY http_proxy HTTPS_PROXY https_proxy NO_PROXY no_proxy; do printf '%s=%s\n' "$name" "${!name}"; done`
			if diff := gocmp.Diff(test.want, bash(t, "set -eu; . '"+root+"/etc/clusterctl-x/proxy.env'"+show)); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
			const dropIn = "[Service]\nEnvironmentFile=/etc/clusterctl-x/proxy.env\n"
			if diff := gocmp.Diff(dropIn, string(readFile(t, root+"/etc/systemd/system/containerd.service.d/http-proxy.conf"))); diff != "" || len(files) != 2 {
				t.Errorf("%d files; containerd's (-want +got):\n%s", len(files), diff)
			}
		})
	}
	if files := proxyFiles(spec(nil, "192.168.0.0/16", "10.96.0.0/12")); files != nil {
		t.Errorf("files without a proxy: %v", files)
	}
}

// TestUseHosts: whoever has the table of registries keeps it, and running the
// command again changes nothing.
func TestUseHosts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ before, after string }{
		"without the table":    {"version = 2\n", "version = 2\nours\n  config_path = \"/etc/containerd/certs.d\"\n"},
		"with a table already": {"[x.registry]\n  config_path = \"/etc/containerd/certs.d\"\n", "[x.registry]\n  config_path = \"/etc/containerd/certs.d\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			config := filepath.Join(root, "config.toml")
			ours := filepath.Join(root, "ours.toml")
			for path, text := range map[string]string{config: test.before, ours: "ours\n  config_path = \"/etc/containerd/certs.d\"\n"} {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			command := strings.NewReplacer(containerdConfig, config, mirrorConfig, ours).Replace(useHosts)
			for range 2 {
				if out, err := exec.CommandContext(t.Context(), "sh", "-c", command).CombinedOutput(); err != nil {
					t.Fatalf("%s: %v: %s", command, err, out)
				}
			}
			if diff := gocmp.Diff(test.after, string(readFile(t, config))); diff != "" {
				t.Errorf("containerd's file (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnindented: the text of a file begins a block of YAML elsewhere.
func TestUnindented(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "a: b\n c": "a: b\n c", "# c": "# c", " # c\na: b": "#\n # c\na: b", "\na: b": "#\n\na: b"} {
		if got := unindented(text); got != want {
			t.Errorf("unindented(%q) = %q, want %q", text, got, want)
		}
	}
}
