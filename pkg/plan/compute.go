package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// Compute returns the steps that take the cluster from where it is to its
// target:
//
//   - What is under way is finished first.
//   - The control plane goes minor by minor through the newest release of each.
//   - A worker node group has as few rollouts as possible; then there are as few
//     worker steps as possible; then each is as late as possible.
//   - New groups come as soon as their version may run, groups that are no longer
//     wanted go last, or when the skew policy makes them.
//
// The error is an *NoPlanError. A plan of its own result is empty.
func Compute(in Input) (Plan, error) {
	p, err := newPlanner(in)
	if err != nil {
		return Plan{}, err
	}
	if reasons := p.unreachable(); len(reasons) > 0 {
		return Plan{}, &NoPlanError{Reasons: reasons}
	}
	plan := Plan{
		APIVersion: v1alpha1.APIVersion, Kind: DocumentKind, Metadata: p.in.Metadata,
		From: p.in.Start.Versions(), To: p.in.Target.versions(), Steps: p.withoutReplacing(p.steps()), Notes: slices.Concat(p.notes(), p.inPlaceNotes()),
	}
	for _, step := range plan.Steps {
		plan.count(step)
	}
	return plan, nil
}

// steps returns the steps in the order in which they are carried out. Each phase
// depends on the planner alone and not on the phases before it.
func (p *planner) steps() []Step {
	steps := slices.Concat(
		// What waits for nothing begins at once. The run takes its own steps before
		// Cluster API gets its first.
		runFirst(slices.Concat(p.detach(), p.returnAtOnce(), p.inPlace(), p.templates())),
		// What an earlier run began is finished before anything that could follow it.
		p.underWay(),
		// Rollouts that brought no ready machine are called off before anything else moves.
		p.calledOff(),
		// Machines that are replaced at their version wait for a rollout under way of
		// their group; the control plane's are replaced before it moves.
		p.templatesAfterRollouts(),
		// The control plane goes along its path, with the worker node groups.
		p.upgrade(),
		// Groups go back to the topology when they have its version.
		p.returnAtTheEnd(),
	)
	return append([]Step{}, p.mergeUnderWay(steps)...) // an empty list, in JSON too
}

// upgrade returns the steps of the control plane, with those of worker node groups at
// each version that it passes.
func (p *planner) upgrade() []Step {
	var steps []Step
	for at := range p.path.versions {
		steps = append(steps, p.stepsAt(at)...)
		if at < p.path.last() {
			steps = append(steps, p.controlPlane(at))
		}
	}
	return steps
}

// planner has all that steps are made from. Nothing changes it once newPlanner has
// returned it.
type planner struct {
	in   Input
	path upgradePath
	// rollouts of each group of the target that exists already.
	rollouts map[string][]rollout
	// removals are the groups that are no longer wanted, sorted.
	removals []removal
	// inTopology are the groups that Cluster API upgrades with the topology.
	inTopology map[string]bool
}

// removal is a group that is removed while the control plane is at a position.
type removal struct {
	group string
	at    int
	// forced is true where the group would be too old at the next position.
	forced bool
}

func newPlanner(in Input) (*planner, error) {
	in, reasons := in.scoped()
	versions, err := in.controlPlanePath()
	if err != nil {
		reasons = append(reasons, err.Error())
	}
	if len(reasons) > 0 {
		return nil, &NoPlanError{Reasons: reasons}
	}
	p := &planner{in: in, path: upgradePath{versions: versions, nodes: nodeVersions(versions, in.Releases), policy: in.Policy}, inTopology: in.inTopology()}
	rollouts, impossible := p.schedule()
	if reasons := append(p.blocked(), impossible...); len(reasons) > 0 {
		return nil, &NoPlanError{Reasons: reasons}
	}
	p.rollouts, p.removals = rollouts, p.scheduleRemovals()
	return p, nil
}

// Versions returns those that are specified.
func (s Start) Versions() v1alpha1.ClusterVersions {
	versions := v1alpha1.ClusterVersions{ControlPlane: s.ControlPlane.Version, WorkerNodeGroups: map[string]v1alpha1.Version{}}
	for name, group := range s.WorkerNodeGroups {
		versions.WorkerNodeGroups[name] = group.Version
	}
	return versions
}

func (t Target) versions() v1alpha1.ClusterVersions {
	versions := v1alpha1.ClusterVersions{ControlPlane: t.ControlPlane, WorkerNodeGroups: map[string]v1alpha1.Version{}}
	for _, group := range t.WorkerNodeGroups {
		versions.WorkerNodeGroups[group.Name] = group.Version
	}
	return versions
}

// blocked returns which unmanaged machines the control plane would leave behind.
// Nothing is done to them, so it cannot move.
func (p *planner) blocked() []string {
	var reasons []string
	for _, machine := range p.in.Start.Unmanaged {
		for at := range p.path.last() {
			if next := p.path.versions[at+1]; p.path.policy.TooOld(next, machine.Version) {
				reasons = append(reasons, fmt.Sprintf("control plane: it cannot go to %s, because %s, which this file does not name, is at %s; while that is there, it can go to %s at most: upgrade or delete it",
					next, machine.Object, machine.Version, p.path.versions[at]))
				break
			}
		}
	}
	return reasons
}

// schedule assigns rollouts to the worker node groups that exist, and returns why it
// cannot for some of them. Cluster API decides about those of the topology.
func (p *planner) schedule() (map[string][]rollout, []string) {
	scheduled, groups := p.topologyRollouts(), p.groupsMovedBy(byRun)
	moves := make([]move, len(groups))
	for i, group := range groups {
		moves[i] = p.move(group)
	}
	found := p.path.schedule(moves)
	var reasons []string
	for i, group := range groups {
		m := moves[i]
		rollouts, possible := found[m]
		_, exists := p.in.Start.WorkerNodeGroups[group.Name]
		gets := !exists || m.from != m.to
		switch {
		case m.to.Before(m.from):
			reasons = append(reasons, fmt.Sprintf("group %s: %s is older than %s, which it already has; downgrades are not supported: use %s or newer", group.Name, m.to, m.from, m.from))
		case !possible, gets && p.path.policy.Check(p.in.Target.ControlPlane, m.to) != nil:
			reasons = append(reasons, p.stuck(group.Name, m.to))
		}
		scheduled[group.Name] = rollouts
	}
	return scheduled, reasons
}

// move returns the change of version that a group needs. A new group, and one whose
// rollout is called off, is at its version and stays there.
func (p *planner) move(group TargetGroup) move {
	part, exists := p.in.Start.WorkerNodeGroups[group.Name]
	if !exists || part.GoesBack(group.Version) {
		return move{group.Version, group.Version}
	}
	return move{part.Version, group.Version}
}

// stuck returns why a group cannot be at a version.
func (p *planner) stuck(group string, version v1alpha1.Version) string {
	policy, target := p.path.policy, p.in.Target.ControlPlane
	for i, controlPlane := range p.path.versions {
		switch {
		case !policy.TooOld(controlPlane, version):
		case i == 0:
			return fmt.Sprintf("group %s: %s is already too old for the control plane: it %v; upgrade the group to %s or newer",
				group, version, policy.Check(controlPlane, version), policy.Oldest(target))
		default:
			return fmt.Sprintf("group %s: it stays at %s, so the control plane cannot go to %s: the group %v; use %s at most, or upgrade the group to %s or newer",
				group, version, controlPlane, policy.Check(controlPlane, version), p.path.versions[i-1], policy.Oldest(target))
		}
	}
	return fmt.Sprintf("group %s: it cannot go to %s: it %v; it can go to %s at most", group, version, policy.Check(target, version), target)
}

// GoesBack reports whether a rollout that brought no ready machine is called off.
func (p Part) GoesBack(target v1alpha1.Version) bool {
	return target.Before(p.Version) && target == p.Oldest && p.Outdated > 0 && p.Fresh == 0
}

// scheduleRemovals decides when the groups are removed that are no longer wanted.
func (p *planner) scheduleRemovals() []removal {
	var removals []removal
	wanted := p.in.Target.versions().WorkerNodeGroups
	for _, name := range slices.Sorted(maps.Keys(p.in.Start.WorkerNodeGroups)) {
		if _, stays := wanted[name]; !stays {
			removals = append(removals, p.removal(name))
		}
	}
	return removals
}

// removal is at the end of the path, or before the control plane would leave the
// group behind.
func (p *planner) removal(group string) removal {
	if p.in.TopologyPath != nil {
		return removal{group: group, at: p.leaves(group)}
	}
	for at := range p.path.last() {
		if !p.path.passes(at, at+1, p.in.Start.WorkerNodeGroups[group].Oldest) {
			return removal{group: group, at: at, forced: true}
		}
	}
	return removal{group: group, at: p.path.last()}
}

// split returns a step about worker node groups as one for the groups that Cluster API
// upgrades with the topology and one for the others, where there are any.
func (p *planner) split(step Step) []Step {
	var steps []Step
	for _, by := range []mover{byTopology, byRun} {
		part := step
		part.Detached = by == byRun && p.in.TopologyPath != nil
		part.WorkerNodeGroups = slices.DeleteFunc(slices.Clone(step.WorkerNodeGroups), func(g Group) bool { return p.mover(g.Name) != by })
		if part.Kind == Template && !part.UnderWay {
			part.Reason += p.together(part, by)
		}
		part.Concurrent = part.Concurrent || part.UnderWay && part.Detached && p.mayGoOn(part.WorkerNodeGroups)
		steps = append(steps, aboutGroups(part)...)
	}
	return steps
}

// aboutGroups returns a step, or none where it is about no groups.
func aboutGroups(step Step) []Step {
	if len(step.WorkerNodeGroups) == 0 {
		return nil
	}
	return []Step{step}
}

// controlPlane returns the step that takes the control plane from a position to the
// next one. Its other changes travel with the first one.
func (p *planner) controlPlane(at int) Step {
	step := Step{
		Kind: ControlPlane, From: p.path.versions[at], To: p.path.versions[at+1],
		MachinesReplaced: p.in.Target.ControlPlaneMachines, Reason: "the version that is asked for",
	}
	if at+1 < p.path.last() {
		step.Reason = "on the way to " + p.in.Target.ControlPlane.String() + ": the control plane moves one minor at a time"
	}
	if at == 0 {
		p.addChanges(&step)
	}
	return step
}
