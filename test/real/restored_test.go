//go:build real

package real_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRestored saves a cluster, loses its management cluster, and restores the cluster into another
// one: its machines stay, it serves all the time with the keys that it had, and is upgraded from
// there.
func TestRestored(t *testing.T) {
	t.Parallel()
	const lost, found = "lost", "found"
	c := cluster{name: "restored", version: "1.35", groups: []group{{name: "moves"}, {name: "stays", version: "1.35"}}}
	t.Cleanup(func() { c.removeLeftovers(t) })
	on := func(instance string, args ...string) []string { return append(args, "--name", instance) }
	cli(t, 0, on(lost, "create", "cluster", "-f", c.file(t))...)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	cli(t, 0, on(lost, "get", "kubeconfig", c.name, "--to", kubeconfig)...)
	api := clientOf(t, kubeconfig)
	before := c.sortedContainers(t)
	w := startWorkload(t, c, api, "stays")

	backup := filepath.Join(t.TempDir(), "backup")
	t.Log(cli(t, 0, on(lost, "backup", "management", "--to", backup)...).stdout)
	refused := cli(t, 3, on(lost, "management", "stop", "--remove")...)
	t.Log(refused.stderr)
	lose(t, lost)
	t.Log(cli(t, 0, on(found, "restore", "management", "--from", backup)...).stdout)
	t.Log(cli(t, 0, on(found, "watch", "cluster", c.name)...).stdout)
	if diff := cmp.Diff(before, c.sortedContainers(t)); diff != "" {
		t.Errorf("machines after the restore (-before +after):\n%s", diff)
	}
	assertFacts(t, c, api)

	c.version = "1.36"
	cli(t, 0, on(found, "upgrade", "cluster", "-f", c.file(t))...)
	assertFacts(t, c, api)
	w.finish(t).assertServed(t)
	cli(t, 0, on(found, "delete", "cluster", c.name)...)
	cli(t, 0, on(found, "management", "stop", "--remove")...)
	if left := c.sortedContainers(t); len(left) > 0 {
		t.Errorf("left in Docker: %s", left)
	}
}
