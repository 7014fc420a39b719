package plan

import (
	"fmt"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// cluster is the name under which changes of the cluster as a whole stand.
const cluster = ""

// inPlace returns the changes that replace no machine: counts, and fields that
// Cluster API carries over to machines that run.
func (p *planner) inPlace() []Step {
	var steps []Step
	step := Step{Kind: InPlace, Concurrent: true, Reason: "replaces no machine"}
	step.Changes = p.in.Changes[cluster].ordered()
	if cp := v1alpha1.ControlPlaneName; !p.moves(cp) && !p.rollsOnly(cp) {
		step.Fields = append(step.Fields, p.in.Changes[cp].inPlace().Fields...)
		p.scale(&step)
	}
	if step.changeAnything() || step.MachinesAdded+step.MachinesRemoved > 0 {
		steps = append(steps, step)
	}
	groups := Step{Kind: InPlace, Concurrent: true, Reason: "replaces no machine"}
	for _, group := range p.in.Target.WorkerNodeGroups {
		if _, exists := p.in.Start.WorkerNodeGroups[group.Name]; !exists || p.changesWithVersion(group.Name) {
			continue
		}
		change := Group{Name: group.Name, Changes: p.in.Changes[group.Name].inPlace()}
		p.scaleGroup(&change, group)
		if change.changeAnything() || change.MachinesAdded+change.MachinesRemoved > 0 {
			groups.WorkerNodeGroups = append(groups.WorkerNodeGroups, change)
		}
	}
	return append(steps, p.split(groups)...)
}

// moves reports whether the part gets another version, so that its other changes
// can travel with it.
func (p *planner) moves(part string) bool {
	if part == v1alpha1.ControlPlaneName {
		return p.path.last() > 0
	}
	return len(p.rollouts[part]) > 0
}

// changesWithVersion reports whether Cluster API leaves a group alone until it gets its
// next version, so that all of its changes travel with that.
func (p *planner) changesWithVersion(group string) bool {
	return p.mover(group) == byTopology && p.moves(group)
}

// scaleGroup adds the machines by which a group grows or shrinks.
func (p *planner) scaleGroup(change *Group, group TargetGroup) {
	if now := p.in.Start.WorkerNodeGroups[group.Name].Machines; !group.Autoscaled {
		change.MachinesAdded, change.MachinesRemoved = max(0, group.Machines-now), max(0, now-group.Machines)
	}
}

// rollsOnly reports whether the part gets other machines without another version.
func (p *planner) rollsOnly(part string) bool {
	return !p.moves(part) && p.in.Changes[part].replacing().changeAnything()
}

// scale adds the machines by which the control plane grows or shrinks.
func (p *planner) scale(step *Step) {
	now, then := p.in.Start.ControlPlane.Machines, p.in.Target.ControlPlaneMachines
	step.MachinesAdded, step.MachinesRemoved = max(0, then-now), max(0, now-then)
}

// addChanges adds the other changes of the control plane to the first step that
// replaces its machines.
func (p *planner) addChanges(step *Step) {
	step.Changes = p.in.Changes[v1alpha1.ControlPlaneName].ordered()
	p.scale(step)
	step.MachinesReplaced = min(p.in.Start.ControlPlane.Machines, p.in.Target.ControlPlaneMachines)
}

// templates returns the groups that get other machines of the same version, and have
// no rollout under way.
func (p *planner) templates() []Step {
	step := p.templateStep(func(part Part) bool { return part.Outdated == 0 })
	step.Concurrent = true
	return p.split(step)
}

// templatesAfterRollouts returns the control plane, where it gets other machines of the
// same version, and the groups that do so when a rollout under way is done.
func (p *planner) templatesAfterRollouts() []Step {
	var steps []Step
	if cp := v1alpha1.ControlPlaneName; p.rollsOnly(cp) {
		version := p.in.Start.ControlPlane.Version
		// Cluster API replaces the machines of all parts at once, for a class.
		step := Step{Kind: Template, From: version, To: version, Reason: templateReason, Concurrent: p.in.TopologyPath != nil}
		p.addChanges(&step)
		steps = append(steps, step)
	}
	return append(steps, p.split(p.templateStep(func(part Part) bool { return part.Outdated > 0 }))...)
}

const templateReason = "same version; machines are replaced for these changes"

// together returns how many groups of a step get other machines at the same time, where that
// is not all of them or not for the policy of the cluster to say.
func (p *planner) together(step Step, by mover) string {
	most := max(1, p.in.Concurrency)
	switch {
	case len(step.WorkerNodeGroups) < 2:
		return ""
	case by == byTopology:
		return "; Cluster API starts all of these groups at the same time"
	case len(step.WorkerNodeGroups) <= most:
		return ""
	case most == 1:
		return "; one group after the other"
	}
	return fmt.Sprintf("; at most %d groups at the same time", most)
}

// templateStep returns a step for the chosen of the groups that get other machines of
// the same version.
func (p *planner) templateStep(chosen func(Part) bool) Step {
	step := Step{Kind: Template, Reason: templateReason}
	for _, group := range p.in.Target.WorkerNodeGroups {
		part, exists := p.in.Start.WorkerNodeGroups[group.Name]
		rolls := exists && p.rollsOnly(group.Name) && !part.GoesBack(group.Version)
		if !rolls || !chosen(part) {
			continue
		}
		step.WorkerNodeGroups = append(step.WorkerNodeGroups, Group{
			Name: group.Name, From: part.Version, To: part.Version,
			MachinesReplaced: p.machines(group), Approximate: group.Autoscaled, Changes: p.in.Changes[group.Name].replacing(),
		})
	}
	return step
}
