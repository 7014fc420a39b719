//go:build real

package real_test

import (
	"slices"
	"testing"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// TestGroupBehindTheControlPlane gives a group that is two minors behind the control plane one
// machine more, and has one of its machines replaced: new machines have the version of the group.
func TestGroupBehindTheControlPlane(t *testing.T) {
	t.Parallel()
	const behind = "behind"
	c := cluster{
		name: "lagging", version: "1.36", groups: []group{{name: behind, version: "1.34"}},
		healthCheck: map[string]any{"unhealthyMachineTimeout": "30s", "maxUnhealthy": "100%"},
	}
	api := c.create(t)
	assertFacts(t, c, api)

	c.groups[0].count = 2
	upgradeAsPlanned(t, c)
	assertFacts(t, c, api)

	killed := c.machines(t, behind)[0].Name
	killMachine(t, killed)
	await(t, "the killed machine to be replaced", func() bool {
		machines := c.machines(t, behind)
		return len(machines) == 2 && !slices.ContainsFunc(machines, func(m clusterv1.Machine) bool { return m.Name == killed })
	})
	cli(t, 0, "watch", "cluster", c.name)
	assertFacts(t, c, api)
	c.delete(t)
}
