package state

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// Waiting names what is being waited for, the first thing first; it is empty
// when the cluster is done.
func (c Cluster) Waiting() string {
	if c.Ready() {
		return ""
	}
	if obstacle := c.Obstacle(); obstacle != "" {
		return obstacle
	}
	for _, part := range c.Parts() {
		if c.counts(part) && !part.Done() {
			return part.Waiting()
		}
	}
	if waits := c.topologyWaits(); waits != "" {
		return waits
	}
	if addOn, pending := c.pendingAddOn(); pending {
		return fmt.Sprintf("add-on %s: %s", addOn.Name, cmp.Or(addOn.Reason, "not applied yet"))
	}
	return ""
}

// Obstacle returns what holds up the cluster as a whole, whatever its parts do; empty
// without an obstacle.
func (c Cluster) Obstacle() string {
	switch {
	case c.Paused && c.Pause != nil:
		return c.Pause.Waiting()
	case c.Paused:
		return "the cluster is paused (spec.paused); Cluster API does nothing until it is resumed"
	case c.Deleting:
		return c.leaving()
	case c.Held != nil:
		return "the hold to be lifted: " + c.Held.String()
	case c.Infrastructure != "":
		return "infrastructure: " + c.Infrastructure
	case c.PutBack() != "":
		return "a fix of the topology: " + c.PutBack()
	case c.HealthWait != nil && len(c.HealthWait.Parts) > 0:
		part, _ := c.Part(c.HealthWait.Parts[0])
		return part.Waiting()
	}
	return ""
}

// leaving names the remains of a cluster that is being deleted. Workers go before the
// control plane.
func (c Cluster) leaving() string {
	for _, part := range slices.Backward(c.Parts()) {
		if len(part.Machines) > 0 {
			return part.Leaving()
		}
	}
	if len(c.Others) > 0 {
		return fmt.Sprintf("objects left that clusterctl-x did not make: %d; the first is %s", len(c.Others), c.Others[0].Object)
	}
	return "Cluster API to remove the cluster's last objects"
}

// Leaving names the remains of a part that is being removed.
func (p Part) Leaving() string {
	text := fmt.Sprintf("%s: machines left: %d", p.Name, len(p.Machines))
	m, ok := p.eldest(func(m Machine) bool { return m.Deleting })
	if !ok {
		m, ok = p.eldest(func(Machine) bool { return true })
	}
	if ok {
		text += "; " + m.is("")
	}
	return text
}

// Waiting names what the part waits for: how far it is, and the one thing that
// keeps it from going on.
func (p Part) Waiting() string {
	progress := p.Name + ": " + p.count(" at ", " to ")
	switch why := p.why(); {
	case why != "":
		return progress + "; " + why
	case len(p.Machines) == p.Replicas:
		return progress + "; Cluster API does not report it as available yet"
	}
	return progress
}

// Count returns the progress of the part: how many of the wanted machines it has, and
// how many are still to be removed. As long as there are old machines, it counts
// updated and serving machines separately.
func (p Part) Count() string { return p.count("", "") }

// count is Count followed by the part's version.
func (p Part) count(at, to string) string {
	if p.Version.IsZero() {
		at, to = "", ""
	}
	behind := func(word string) string {
		if word == "" {
			return ""
		}
		return word + p.Version.String()
	}
	as, old := min(p.Ready(), p.Replicas), p.ToReplace()
	surplus := len(p.Machines) - p.Replicas
	switch {
	case old > 0 && as == p.Replicas:
		return fmt.Sprintf("%d of %d machines updated%s, %d serving, %s still to be removed", as, p.Replicas, behind(to), p.Serving(), machines(old, "old "))
	case old > 0:
		return fmt.Sprintf("%d of %d machines updated%s, %d serving", as, p.Replicas, behind(to), p.Serving())
	case surplus > 0:
		return fmt.Sprintf("%d of %d machines ready%s, %s still to be removed", as, p.Replicas, behind(at), machines(surplus, ""))
	}
	return fmt.Sprintf("%d of %d machines ready%s", as, p.Replicas, behind(at))
}

func machines(n int, which string) string {
	if n == 1 {
		return "1 " + which + "machine"
	}
	return fmt.Sprintf("%d %smachines", n, which)
}

// why returns what holds up the part. A rollout has one machine after the other: it
// waits for one that goes, else for one that comes, else for whatever keeps the next
// one from being made. Healthy old machines are named if there is nothing else to say.
func (p Part) why() string {
	if m, ok := p.eldest(func(m Machine) bool { return m.Deleting }); ok {
		return m.waiting(p.Version)
	}
	if m, ok := p.eldest(func(m Machine) bool { return m.of(p.Version) && !m.ReadyAt(p.Version) }); ok {
		return m.waiting(p.Version)
	}
	if p.Paused {
		return p.Object + " is paused; Cluster API does nothing about it until it is resumed"
	}
	if p.Blocked {
		return p.Reason
	}
	// A control plane makes no machine while one of the old ones is not well.
	if m, ok := p.eldest(func(m Machine) bool { return !m.Ready }); ok {
		return m.waiting(p.Version)
	}
	if p.Reason != "" {
		return p.Reason
	}
	if m, ok := p.eldest(func(m Machine) bool { return !m.of(p.Version) }); ok {
		return m.waiting(p.Version)
	}
	return ""
}

// eldest is the machine that has been one of those for the longest time: of
// several, the one that is stuck.
func (p Part) eldest(one func(Machine) bool) (Machine, bool) {
	machines := slices.DeleteFunc(slices.Clone(p.Machines), func(m Machine) bool { return !one(m) })
	if len(machines) == 0 {
		return Machine{}, false
	}
	return slices.MinFunc(machines, func(a, b Machine) int { return a.Since.Compare(b.Since) }), true
}

// waiting says why the machine is not ready at the version.
func (m Machine) waiting(version v1alpha1.Version) string {
	switch {
	case m.Deleting:
		return m.is("")
	case m.Version != version && !m.Version.IsZero():
		return m.is(" at " + m.Version.String() + " and will be replaced")
	case !m.of(version):
		return m.is(" and will be replaced")
	case m.Kubelet != version && !m.Kubelet.IsZero():
		return m.is(" with its kubelet at " + m.Kubelet.String())
	case m.Phase == running && m.Ready:
		return m.is(", and its node does not report its version yet")
	case m.Phase == running && m.Reason == "":
		return m.is(" and not ready yet")
	}
	return m.is("")
}

// is says what the machine is at, and more about it, and why.
func (m Machine) is(more string) string {
	text := "machine " + m.Name + " is " + m.Phase + more
	if m.Reason != "" {
		text += ": " + m.Reason
	}
	if m.Failed == Failed && !m.Deleting {
		text += "; its bootstrap is not retried"
	}
	return text
}

// Stuck are the machines that failed for good, where nothing else happens to the cluster
// any more: each part is done, or has such a machine, or waits for a control plane that
// has, and that never came up.
func (c Cluster) Stuck() []string {
	if c.Deleting || c.Paused || c.Infrastructure != "" {
		return nil
	}
	var machines []string
	for _, part := range c.Parts() {
		failed := part.stuck()
		machines = append(machines, failed...)
		if len(failed) == 0 && !part.Unmanaged && !part.Done() && (c.ControlPlane.Serving() > 0 || len(c.ControlPlane.stuck()) == 0) {
			return nil
		}
	}
	return machines
}

// stuck are the machines of the part that failed for good.
func (p Part) stuck() []string {
	var names []string
	for _, m := range p.Machines {
		if m.Failed == Failed && !m.Deleting {
			names = append(names, m.Name)
		}
	}
	return names
}

// Phases of machines: running does not tell what a machine lacks.
const (
	running = "Running"
	failed  = "Failed"
)
