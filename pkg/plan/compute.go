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
// The error is an *ImpossibleError. A plan of its own result is empty.
func Compute(in Input) (Plan, error) {
	p, err := newPlanner(in)
	if err != nil {
		return Plan{}, err
	}
	if reasons := p.unreachable(); len(reasons) > 0 {
		return Plan{}, &ImpossibleError{Reasons: reasons}
	}
	p.detach()
	p.giveBackFirst()
	p.inPlace()
	p.templates()
	p.ownFirst()
	p.underWay()
	p.calledOff()
	p.templatesAfterwards()
	for stop := range p.road.stops {
		p.rest(stop)
		if stop < p.road.last() {
			p.controlPlane(stop)
		}
	}
	p.giveBackLast()
	p.besideUnderWay()
	for _, step := range p.plan.Steps {
		p.plan.count(step)
	}
	p.plan.Notes = p.notes()
	return p.plan, nil
}

// planner puts a plan together.
type planner struct {
	in   Input
	plan Plan
	road road
	// hops of each group of the target that exists already.
	hops map[string][]hop
	// removed are the groups that are no longer wanted, sorted, with the stop at
	// which they go.
	removed []departure
	// own are the groups that Cluster API does not take along.
	own map[string]bool
	// started are the parts whose rolling changes have a step.
	started map[string]bool
}

type departure struct {
	group  string
	stop   int
	forced bool
}

func newPlanner(in Input) (*planner, error) {
	in, reasons := in.scoped()
	path, err := in.controlPlanePath()
	if err != nil {
		reasons = append(reasons, err.Error())
	}
	if len(reasons) > 0 {
		return nil, &ImpossibleError{Reasons: reasons}
	}
	p := &planner{in: in, road: road{stops: path, policy: in.Policy}, hops: map[string][]hop{}, own: in.own(), started: map[string]bool{}}
	p.plan = Plan{
		APIVersion: v1alpha1.APIVersion, Kind: DocumentKind, Metadata: in.Metadata, From: in.Start.Versions(), To: in.Target.versions(), Steps: []Step{},
	}
	reasons = p.foreign()
	if in.Chain != nil {
		p.follow()
	}
	reasons = append(reasons, p.schedule()...)
	p.departures()
	if len(reasons) > 0 {
		return nil, &ImpossibleError{Reasons: reasons}
	}
	return p, nil
}

// Versions are those that are specified.
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

// foreign returns which machines of others the control plane would leave
// behind: nothing is done to them, so it cannot go on.
func (p *planner) foreign() []string {
	var reasons []string
	for _, machine := range p.in.Start.Foreign {
		for stop := range p.road.last() {
			if next := p.road.stops[stop+1]; p.road.policy.TooOld(next, machine.Version) {
				reasons = append(reasons, fmt.Sprintf("control plane: it cannot go to %s, for %s, which this file does not name, is at %s; the farthest is %s as long as it is there: upgrade or delete it",
					next, machine.Object, machine.Version, p.road.stops[stop]))
				break
			}
		}
	}
	return reasons
}

// schedule decides when each group gets new machines that Cluster API does not
// take along, and returns for which there is no way.
func (p *planner) schedule() []string {
	groups := p.in.Target.WorkerNodeGroups
	if p.in.Chain != nil {
		groups = p.ownGroups()
	}
	journeys := make([]journey, len(groups))
	for i, group := range groups {
		journeys[i] = p.journey(group)
	}
	found := p.road.schedule(journeys)
	var reasons []string
	for i, group := range groups {
		j := journeys[i]
		hops, possible := found[j]
		_, exists := p.in.Start.WorkerNodeGroups[group.Name]
		comes := !exists || j.from != j.to
		switch {
		case j.to.Before(j.from):
			reasons = append(reasons, fmt.Sprintf("group %s: %s is older than %s, which it has already; nothing moves down: use %s or newer", group.Name, j.to, j.from, j.from))
		case !possible, comes && p.road.policy.Check(p.in.Target.ControlPlane, j.to) != nil:
			reasons = append(reasons, p.stuck(group.Name, j.to))
		}
		p.hops[group.Name] = hops
	}
	return reasons
}

// journey is what a group has before it. A new one, and one whose rollout is
// called off, is at its version and stays there.
func (p *planner) journey(group TargetGroup) journey {
	part, exists := p.in.Start.WorkerNodeGroups[group.Name]
	if !exists || part.GoesBack(group.Version) {
		return journey{group.Version, group.Version}
	}
	return journey{part.Version, group.Version}
}

// stuck says why a group cannot be at a version.
func (p *planner) stuck(group string, version v1alpha1.Version) string {
	policy, target := p.road.policy, p.in.Target.ControlPlane
	for i, stop := range p.road.stops {
		switch {
		case !policy.TooOld(stop, version):
		case i == 0:
			return fmt.Sprintf("group %s: %s is too old already beside the control plane: it %v; let the group go to %s or newer",
				group, version, policy.Check(stop, version), policy.Oldest(target))
		default:
			return fmt.Sprintf("group %s: it stays at %s, and the control plane cannot go to %s then: %v; the farthest is %s, or let the group go to %s or newer",
				group, version, stop, policy.Check(stop, version), p.road.stops[i-1], policy.Oldest(target))
		}
	}
	return fmt.Sprintf("group %s: it cannot go to %s: it %v; it can go to %s at most", group, version, policy.Check(target, version), target)
}

// GoesBack tells whether a rollout that brought no ready machine is called off.
func (p Part) GoesBack(target v1alpha1.Version) bool {
	return target.Before(p.Version) && target == p.Oldest && p.Outdated > 0 && p.Fresh == 0
}

// departures decides when the groups go that are no longer wanted.
func (p *planner) departures() {
	wanted := p.plan.To.WorkerNodeGroups
	for _, name := range slices.Sorted(maps.Keys(p.in.Start.WorkerNodeGroups)) {
		if _, ok := wanted[name]; ok {
			continue
		}
		leaves := departure{group: name, stop: p.road.last()}
		if p.in.Chain != nil {
			leaves.stop = p.leaves(name)
			p.removed = append(p.removed, leaves)
			continue
		}
		for stop := range p.road.last() {
			if !p.road.passes(stop, stop+1, p.in.Start.WorkerNodeGroups[name].Oldest) {
				leaves.stop, leaves.forced = stop, true
				break
			}
		}
		p.removed = append(p.removed, leaves)
	}
}

func (p *planner) add(step Step) { p.plan.Steps = append(p.plan.Steps, step) }

// underWay are the rollouts that go on already.
func (p *planner) underWay() {
	const reason = "under way already"
	if cp := p.in.Start.ControlPlane; cp.Outdated > 0 {
		kind := ControlPlane
		if cp.Oldest == cp.Version {
			kind = Template
		}
		p.add(Step{Kind: kind, From: cp.Oldest, To: cp.Version, MachinesReplaced: cp.Outdated, UnderWay: true, Reason: reason})
	}
	var rolling, replacing []Group
	for _, group := range p.in.Target.WorkerNodeGroups {
		part := p.in.Start.WorkerNodeGroups[group.Name]
		if part.Outdated == 0 || part.GoesBack(group.Version) || !p.in.Scope.covers(group.Name) {
			continue
		}
		move := Group{Name: group.Name, From: part.Oldest, To: part.Version, MachinesReplaced: part.Outdated, Approximate: group.Autoscaled}
		if part.Oldest == part.Version {
			replacing = append(replacing, move)
		} else {
			rolling = append(rolling, move)
		}
	}
	p.addGroups(Step{Kind: Workers, WorkerNodeGroups: rolling, UnderWay: true, Reason: reason})
	p.addGroups(Step{Kind: Template, WorkerNodeGroups: replacing, UnderWay: true, Reason: reason})
}

// calledOff are the rollouts that brought no ready machine, and are to bring none.
func (p *planner) calledOff() {
	step := Step{Kind: Workers, Reason: "back to what its nodes run: no machine of the newer version became ready"}
	for _, group := range p.in.Target.WorkerNodeGroups {
		part := p.in.Start.WorkerNodeGroups[group.Name]
		if !part.GoesBack(group.Version) {
			continue
		}
		back := Group{Name: group.Name, From: part.Version, To: group.Version, Changes: p.rolling(group.Name)}
		if len(back.Changes) > 0 {
			back.MachinesReplaced, back.Approximate = p.machines(group), group.Autoscaled
		}
		step.WorkerNodeGroups = append(step.WorkerNodeGroups, back)
	}
	p.addGroups(step)
}

// addGroups adds a step for the groups that Cluster API takes along, and one for
// the others.
func (p *planner) addGroups(step Step) {
	var along, own []Group
	for _, group := range step.WorkerNodeGroups {
		if p.own[group.Name] {
			own = append(own, group)
		} else {
			along = append(along, group)
		}
	}
	reason := step.Reason
	for _, groups := range [][]Group{along, own} {
		step.WorkerNodeGroups, step.Reason = groups, reason
		if step.Kind == Template && !step.UnderWay {
			step.Reason += p.together(step)
		}
		step.Beside = step.Beside || step.UnderWay && step.Detached && p.mayGoOn(groups)
		p.addAll(step)
		step.Detached = true
	}
}

// addAll adds a step that is about groups, where it is about any.
func (p *planner) addAll(step Step) {
	if len(step.WorkerNodeGroups) > 0 {
		p.add(step)
	}
}

// controlPlane moves the control plane on from a stop.
func (p *planner) controlPlane(stop int) {
	from, to := p.road.stops[stop], p.road.stops[stop+1]
	step := Step{Kind: ControlPlane, From: from, To: to, MachinesReplaced: p.in.Target.ControlPlaneMachines}
	switch {
	case stop+1 < p.road.last():
		step.Reason = "on the way to " + p.in.Target.ControlPlane.String() + ": the control plane moves one minor at a time"
	default:
		step.Reason = "the version that the spec asks for"
	}
	p.withChanges(&step)
	p.add(step)
}
