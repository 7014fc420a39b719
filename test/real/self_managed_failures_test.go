//go:build real

package real_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSelfManagedPastFailures creates a cluster that manages itself where images cannot be pulled,
// and then the disks are full. Each is said in the words of the kubelet, and after the mend the same
// command goes on; a second one at the same time is refused. The deletion loses its bootstrap during
// the move back.
func TestSelfManagedPastFailures(t *testing.T) {
	t.Parallel()
	i := newItself(t, "1.35")
	t.Cleanup(func() { i.cluster.removeLeftovers(t) })
	hideRegistry(t, i.cluster, "quay.io")
	creation := i.creation(t)
	first := start(t, creation...)
	first.line(t, "waiting for Deployment cert-manager/", "failed to pull and unpack image")
	second := cli(t, 4, creation...)
	if want := "works on cluster default/mgmt"; !strings.Contains(second.stderr, want) {
		t.Errorf("a second creation: %q, want %q", second.stderr, want)
	}
	first.kill(t)

	machines := i.cluster.sortedContainers(t)
	i.cluster.evictBelow(t, "99%")
	killAt(t, creation, "waiting for ", "kubelet has disk pressure")
	i.cluster.evictBelow(t, "0%")
	i.cluster.bringComponents(t)
	cli(t, 0, creation...)
	i.assertNoBootstrap(t)
	if diff := cmp.Diff(machines, i.cluster.sortedContainers(t)); diff != "" {
		t.Errorf("machines (-before +after):\n%s", diff)
	}

	deletion := i.args("delete", "cluster", i.cluster.name)
	killAt(t, deletion, "moving cluster")
	lose(t, i.bootstrap())
	cli(t, 0, deletion...)
	i.assertGone(t)
}

// hideRegistry keeps the machines of a cluster, also later ones, from a registry.
func hideRegistry(t *testing.T, c cluster, host string) {
	t.Helper()
	c.onEachMachine(t, func(ctx context.Context, machine string) error {
		_, err := docker(ctx, nil, "exec", machine, "sh", "-c", "echo 127.0.0.1 "+host+" >>/etc/hosts")
		return err
	})
}

// evictBelow has the kubelets of a cluster take their disks for full below this much free space.
func (c cluster) evictBelow(t *testing.T, free string) {
	t.Helper()
	for _, machine := range c.sortedContainers(t) {
		if machine == c.name+"-lb" {
			continue
		}
		const file = "/var/lib/kubelet/kubeadm-flags.env"
		if _, err := docker(t.Context(), nil, "exec", machine, "sh", "-c", "sed -Ei 's/(nodefs.available<)[0-9]+%/\\1"+free+"/' "+file+" && systemctl restart kubelet"); err != nil {
			t.Fatal(err)
		}
	}
}
