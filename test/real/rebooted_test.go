//go:build real

package real_test

import (
	"testing"
)

// TestRebooted reboots the computer in the middle of an upgrade: everything on it is gone at the same
// time, and the Docker Engine starts the machines that there were. The same command ends the upgrade.
func TestRebooted(t *testing.T) {
	t.Parallel()
	c := cluster{name: "rebooted", version: "1.35", groups: []group{{name: "moves"}, {name: "stays", version: "1.35"}}}
	api := c.create(t)

	c.version = "1.36"
	upgrade := []string{"upgrade", "cluster", "-f", c.file(t)}
	killAt(t, upgrade, "control-plane v1.36", "machines updated")
	machines := c.sortedContainers(t)
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
