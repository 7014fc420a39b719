package engine

import (
	"fmt"
	"maps"
	"slices"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// direct has clusterctl-x itself take each step: it writes the parts one after the
// other.
type direct struct{}

// begin writes the concurrent steps.
func (direct) begin(t *turn) {
	for _, object := range t.Desired[0].All() {
		t.p.last[changes.ObjectName(object)] = object
	}
	for _, step := range t.Plan.Steps {
		for _, group := range step.WorkerNodeGroups {
			t.p.scaled[group.Name] = t.p.scaled[group.Name] || step.Concurrent && group.Scales()
		}
	}
	t.queueReplacements(func(plan.Step) bool { return true })
	t.p.replacements.open = true
	t.p.replacements.next(t.Concurrency)
	begun := map[string]bool{}
	for _, step := range t.Plan.Steps {
		if step.Concurrent {
			t.beginConcurrent(step, begun)
		}
	}
}

// beginConcurrent writes the changes of a concurrent step, for the parts that were not
// started.
func (t *turn) beginConcurrent(step plan.Step, begun map[string]bool) {
	if len(step.WorkerNodeGroups) == 0 {
		t.writeAll(wholeCluster, t.Desired[0].Cluster)
		t.writePart(0, v1alpha1.ControlPlaneName)
	}
	for _, group := range step.WorkerNodeGroups {
		if begun[group.Name] || step.Kind == plan.Template && slices.Contains(t.p.replacements.queue, group.Name) {
			continue // its count changes too, or its turn comes later
		}
		begun[group.Name] = true
		t.writePart(0, group.Name)
	}
}

// disturbed looks at all parts that the upgrade is about.
func (direct) disturbed(t *turn) []string {
	if t.p.step == len(t.Plan.Steps) {
		return nil
	}
	about := []string{v1alpha1.ControlPlaneName}
	for name := range t.Plan.Versions(t.p.step).WorkerNodeGroups {
		if len(t.Groups) == 0 || slices.Contains(t.Groups, name) { // another run may be at work on others
			about = append(about, name)
		}
	}
	return t.changedVersions(about)
}

// changedVersions returns the parts whose version is neither the one before the present
// step nor the one after it: someone else changed them.
func (t *turn) changedVersions(parts []string) []string {
	before, after := t.Plan.Versions(t.p.step), t.Plan.Versions(t.p.step+1)
	var reasons []string
	check := func(part state.Part, allowed ...v1alpha1.Version) {
		if !slices.Contains(allowed, part.Version) {
			t.changedParts = append(t.changedParts, part.Object)
			reasons = append(reasons, fmt.Sprintf("%s was changed by someone else: its version is %s, and the plan has %s", part.Object, part.Version, allowed[len(allowed)-1]))
		}
	}
	for _, name := range parts {
		if name == v1alpha1.ControlPlaneName {
			check(t.now.ControlPlane, before.ControlPlane, after.ControlPlane)
			continue
		}
		part, exists := t.now.Group(name)
		next, stays := after.WorkerNodeGroups[name]
		switch {
		case exists && stays:
			check(part, before.WorkerNodeGroups[name], next)
		case !exists && stays:
			reasons = append(reasons, "the MachineDeployment of group "+name+" was deleted")
		}
	}
	slices.Sort(reasons)
	return reasons
}

func (direct) take(t *turn) (bool, error) {
	step := t.step()
	if step.Concurrent { // is begun
		t.p.goTo(t.p.step + 1)
		return true, nil
	}
	if waits, err := t.waitsBefore(t.p.step, t.p.step+1); waits || err != nil {
		return false, err
	}
	return t.takeDirectly()
}

// takeDirectly continues the present step by writing its parts.
func (t *turn) takeDirectly() (bool, error) {
	if err := t.writeStep(t.step()); err != nil || t.again || !t.stepDone(t.step()) {
		return false, err
	}
	t.p.goTo(t.p.step + 1)
	return true, nil
}

// writeStep writes what the step may write at this state of the cluster.
func (t *turn) writeStep(step plan.Step) error {
	switch {
	case step.UnderWay:
		return nil
	case step.Moves(v1alpha1.ControlPlaneName):
		return t.writeControlPlane(step)
	}
	moving, bounded := t.moving(step), step.Kind == plan.Workers || step.Kind == plan.Template
	for _, group := range step.WorkerNodeGroups {
		part, exists := t.now.Group(group.Name)
		if bounded && moving >= t.Concurrency {
			return nil
		}
		if t.p.begun[group.Name] || group.UnderWay || t.p.scaled[group.Name] && exists && !t.p.settled(part) {
			continue
		}
		t.p.begun[group.Name] = true
		moving++
		if err := t.writeGroup(step, group, part); err != nil {
			return err
		}
	}
	return nil
}

// moving counts the groups of a step that were begun and are not done.
func (t *turn) moving(step plan.Step) int {
	moving := 0
	for _, group := range step.WorkerNodeGroups {
		part, _ := t.now.Group(group.Name)
		if (t.p.begun[group.Name] || group.UnderWay) && (part.Generation < t.p.generations[group.Name] || !step.GroupDone(t.now, group.Name)) {
			moving++
		}
	}
	return moving
}

// writeGroup takes one group through a step; part is empty if the group does not exist
// yet.
func (t *turn) writeGroup(step plan.Step, group plan.Group, part state.Part) error {
	switch {
	case step.Kind == plan.Workers && group.To.Before(group.From) && part.Ready() > 0:
		return t.stale(fmt.Sprintf("a machine of group %s became ready at %s, so it cannot go back to %s", group.Name, part.Version, group.To))
	case step.Kind != plan.RemoveWorkers:
		t.writePart(t.p.step+1, group.Name)
	case part.Object != "":
		t.write(Remove{part.Object})
	}
	return nil
}

// writeControlPlane writes the control plane first: everything else that its step
// changes only matters to machines made afterwards.
func (t *turn) writeControlPlane(step plan.Step) error {
	const name = v1alpha1.ControlPlaneName
	if t.p.begun[name] {
		return nil
	}
	if reasons := step.LeavesBehind(t.now, t.Policy); len(reasons) > 0 {
		return t.stale(reasons...)
	}
	t.p.begun[name] = true
	t.writePart(t.p.step+1, name)
	desired := t.Desired[t.p.step+1]
	t.writeChanged(wholeCluster, desired.Cluster)
	for _, group := range t.Plan.Groups() {
		t.writeChanged(group, desired.Parts[group])
	}
	t.annotateOthers(desired)
	return nil
}

// annotateOthers lets groups outside of the upgrade get new machines while the control
// plane is at its next version. It writes nothing else of them.
func (t *turn) annotateOthers(desired Objects) {
	const key = clusterv1.MachineSetSkipPreflightChecksAnnotation
	for _, group := range slices.Sorted(maps.Keys(desired.Others)) {
		for _, object := range desired.Others[group] {
			if value, wanted := object.GetAnnotations()[key]; wanted && changes.IsKind(object, "MachineDeployment") {
				t.write(Annotate{object, key, value})
			}
		}
	}
}

// stepDone reports whether the step has come to its end, as it was written.
func (t *turn) stepDone(step plan.Step) bool {
	for _, name := range step.Parts() {
		part, exists := t.now.Part(name)
		if exists && part.Generation < t.p.generations[name] || !step.UnderWay && !step.Group(name).UnderWay && !t.p.begun[name] {
			return false
		}
	}
	return step.Done(t.now)
}

func (direct) arrived(t *turn) bool { return !t.waitsAtHold() && t.p.allSettled(t.now) }
