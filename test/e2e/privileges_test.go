package e2e_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLeastPrivileges takes a cluster through its life with no more than the
// privileges of config/rbac.
func TestLeastPrivileges(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "privileges")
	kubeconfig := accountKubeconfig(t, shared, namespace, "user")
	kubectl(t, shared, nil, "apply", "-f", "../../config/rbac/clusterctl-x.yaml")
	kubectl(t, shared, nil, "create", "clusterrolebinding", "clusterctl-x-user", "--clusterrole=clusterctl-x", "--serviceaccount="+namespace+":user")
	as := func(args ...string) {
		cli(t, 0, append(args, "-n", namespace, "--management", "kubeconfig", "--kubeconfig", kubeconfig)...)
	}
	file := specFile(t, "privileges", "1.34", "md-0")
	as("create", "cluster", "-f", file)
	as("describe", "cluster", "privileges")
	as("get", "clusters")
	as("get", "kubeconfig", "privileges")
	as("delete", "cluster", "privileges")
	assertNothingLeft(t, namespace, "ServiceAccount/user")
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
