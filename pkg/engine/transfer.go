package engine

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// transfer are the groups that are detached and returned by steps that follow each
// other. They go together: whatever is half-way must not be looked at by Cluster API.
type transfer struct {
	groups []Transfer // without their objects
	end    int        // how many steps are taken then
}

// detaches reports whether the group leaves the topology.
func (g Transfer) detaches() bool { return g.Kind == plan.Detach }

// nextTransfer returns the groups that the next steps transfer, or none.
func (t *turn) nextTransfer() transfer {
	next := transfer{end: t.p.step}
	for _, step := range t.Plan.Steps[t.p.step:] {
		if !step.Transfers() {
			break
		}
		for _, group := range step.WorkerNodeGroups {
			next.groups = append(next.groups, Transfer{Group: group.Name, Kind: step.Kind})
		}
		next.end++
	}
	return next
}

// phase is where a transfer is. It follows from what the cluster is alone: stopped at
// any moment, a transfer is completed by beginning it again.
//
// Cluster API is paused meanwhile. It would delete a MachineDeployment that it owns and
// that its topology does not have, and make another one for an entry whose
// MachineDeployment it does not own. What it acts on may be a moment old, so that
// nothing goes on before it has seen the pause, and what was written under it.
type phase string

// Phases, in their order.
const (
	pausing      phase = "pausing"      // the Cluster is to be written, paused, with the entries as they are to be
	settling     phase = "settling"     // Cluster API is to see the pause
	transferring phase = "transferring" // objects of groups are to be given away
	following    phase = "following"    // Cluster API is to see whose they are
	unpausing    phase = "unpausing"    // the Cluster is to be written as it is to be afterwards
	complete     phase = "complete"
)

// phase returns where the transfer is in a cluster all of whose groups are there.
func (tr transfer) phase(c state.Cluster) phase {
	entries, owners, seen := true, true, true
	for _, group := range tr.groups {
		part, _ := c.Group(group.Group)
		entries = entries && c.InTopology(group.Group) != group.detaches()
		owners = owners && part.Detached == group.detaches()
		seen = seen && part.PauseSeen
	}
	switch {
	case entries && owners && !c.Paused:
		return complete
	case !entries || !c.Paused:
		return pausing
	case !c.Topology.PauseSeen:
		return settling
	case !owners:
		return transferring
	case !seen:
		return following
	}
	return unpausing
}

// obstacles say what keeps the transfer from going on.
func (tr transfer) obstacles(c state.Cluster) []string {
	var reasons []string
	for _, group := range tr.groups {
		if _, exists := c.Group(group.Group); !exists {
			reasons = append(reasons, "the MachineDeployment of group "+group.Group+" was deleted")
		}
	}
	if c.Paused && c.Pause == nil {
		reasons = append(reasons, "it was paused")
	}
	return reasons
}

// transferUnseen reports whether a run was stopped in a transfer that Cluster API has
// not fully seen. Writing the Cluster would end the pause too early.
func transferUnseen(c state.Cluster) bool {
	return c.Pause != nil && c.Topology != nil && (!c.Topology.PauseSeen ||
		slices.ContainsFunc(c.WorkerNodeGroups, func(p state.Part) bool { return !p.Unmanaged && !p.PauseSeen }))
}

// transfer continues a transfer. It reports whether the transfer is done.
func (t *turn) transfer(tr transfer) (bool, error) {
	if !t.p.seen(t.now) {
		return false, nil
	}
	if reasons := tr.obstacles(t.now); len(reasons) > 0 {
		return false, t.stale(reasons...)
	}
	desired := t.Desired[tr.end].Cluster
	switch tr.phase(t.now) {
	case complete:
		t.adopt(tr)
		return true, nil
	case pausing:
		t.do(tr.pause(desired))
	case transferring:
		for _, group := range tr.groups {
			if part, _ := t.now.Group(group.Group); part.Detached != group.detaches() {
				group.Object = part.Object
				t.do(group)
			}
		}
	case unpausing:
		for _, object := range desired {
			t.do(Apply{object, wholeCluster})
		}
	case settling, following:
	}
	return false, nil
}

// adopt writes the remaining objects of groups that were detached, and advances to the
// step after the transfer.
func (t *turn) adopt(tr transfer) {
	for _, group := range tr.groups {
		if group.detaches() {
			t.writePart(tr.end, group.Group)
		}
	}
	t.p.goTo(tr.end)
}

// pause returns the action that starts the transfer: the Cluster in its final state,
// paused.
func (tr transfer) pause(desired []*unstructured.Unstructured) Pause {
	p := Pause{Object: clusterOf(desired)}
	why := make([]string, len(tr.groups))
	for i, group := range tr.groups {
		why[i] = "return " + group.Group
		if group.detaches() {
			why[i] = "detach " + group.Group
			p.Drop = append(p.Drop, group.Group)
		}
	}
	p.Why = strings.Join(why, ", ")
	return p
}
