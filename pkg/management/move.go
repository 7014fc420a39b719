package management

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// move takes a step that Cluster API does not: it is about groups that its topology
// does not have. It is true when the next step may be taken.
func (f *follower) move(ctx context.Context, cluster state.Cluster) (bool, error) {
	before, end := f.step, f.step+1
	var on bool
	var err error
	if h := f.nextHandover(); len(h.groups) > 0 {
		end = h.end
		on, err = f.handOver(ctx, cluster, h)
	} else {
		on, err = f.moveGroups(ctx, cluster, f.Plan.Steps[f.step])
	}
	if err != nil || !on {
		return false, err
	}
	f.step = end
	f.begun = map[string]bool{}
	f.tellDone(ctx, cluster, before)
	return true, nil
}

// moveGroups takes a step about groups that are out of the topology and stay so.
func (f *follower) moveGroups(ctx context.Context, cluster state.Cluster, step plan.Step) (bool, error) {
	switch {
	case step.UnderWay:
		return step.Beside || step.Done(cluster), nil
	case f.Native:
		return f.moveNatively(ctx, cluster, step)
	case step.Beside && step.Kind == plan.Template:
		f.replacing.open = true
		return true, f.replaceBeside(ctx, cluster)
	case step.Beside:
		for _, group := range step.WorkerNodeGroups {
			if err := f.writePart(ctx, f.step+1, group.Name); err != nil {
				return false, err
			}
		}
		return true, nil
	}
	if err := f.undisturbedGroups(cluster, step); err != nil {
		return false, err
	}
	if err := f.take(ctx, cluster, step); err != nil {
		return false, err
	}
	return f.done(cluster, step), nil
}

// moveNatively has Cluster API take a step: all of it is in the Cluster.
func (f *follower) moveNatively(ctx context.Context, cluster state.Cluster, step plan.Step) (bool, error) {
	const written = wholeCluster
	if !f.begun[written] {
		f.begun[written] = true
		return step.Beside, f.writeAll(ctx, f.Stages[f.step+1].Cluster)
	}
	return cluster.Generation >= f.generations[wholeCluster] && step.Done(cluster), nil
}

// undisturbedGroups looks whether somebody else changes the versions of groups that
// a step moves.
func (f *follower) undisturbedGroups(cluster state.Cluster, step plan.Step) error {
	moved := &rollout.StalePlanError{Cluster: f.key.String()}
	for _, group := range step.WorkerNodeGroups {
		part, exists := cluster.Group(group.Name)
		if step.Kind == plan.Workers && (!exists || part.Version != group.From && part.Version != group.To) {
			moved.Reasons = append(moved.Reasons, fmt.Sprintf("somebody changed group %s: its version is %s, and the plan has %s", group.Name, part.Version, group.To))
		}
	}
	if len(moved.Reasons) > 0 {
		return moved
	}
	return nil
}

// handover are the groups that are detached and returned by steps that follow each
// other. They go together: whatever is half-way must not be looked at by Cluster
// API.
type handover struct {
	groups []handedGroup
	end    int // how many steps are taken then
}

type handedGroup struct {
	name string
	to   groupOwner
}

// out reports whether the group leaves the topology.
func (g handedGroup) out() bool { return g.to == ofSpec }

// nextHandover is what the next steps hand over; no groups where the next step is
// another one.
func (f *follower) nextHandover() handover {
	h := handover{end: f.step}
	for h.end < len(f.Plan.Steps) && slices.Contains([]plan.Kind{plan.Detach, plan.Return}, f.Plan.Steps[h.end].Kind) {
		step, to := f.Plan.Steps[h.end], ofTopology
		if step.Kind == plan.Detach {
			to = ofSpec
		}
		for _, group := range step.WorkerNodeGroups {
			h.groups = append(h.groups, handedGroup{group.Name, to})
		}
		h.end++
	}
	return h
}

// handOver takes groups out of the topology, and gives them back to it. It looks at
// the cluster only, and does what is left to be done: stopped at any moment, it is
// completed by beginning it again.
//
// Cluster API is paused meanwhile. It would delete a MachineDeployment that it owns
// and that its topology does not have, and make another one for an entry whose
// MachineDeployment it does not own. What it acts on may be a moment old, so that
// nothing goes on before it has seen the pause, and what was written under it.
func (f *follower) handOver(ctx context.Context, cluster state.Cluster, h handover) (bool, error) {
	if cluster.Generation < f.generations[wholeCluster] {
		return false, nil
	}
	moved := &rollout.StalePlanError{Cluster: f.key.String()}
	written, complete := true, true // of the entries, and of everything
	for _, group := range h.groups {
		part, exists := cluster.Group(group.name)
		if !exists {
			moved.Reasons = append(moved.Reasons, "somebody deleted the MachineDeployment of group "+group.name)
		}
		written = written && cluster.InTopology(group.name) != group.out()
		complete = complete && written && part.Detached == group.out()
	}
	if cluster.Paused && cluster.Pause == nil {
		moved.Reasons = append(moved.Reasons, "somebody paused it")
	}
	switch {
	case len(moved.Reasons) > 0:
		return false, moved
	case complete && !cluster.Paused:
		return true, f.adopt(ctx, h)
	case f.Native:
		return false, f.writeAll(ctx, f.Stages[h.end].Cluster)
	case !cluster.Paused || !written:
		return false, f.pause(ctx, h)
	case !cluster.Topology.PauseSeen:
		return false, nil
	}
	seen := true
	for _, group := range h.groups {
		part, _ := cluster.Group(group.name)
		if part.Detached != group.out() {
			if err := f.relabel(ctx, part, group.to); err != nil {
				return false, err
			}
		}
		seen = seen && part.Detached == group.out() && part.PauseSeen
	}
	if !seen {
		return false, nil
	}
	return false, f.writeAll(ctx, f.Stages[h.end].Cluster)
}

// adopt writes what else there is to write of groups that were taken out.
func (f *follower) adopt(ctx context.Context, h handover) error {
	for _, group := range h.groups {
		if !group.out() {
			continue
		}
		if err := f.writePart(ctx, h.end, group.name); err != nil {
			return err
		}
	}
	return nil
}

// pause writes the Cluster as it is to be afterwards, and paused, with a mark that
// says why.
func (f *follower) pause(ctx context.Context, h handover) error {
	why := make([]string, len(h.groups))
	for i, group := range h.groups {
		why[i] = "return " + group.name
		if group.out() {
			why[i] = "detach " + group.name
		}
	}
	mark, err := json.Marshal(state.Pause{Why: strings.Join(why, ", "), By: identity(), Since: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(f.Stages[h.end].Cluster, func(object *unstructured.Unstructured) bool { return isKind(object, "Cluster") })
	paused := f.Stages[h.end].Cluster[i].DeepCopy()
	for _, f := range []struct {
		value any
		path  []string
	}{{true, []string{"spec", "paused"}}, {string(mark), []string{"metadata", "annotations", PauseAnnotation}}} {
		if err := unstructured.SetNestedField(paused.Object, f.value, f.path...); err != nil {
			return err
		}
	}
	if err := f.apply(ctx, paused); err != nil {
		return err
	}
	return f.dropEntries(ctx, h)
}
