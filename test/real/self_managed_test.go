//go:build real

package real_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// itself is a cluster that manages itself: the example of EKS Anywhere's design, with the network
// plugin and the versions that the node images have.
type itself struct {
	managed
	cluster cluster
}

// newItself returns the example at a version; its group md-1 is at 1.34.
func newItself(t *testing.T, version string) itself {
	t.Helper()
	return itself{
		managed: managed{filepath.Join(t.TempDir(), "mgmt.kubeconfig")},
		cluster: cluster{name: "mgmt", version: version, groups: []group{{name: "md-0"}, {name: "md-1", version: "1.34"}}},
	}
}

// file writes the spec.
func (i itself) file(t *testing.T) string {
	t.Helper()
	example, err := os.ReadFile("../testdata/eks-a-modular-upgrades.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("cilium: {}", "kindnetd: {}", `"1.26"`, `"`+i.cluster.version+`"`, `"1.25"`, `"1.34"`).Replace(string(example))
	path := filepath.Join(t.TempDir(), "mgmt.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// creation is the command that creates it.
func (i itself) creation(t *testing.T) []string {
	t.Helper()
	return []string{"create", "cluster", "-f", i.file(t), "--components", componentsFolder(t), "--with", "infrastructure-docker=v1.14.0", "--write-kubeconfig", i.kubeconfig}
}

// prepare gives the machines that it gets the images of the components.
func (i itself) prepare(t *testing.T) {
	t.Helper()
	t.Cleanup(func() { i.cluster.removeLeftovers(t) })
	i.cluster.bringComponents(t)
}

// machines returns the names of its machines, with their versions.
func (i itself) machines(t *testing.T) []string {
	t.Helper()
	r := execute(t.Context(), suite.environment(), suite.kubectl, "--kubeconfig", i.kubeconfig, "get", "machines", "--output", `jsonpath={range .items[*]}{.metadata.name} {.spec.version}{"\n"}{end}`)
	if r.code != 0 {
		t.Fatalf("kubectl get machines: %s", r.stderr)
	}
	lines := slices.Sorted(strings.Lines(r.stdout))
	return lines
}

// assertVersions fails unless the machines are these: PART MINOR.
func (i itself) assertVersions(t *testing.T, want ...string) {
	t.Helper()
	var versions []string
	for _, line := range i.machines(t) {
		_, version, _ := strings.Cut(line, " ")
		versions = append(versions, i.cluster.partOf(line)+" "+version[:len("v1.35")])
	}
	slices.Sort(versions)
	if diff := cmp.Diff(want, versions); diff != "" {
		t.Errorf("machines after the upgrade (-want +got):\n%s", diff)
	}
}

// assertGone fails where a container of the cluster is left, or its bootstrap.
func (i itself) assertGone(t *testing.T) {
	t.Helper()
	left, err := i.cluster.containers(t.Context())
	if err != nil || len(left) > 0 {
		t.Errorf("left in Docker: %v, %v", left, err)
	}
	i.assertNoBootstrap(t)
}

func (i itself) assertNoBootstrap(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(embeddedDir(i.bootstrap())); !os.IsNotExist(err) {
		t.Errorf("the bootstrap is left: %v", err)
	}
}

// TestSelfManaged creates a cluster that manages itself, upgrades it by one minor while a group
// stays, creates another cluster from it and deletes that, and deletes the cluster itself.
func TestSelfManaged(t *testing.T) {
	t.Parallel()
	i := newItself(t, "1.35")
	i.prepare(t)
	created := cli(t, 0, i.creation(t)...)
	t.Log(created.stderr, created.stdout)
	i.assertNoBootstrap(t)
	again := cli(t, 0, i.creation(t)...)
	if want := "cluster default/mgmt exists and manages itself; nothing to do\n"; again.stdout != want {
		t.Errorf("a second time: %q, want %q", again.stdout, want)
	}

	i.cluster.version = "1.36"
	upgraded := i.run(t, 0, "upgrade", "cluster", "-f", i.file(t))
	t.Log(upgraded.stderr, upgraded.stdout)
	i.assertVersions(t, "control-plane v1.36", "md-0 v1.36", "md-1 v1.34")

	other := cluster{name: "other", version: "1.36", groups: []group{{name: "md-0"}}}
	t.Cleanup(func() { other.removeLeftovers(t) })
	i.run(t, 0, "create", "cluster", "-f", other.file(t))
	refused := i.run(t, 3, "delete", "cluster", "mgmt")
	if want := "cluster default/mgmt is the management cluster of default/other"; !strings.Contains(refused.stderr, want) {
		t.Errorf("the deletion of a cluster that manages another: %q, want %q", refused.stderr, want)
	}
	i.run(t, 0, "delete", "cluster", "other")
	deleted := i.run(t, 0, "delete", "cluster", "mgmt")
	t.Log(deleted.stderr, deleted.stdout)
	i.assertGone(t)
}

// TestSelfManagedKilled kills the creation, the upgrade and the deletion of a cluster that manages
// itself at their steps, and the bootstrap between two of them. The same command completes them,
// and no machine is replaced but by the upgrade.
func TestSelfManagedKilled(t *testing.T) {
	t.Parallel()
	i := newItself(t, "1.35")
	i.prepare(t)
	for _, step := range []string{
		"which is starting",          // the bootstrap starts
		"objects created",            // its objects are there
		"waiting for Deployment",     // Cluster API is being installed
		"moving cluster",             // and the cluster moved
		"management cluster: kubeco", // or about to be
	} {
		killAt(t, i.creation(t), step)
		i.losePower(t)
	}
	before := i.cluster.sortedContainers(t)
	created := cli(t, 0, i.creation(t)...)
	t.Log(created.stderr, created.stdout)
	i.assertNoBootstrap(t)
	if diff := cmp.Diff(before, i.cluster.sortedContainers(t)); diff != "" {
		t.Errorf("machines (-before +after):\n%s", diff)
	}

	i.cluster.version = "1.36"
	upgrade := i.args("upgrade", "cluster", "-f", i.file(t))
	for _, step := range []string{"In all:", "machines updated"} { // the plan is shown, and a machine made
		killAt(t, upgrade, step)
	}
	upgraded := cli(t, 0, upgrade...)
	t.Log(upgraded.stderr, upgraded.stdout)
	i.assertVersions(t, "control-plane v1.36", "md-0 v1.36", "md-1 v1.34")

	deletion := i.args("delete", "cluster", "mgmt")
	for _, step := range []string{"which is starting", "moving cluster", "machines left"} {
		killAt(t, deletion, step)
		i.losePower(t)
	}
	deleted := cli(t, 0, deletion...)
	t.Log(deleted.stderr, deleted.stdout)
	i.assertGone(t)
}

// losePower kills all processes of the bootstrap.
func (i itself) losePower(t *testing.T) {
	t.Helper()
	losePower(t, i.bootstrap())
}

// bootstrap is the name of the bootstrap.
func (i itself) bootstrap() string { return "bootstrap-" + i.cluster.name }
