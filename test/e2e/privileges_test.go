package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// TestLeastPrivileges takes a cluster through its life, and makes it again under its name,
// with no more than the privileges of 'generate rbac'.
func TestLeastPrivileges(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "privileges")
	kubeconfig := accountKubeconfig(t, shared, namespace, "user")
	kubectl(t, shared, []byte(cli(t, 0, "generate", "rbac").stdout), "apply", "--server-side", "-f", "-")
	kubectl(t, shared, nil, "create", "clusterrolebinding", "clusterctl-x-user", "--clusterrole=clusterctl-x", "--serviceaccount="+namespace+":user")
	as := func(code int, args ...string) result {
		t.Helper()
		return cli(t, code, append(args, "-n", namespace, "--management", "kubeconfig", "--kubeconfig", kubeconfig)...)
	}
	file := specFile(t, "again", "1.34", "md-0=1.32")
	as(0, "create", "cluster", "-f", file)
	as(0, "describe", "cluster", "again")
	as(0, "get", "clusters")
	as(0, "get", "kubeconfig", "again")
	t.Run("read-only", func(t *testing.T) { testReadOnlyUser(t, namespace, file) })
	const want = `
error: cluster privileges/again exists and does not match the file; 'create' does not change existing clusters: 'upgrade cluster' does, and 'plan upgrade' shows what
  MachineDeployment/again-md-0 spec.template.spec.version: v1.32.13 -> v1.33.13
`
	if r := as(3, "create", "cluster", "-f", specFile(t, "again", "1.34", "md-0=1.33")); !strings.HasSuffix(r.stderr, want) {
		t.Errorf("create of what differs says %q, want the end %q", r.stderr, want)
	}

	before := authority(t, namespace, "again")
	as(0, "delete", "cluster", "-f", file)
	assertNothingLeft(t, namespace, "RoleBinding/clusterctl-x-plan", "RoleBinding/clusterctl-x-read-only", "ServiceAccount/reader", "ServiceAccount/user")
	if got, want := as(0, "delete", "cluster", "again").stdout, "cluster privileges/again does not exist; nothing to do\n"; got != want {
		t.Errorf("delete again said %q, want %q", got, want)
	}
	as(0, "create", "cluster", "-f", file, "--wait=false")
	until(t, "the new cluster has a key", func(context.Context) bool { return authority(t, namespace, "again") != "" })
	if before == "" || authority(t, namespace, "again") == before {
		t.Error("the new cluster has the key of the old one")
	}
}

// testReadOnlyUser: a user without Secrets sees and plans as well as an administrator, and
// can write nothing.
func testReadOnlyUser(t *testing.T, namespace, file string) {
	kubeconfig := accountKubeconfig(t, shared, namespace, "reader")
	kubectl(t, shared, []byte(cli(t, 0, "generate", "rbac", "--read-only").stdout), "apply", "--server-side", "-f", "-")
	for _, role := range []string{"clusterctl-x-read-only", "clusterctl-x-plan"} {
		kubectl(t, shared, nil, "create", "rolebinding", role, "-n", namespace, "--clusterrole", role, "--serviceaccount="+namespace+":reader")
	}
	asReader := []string{"--management", "kubeconfig", "--kubeconfig", kubeconfig}
	tries := 0
	until(t, "the API server enforces the policy", func(ctx context.Context) bool {
		tries++
		args := []string{"--kubeconfig", kubeconfig, "label", "cluster", "again", "-n", namespace, fmt.Sprintf("try=%d", tries), "--overwrite"}
		r := execute(ctx, nil, everyone.environment(), everyone.kubectl, args...)
		return strings.Contains(r.stderr, "ClusterRole clusterctl-x-plan allows dry runs only")
	})
	before := everything(t, namespace)
	newer := specFile(t, "again", "1.35", "md-0=1.33")
	for _, test := range []struct {
		args []string
		// lacks is what it says to stderr where it is less exact than for an administrator.
		lacks string
	}{
		{args: []string{"get", "clusters", "-o", "json"}},
		{args: []string{"describe", "cluster", "again", "-o", "json"}},
		{args: []string{"history", "cluster", "again", "-o", "json"}},
		{args: []string{"plan", "upgrade", "-f", file}},
		{
			args:  []string{"plan", "upgrade", "-f", newer},
			lacks: "warning: PodDisruptionBudgets were not checked: the kubeconfig of cluster privileges/again is in a Secret, and you may read none\n",
		},
		{args: []string{"diff", "-f", newer}},
	} {
		args := append(test.args, "-n", namespace, "--quiet")
		want := everyone.run(t.Context(), nil, args...)
		want.stderr += test.lacks
		got := everyone.run(t.Context(), nil, append(args, asReader...)...)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(result{})); diff != "" || want.code > 1 {
			t.Errorf("%s (-administrator +reader):\n%s", test.args, diff)
		}
	}
	watched := cli(t, 0, append([]string{"watch", "cluster", "again", "-n", namespace, "--quiet"}, asReader...)...)
	want := regexp.MustCompile(`^cluster privileges/again is at v1\.34\.4 and matches its spec, after \d+s\n$`)
	if !want.MatchString(watched.stdout) || watched.stderr != "" {
		t.Errorf("watch said %q and %q, want %s", watched.stdout, watched.stderr, want)
	}
	for _, test := range []struct {
		want string
		args []string
	}{
		{`secrets "again-kubeconfig" is forbidden`, []string{"get", "kubeconfig", "again"}},
		{"denied request: ClusterRole clusterctl-x-plan allows dry runs only", []string{"hold", "cluster", "again", "--before", "workers", "--reason", "test"}},
		{"privileges: the user of this kubeconfig may not get, create, patch secrets", []string{"upgrade", "cluster", "-f", newer}},
		{"secrets is forbidden", []string{"delete", "cluster", "again", "--timeout", "1m"}},
	} {
		if r := cli(t, 3, append(append(test.args, "-n", namespace, "--quiet"), asReader...)...); !strings.Contains(r.stderr, test.want) {
			t.Errorf("%s says %q, want %q", test.args, r.stderr, test.want)
		}
	}
	if diff := cmp.Diff(before, everything(t, namespace)); diff != "" {
		t.Errorf("objects (-before +after):\n%s", diff)
	}
}

// authority is the key of a cluster's certificate authority.
func authority(t *testing.T, namespace, cluster string) string {
	t.Helper()
	for _, secret := range list[corev1.Secret](t, shared, namespace, "secrets") {
		if secret.Name == cluster+"-ca" {
			return string(secret.Data["tls.key"])
		}
	}
	return ""
}

// accountKubeconfig writes a kubeconfig of a new account without privileges.
func accountKubeconfig(t *testing.T, instance, namespace, account string) string {
	t.Helper()
	kubectl(t, instance, nil, "create", "serviceaccount", account, "-n", namespace)
	token := kubectl(t, instance, nil, "create", "token", account, "-n", namespace)
	data, err := os.ReadFile(filepath.Join(everyone.home, "embedded", instance, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"set-credentials", account, "--token", token},
		{"set-context", "--current", "--user", account},
	} {
		args = append([]string{"--kubeconfig", kubeconfig, "config"}, args...)
		if r := execute(t.Context(), nil, everyone.environment(), everyone.kubectl, args...); r.code != 0 {
			t.Fatal(r.stderr)
		}
	}
	return kubeconfig
}
