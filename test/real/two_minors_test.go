//go:build real

package real_test

import (
	"testing"
	"time"
)

// failOver is how long the load balancer of Cluster API may send requests to a machine that is
// gone: three health checks, two seconds apart, and the timeout of the client that waits for
// an answer.
const failOver = 3*2*time.Second + requestTimeout

// TestUpgradeOverTwoMinors upgrades three control plane machines and a group by two minors with
// one command, while another group stays where it is, and a workload watches.
func TestUpgradeOverTwoMinors(t *testing.T) {
	t.Parallel()
	c := cluster{name: "two", version: "1.34", controlPlanes: 3, groups: []group{{name: "moves"}, {name: "stays", version: "1.34"}}}
	api := c.create(t)
	assertFacts(t, c, api)
	w := startWorkload(t, c, api, "stays")

	c.version = "1.36"
	upgradeAsPlanned(t, c)
	assertFacts(t, c, api)
	lost := w.finish(t)
	lost.assertServed(t)
	lost.assertFailedOver(t)
	c.logMemory(t)

	c.delete(t)
}

// assertFailedOver fails if the API server did not answer for longer than the load balancer
// needs to take another machine.
func (l lost) assertFailedOver(t *testing.T) {
	t.Helper()
	if outage := l.outside.longest(gap); l.outside.Requests == 0 || outage > failOver {
		t.Errorf("the API server through the load balancer: %d requests, and an outage of %s, longer than %s", l.outside.Requests, outage, failOver)
	}
}
