//go:build real

package real_test

import (
	"bytes"
	"cmp"
	"net"
	"slices"
	"testing"
)

// TestRebooted reboots the computer in the middle of an upgrade: everything on it is gone at the same
// time, and the machines that there were are started again, with the addresses that they had. The same
// command ends the upgrade.
func TestRebooted(t *testing.T) {
	t.Parallel()
	c := cluster{name: "rebooted", version: "1.35", groups: []group{{name: "moves"}, {name: "stays", version: "1.35"}}}
	api := c.create(t)

	c.version = "1.36"
	upgrade := []string{"upgrade", "cluster", "-f", c.file(t)}
	killAt(t, upgrade, "control-plane v1.36", "machines updated")
	machines := c.containersByAddress(t)
	for _, machine := range machines {
		killMachine(t, machine)
	}
	losePower(t, "default")
	if _, err := docker(t.Context(), nil, append([]string{"start"}, machines...)...); err != nil {
		t.Fatal(err)
	}
	t.Log(cli(t, 0, upgrade...).stderr)
	assertFacts(t, c, api)
	if left := planOf(t, c.file(t)); len(left.Steps) > 0 {
		t.Errorf("a plan of what has just been upgraded: %+v", left)
	}
	c.delete(t)
}

// containersByAddress returns the names of the containers of the cluster by their addresses. Docker
// gives these in the order in which containers are started.
func (c cluster) containersByAddress(t *testing.T) []string {
	t.Helper()
	names := c.sortedContainers(t)
	addresses := map[string]net.IP{}
	for _, name := range names {
		address, err := docker(t.Context(), nil, "inspect", "--format", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", name)
		if err != nil {
			t.Fatal(err)
		}
		addresses[name] = net.ParseIP(address)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(bytes.Compare(addresses[a], addresses[b]), cmp.Compare(a, b))
	})
	return names
}
