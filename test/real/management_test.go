//go:build real

package real_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// managed is a management cluster of real machines. Its clusters have simulated ones.
type managed struct{ kubeconfig string }

// run runs clusterctl-x for the management cluster.
func (m managed) run(t *testing.T, code int, args ...string) result {
	t.Helper()
	return cli(t, code, m.args(args...)...)
}

func (m managed) args(args ...string) []string {
	return append(args, "--management", "kubeconfig", "--kubeconfig", m.kubeconfig)
}

// spec writes the spec of a cluster of simulated machines.
func (m managed) spec(t *testing.T, name, version string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".yaml")
	text := fmt.Sprintf(`apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata:
  name: %[1]s
spec:
  kubernetesVersion: "%[2]s"
  controlPlaneConfiguration: {count: 1}
  workerNodeGroupConfigurations: [{name: md-0, count: 2}]
  clusterNetwork:
    pods: {cidrBlocks: [192.168.0.0/16]}
    services: {cidrBlocks: [10.96.0.0/12]}
  datacenterRef: {kind: InMemoryDatacenterConfig, name: %[1]s}
`, name, version)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// names returns the names of the objects of a kind, of all clusters, sorted.
func (m managed) names(t *testing.T, kind string) []string {
	t.Helper()
	r := execute(t.Context(), suite.environment(), suite.kubectl, "--kubeconfig", m.kubeconfig, "get", kind, "--all-namespaces", "--output", "name")
	if r.code != 0 {
		t.Fatalf("kubectl get %s: %s", kind, r.stderr)
	}
	names := strings.Fields(r.stdout)
	slices.Sort(names)
	return names
}

// TestManagementUpgrade installs Cluster API into a cluster of real machines, and upgrades it to
// the newest patch while three clusters are upgraded: it waits for them, and replaces no machine.
func TestManagementUpgrade(t *testing.T) {
	t.Parallel()
	c := cluster{name: "manager", version: "1.35", groups: []group{{name: "md-0"}}}
	c.create(t)
	c.bringComponents(t)
	m := managed{filepath.Join(t.TempDir(), "kubeconfig")}
	cli(t, 0, "get", "kubeconfig", c.name, "--to", m.kubeconfig)
	from := []string{"--components", componentsFolder(t)}

	installed := m.run(t, 0, append([]string{"management", "init", "--with", "infrastructure-docker=v1.14.0"}, from...)...)
	t.Log(installed.stdout)
	m.assertVersions(t, "v1.14.0", append([]string{"--cluster-api-version", "v1.14.0", "--with", "infrastructure-docker=v1.14.0"}, from...))
	again := m.run(t, 0, append([]string{"management", "init"}, from...)...)
	if want := "the components of the management cluster are as wanted; nothing to do\n"; again.stdout != want {
		t.Errorf("a second time: %q, want %q", again.stdout, want)
	}

	names := []string{"one", "two", "three"}
	var creations, upgrades []*running
	for _, name := range names {
		creations = append(creations, start(t, m.args("create", "cluster", "-f", m.spec(t, name, "1.34"))...))
	}
	for _, creation := range creations {
		creation.waitFor(t, 0)
	}
	for _, name := range names {
		upgrades = append(upgrades, start(t, m.args("upgrade", "cluster", "-f", m.spec(t, name, "1.35"))...))
	}
	for _, upgrade := range upgrades {
		upgrade.line(t, "step 1 of")
	}
	to := append([]string{"--cluster-api-version", "v1.14.2"}, from...)
	t.Log(m.run(t, 0, append([]string{"plan", "management", "upgrade"}, to...)...).stdout)
	upgraded := start(t, m.args(append([]string{"management", "upgrade"}, to...)...)...)
	upgraded.line(t, "waiting for cluster default/")
	for _, upgrade := range upgrades {
		upgrade.waitFor(t, 0)
	}
	machines := m.names(t, "machines")
	upgraded.waitFor(t, 0)
	t.Log(upgraded.stderr.String())

	m.assertVersions(t, "v1.14.2", to)
	for _, name := range names {
		m.run(t, 0, "upgrade", "cluster", "-f", m.spec(t, name, "1.35"))
	}
	if diff := cmp.Diff(machines, m.names(t, "machines")); diff != "" {
		t.Errorf("machines after the upgrade of the management cluster (-before +after):\n%s", diff)
	}
	for _, name := range names {
		m.run(t, 0, "delete", "cluster", name)
	}
	c.delete(t)
}

// assertVersions compares what a plan says of the components with what is wanted.
func (m managed) assertVersions(t *testing.T, version string, flags []string) {
	t.Helper()
	type component struct{ Name, From, To string }
	var want, got struct{ Data []component }
	for _, name := range []string{"cluster-api", "bootstrap-kubeadm", "control-plane-kubeadm", "infrastructure-docker"} {
		want.Data = append(want.Data, component{name, version, version})
	}
	planned := m.run(t, 0, append([]string{"plan", "management", "upgrade", "-o", "json"}, flags...)...)
	if err := json.Unmarshal([]byte(planned.stdout), &got); err != nil {
		t.Fatalf("%v: %s", err, planned.stdout)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("components (-want +got):\n%s", diff)
	}
}
