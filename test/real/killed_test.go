//go:build real

package real_test

import "testing"

// TestControlPlaneMachineKilled kills one of three control plane machines in the middle of an
// upgrade. The upgrade says which one and goes on once the machine is deleted.
func TestControlPlaneMachineKilled(t *testing.T) {
	t.Parallel()
	c := cluster{name: "bereft", version: "1.34", controlPlanes: 3, groups: []group{{name: "stays", version: "1.34"}}}
	api := c.create(t)

	before := c.version
	c.version = "1.35"
	upgrade := start(t, "upgrade", "cluster", "-f", c.file(t))
	await(t, "the first new machine of the control plane", func() bool {
		machines := c.machinesAt(t, "control-plane", c.version)
		return len(machines) > 0 && machines[0].Status.NodeRef.IsDefined()
	})
	// The eldest are replaced first.
	old := c.machinesAt(t, "control-plane", before)
	killed := old[len(old)-1]
	killMachine(t, killed.Name)

	reason := "Container " + killed.Name + " is not running anymore"
	upgrade.line(t, reason)
	start(t, "watch", "cluster", c.name).line(t, reason)
	deleteMachine(t, killed)
	upgrade.waitFor(t, 0)
	assertFacts(t, c, api)
	if left := planOf(t, c.file(t)); len(left.Steps) > 0 {
		t.Errorf("a plan of what has just been upgraded: %+v", left)
	}
	c.delete(t)
}
