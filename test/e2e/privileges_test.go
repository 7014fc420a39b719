package e2e_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestLeastPrivileges takes a cluster through its life, and makes it again under its name,
// with no more than the privileges of config/rbac.
func TestLeastPrivileges(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "privileges")
	kubeconfig := accountKubeconfig(t, shared, namespace, "user")
	kubectl(t, shared, []byte(cli(t, 0, "generate", "rbac").stdout), "apply", "-f", "-")
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
	const want = `
error: cluster privileges/again exists and does not match the file; 'create' does not change existing clusters: 'upgrade cluster' does, and 'plan upgrade' shows what
  MachineDeployment/again-md-0 spec.template.spec.version: v1.32.13 -> v1.33.13
`
	if r := as(3, "create", "cluster", "-f", specFile(t, "again", "1.34", "md-0=1.33")); !strings.HasSuffix(r.stderr, want) {
		t.Errorf("create of what differs says %q, want the end %q", r.stderr, want)
	}

	before := authority(t, namespace, "again")
	as(0, "delete", "cluster", "-f", file)
	assertNothingLeft(t, namespace, "ServiceAccount/user")
	if got, want := as(0, "delete", "cluster", "again").stdout, "cluster privileges/again does not exist; nothing to do\n"; got != want {
		t.Errorf("delete again said %q, want %q", got, want)
	}
	as(0, "create", "cluster", "-f", file, "--wait=false")
	until(t, "the new cluster has a key", func(context.Context) bool { return authority(t, namespace, "again") != "" })
	if before == "" || authority(t, namespace, "again") == before {
		t.Error("the new cluster has the key of the old one")
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
