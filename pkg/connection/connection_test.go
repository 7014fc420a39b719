package connection_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/connection"
	"github.com/clusterctl-x/clusterctl-x/pkg/embedded"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
)

// atHome is a user with neither kubeconfig nor management cluster, who has a directory for
// embedded ones.
func atHome(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("KUBECONFIG", "")
	t.Setenv("CLUSTERCTL_X_HOME", home)
	return home
}

// unexpected gets what is to reach no one.
func unexpected(t *testing.T) func(string, ...any) {
	return func(format string, args ...any) { t.Errorf("reported: "+format, args...) }
}

// TestRefused: a user who only reads learns what state the embedded management cluster is in.
func TestRefused(t *testing.T) {
	for name, test := range map[string]struct {
		kind, instance string
		prepare        func(*testing.T, embedded.Instance)
		want           string
	}{
		"never started":    {connection.Auto, "default", nil, `there is no management cluster: no kubeconfig was found, and embedded management cluster "default" was never started; name a kubeconfig with --kubeconfig, or start the embedded one with 'clusterctl-x management start' or by creating a cluster`},
		"never started it": {connection.Embedded, "other", nil, `embedded management cluster "other" was never started, so it has no clusters; start it with 'clusterctl-x management start --name other' or by creating a cluster`},
		"stopped":          {connection.Auto, "default", created, `embedded management cluster "default" is stopped, and this command starts nothing; start it with 'clusterctl-x management start'`},
		"starting":         {connection.Auto, "default", starting, `embedded management cluster "default" is not ready yet; 'clusterctl-x management start' waits until it is`},
		"no name":          {connection.Auto, "A/B", nil, `invalid name "A/B" of an embedded management cluster: use at most 40 lower-case letters, digits and dashes`},
	} {
		t.Run(name, func(t *testing.T) {
			home := atHome(t)
			if test.prepare != nil {
				instance, err := embedded.Find(home, test.instance)
				if err != nil {
					t.Fatal(err)
				}
				test.prepare(t, instance)
			}
			c := connection.Choice{Kind: test.kind, InstanceName: test.instance, Report: unexpected(t)}
			_, err := c.Connect(t.Context(), management.Options{})
			if diff := cmp.Diff(test.want, fmt.Sprint(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if c.Ready() {
				t.Error("it is taken for ready")
			}
		})
	}
}

func created(t *testing.T, instance embedded.Instance) {
	t.Helper()
	if err := os.MkdirAll(instance.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(instance.Kubeconfig(), nil, 0o600), os.WriteFile(filepath.Join(instance.Dir, "ports.json"), []byte("{}"), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func starting(t *testing.T, instance embedded.Instance) {
	t.Helper()
	created(t, instance)
	if err := instance.WriteProgress(embedded.Progress{}); err != nil {
		t.Fatal(err)
	}
	lock, err := instance.Lock()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lock.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestUsesEmbedded: a kubeconfig comes first where there is one, and the user may say which.
func TestUsesEmbedded(t *testing.T) {
	atHome(t)
	named := management.Kubeconfig{Path: "/none"}
	for name, test := range map[string]struct {
		choice connection.Choice
		want   bool
	}{
		"no kubeconfig":             {connection.Choice{Kind: connection.Auto}, true},
		"a kubeconfig":              {connection.Choice{Kind: connection.Auto, Kubeconfig: named}, false},
		"embedded, and one":         {connection.Choice{Kind: connection.Embedded, Kubeconfig: named}, true},
		"of a kubeconfig, and none": {connection.Choice{Kind: connection.Kubeconfig}, false},
	} {
		if got := test.choice.UsesEmbedded(); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}

// TestCertificates: a certificate and its key belong together.
func TestCertificates(t *testing.T) {
	atHome(t)
	none := filepath.Join(t.TempDir(), "none")
	for name, test := range map[string]struct{ certificate, key, want string }{
		"no key":  {none, "", "--runtime-extension-client-cert-file and --runtime-extension-client-key-file must be set together: one names the certificate, the other its key"},
		"no file": {none, none, fmt.Sprintf("reading the client certificate for runtime extensions from %s and %s: open %s: no such file or directory; --runtime-extension-client-cert-file and --runtime-extension-client-key-file name PEM files that belong together", none, none, none)},
	} {
		c := connection.Choice{Kind: connection.Auto, InstanceName: "default", CertificateFile: test.certificate, KeyFile: test.key, Report: unexpected(t)}
		_, err := c.Connect(t.Context(), management.Options{})
		if diff := cmp.Diff(test.want, fmt.Sprint(err)); diff != "" {
			t.Errorf("%s: error (-want +got):\n%s", name, diff)
		}
	}
}

// TestReadKubeconfig: there is one once the management cluster was started.
func TestReadKubeconfig(t *testing.T) {
	home := atHome(t)
	c := connection.Choice{InstanceName: "default"}
	_, err := c.ReadKubeconfig()
	const never = `embedded management cluster "default" has no kubeconfig, since it was never started: start it with 'clusterctl-x management start --name default'`
	if diff := cmp.Diff(never, fmt.Sprint(err)); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	instance, err := embedded.Find(home, "default")
	if err != nil {
		t.Fatal(err)
	}
	created(t, instance)
	if data, err := c.ReadKubeconfig(); err != nil || len(data) != 0 {
		t.Errorf("got %q, %v", data, err)
	}
	all, err := connection.Instances()
	if diff := cmp.Diff([]embedded.Instance{instance}, all); diff != "" || err != nil {
		t.Errorf("instances: %v (-want +got):\n%s", err, diff)
	}
}

// TestStop: what never was, and what does not run, need no stop.
func TestStop(t *testing.T) {
	home := atHome(t)
	type stopped struct{ Started, Ran bool }
	c := connection.Choice{InstanceName: "default"}
	stop := func() stopped {
		t.Helper()
		_, started, ran, err := c.Stop(t.Context())
		if err != nil {
			t.Error(err)
		}
		return stopped{started, ran}
	}
	if diff := cmp.Diff(stopped{}, stop()); diff != "" {
		t.Errorf("never started (-want +got):\n%s", diff)
	}
	instance, err := embedded.Find(home, "default")
	if err != nil {
		t.Fatal(err)
	}
	created(t, instance)
	if diff := cmp.Diff(stopped{Started: true}, stop()); diff != "" {
		t.Errorf("not running (-want +got):\n%s", diff)
	}
}
