package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TopologyPath is the upgrade path of a cluster from a ClusterClass. Cluster API
// follows it by itself: the plan describes what Cluster API does.
type TopologyPath struct {
	// From is the version that the topology has now.
	From v1alpha1.Version
	// Segments have the versions that the topology is given, one after the other. A
	// segment begins when the one before it is done. A topology that keeps its version
	// has none.
	Segments []Segment
	// Deferred are the groups whose upgrade Cluster API defers, with the field of the
	// spec that defers it.
	Deferred map[string]string
}

// Segment is one version of a topology, and what Cluster API does for it: the
// versions of the control plane, and those of all worker node groups that are
// older. Each list ends with the target, or is empty.
type Segment struct {
	Target       v1alpha1.Version
	ControlPlane []v1alpha1.Version
	Workers      []v1alpha1.Version
}

// Target returns the version that the topology has while its parts go to a version.
func (t TopologyPath) Target(version v1alpha1.Version) v1alpha1.Version {
	for _, segment := range t.Segments {
		if !segment.Target.Before(version) {
			return segment.Target
		}
	}
	return version
}

// path returns the versions of the control plane.
func (t TopologyPath) path(from v1alpha1.Version) []v1alpha1.Version {
	versions := []v1alpha1.Version{from}
	for _, segment := range t.Segments {
		versions = append(versions, segment.ControlPlane...)
	}
	return versions
}

// rollouts returns those of a group: it goes wherever the workers go, once the control
// plane is there.
func (t TopologyPath) rollouts(path []v1alpha1.Version, from v1alpha1.Version) []rollout {
	var rollouts []rollout
	for _, segment := range t.Segments {
		for _, version := range segment.Workers {
			if at := slices.Index(path, version); at >= 0 && version.After(from) {
				rollouts, from = append(rollouts, rollout{at: at, to: version}), version
			}
		}
	}
	return rollouts
}

// arrival returns the version that new groups are made at: that of the topology, once
// the control plane has it.
func (t TopologyPath) arrival(target v1alpha1.Version) v1alpha1.Version {
	if len(t.Segments) == 0 {
		return target
	}
	return t.Segments[0].Target
}

// topologyRollouts returns the rollouts that Cluster API takes the groups of the
// topology through.
func (p *planner) topologyRollouts() map[string][]rollout {
	rollouts := map[string][]rollout{}
	for _, group := range p.groupsMovedBy(byTopology) {
		from := p.in.TopologyPath.arrival(p.in.Target.ControlPlane)
		if part, exists := p.in.Start.WorkerNodeGroups[group.Name]; exists {
			from = part.Version
		}
		rollouts[group.Name] = p.in.TopologyPath.rollouts(p.path.versions, from)
	}
	return rollouts
}

// Follow returns how many steps of the plan are done for a cluster that Cluster API
// upgrades, given how many were done before, and how Cluster API deviates from the plan;
// an empty text where it does not.
func (p Plan) Follow(before int, c state.Cluster) (done int, deviation string) {
	done, planned := p.reached(before, c)
	if !planned {
		deviation = p.deviation(done, c)
	}
	return done, deviation
}

// reached returns how many steps are done. It does not go beyond the next step that
// Cluster API does not take. It is false where the versions of the parts are none that
// the plan passes through from there.
func (p Plan) reached(before int, c state.Cluster) (int, bool) {
	end := p.NextDetached(before)
	for step := before; step <= end; step++ {
		if !p.between(step, c) {
			continue
		}
		for step < end && (p.Steps[step].Concurrent || p.Steps[step].Done(c)) {
			step++
		}
		return step, true
	}
	return before, false
}

// NextDetached returns the index of the first step from one on that Cluster API does not
// take; the number of steps where it takes them all.
func (p Plan) NextDetached(from int) int {
	for from < len(p.Steps) && !p.Steps[from].Detached {
		from++
	}
	return from
}

// created returns the version that a new group is made at.
func (p Plan) created(group string) (v1alpha1.Version, bool) {
	for _, step := range p.Steps {
		if step.Kind == CreateWorkers && step.Moves(group) {
			return step.Group(group).To, true
		}
	}
	return v1alpha1.Version{}, false
}

// between reports whether the specified versions are those before or after a step.
func (p Plan) between(step int, c state.Cluster) bool {
	now, then := p.Versions(step), p.Versions(min(step+1, len(p.Steps)))
	if v := c.ControlPlane.Version; v != now.ControlPlane && v != then.ControlPlane {
		return false
	}
	seen := map[string]bool{}
	for _, group := range c.WorkerNodeGroups {
		if group.Unmanaged {
			continue
		}
		seen[group.Name] = true
		if group.Detached {
			continue // Cluster API has no hand in it
		}
		before, was := now.WorkerNodeGroups[group.Name]
		after, is := then.WorkerNodeGroups[group.Name]
		created, comes := p.created(group.Name)
		switch {
		case was && group.Version == before, is && group.Version == after:
		case !was && !is && comes && group.Version == created: // Cluster API makes it beside other steps
		case !was && !comes: // is on its way out
		default:
			return false
		}
	}
	for name := range now.WorkerNodeGroups {
		if _, stays := p.To.WorkerNodeGroups[name]; stays && !seen[name] {
			return false
		}
	}
	return true
}

// deviation returns where a cluster is that has none of the versions between the steps
// from one on.
func (p Plan) deviation(step int, c state.Cluster) string {
	planned := map[string][]string{}
	note := func(part string, version v1alpha1.Version) {
		if text := version.String(); !version.IsZero() && !slices.Contains(planned[part], text) {
			planned[part] = append(planned[part], text)
		}
	}
	for i := step; i <= len(p.Steps); i++ {
		versions := p.Versions(i)
		note(v1alpha1.ControlPlaneName, versions.ControlPlane)
		for name, version := range versions.WorkerNodeGroups {
			note(name, version)
		}
	}
	var differs, all []string
	for _, part := range c.Parts() {
		if part.Unmanaged || part.Detached {
			continue
		}
		is := fmt.Sprintf("%s is at %s", part.Name, part.Version)
		all = append(all, is)
		if want := planned[part.Name]; !slices.Contains(want, part.Version.String()) {
			differs = append(differs, fmt.Sprintf("%s, and the plan has %s", is, cmp.Or(strings.Join(want, ", then "), "no such group")))
		}
	}
	if len(differs) == 0 {
		differs = []string{list(all) + ", a combination that no step reaches"}
	}
	return "Cluster API deviates from the plan: " + list(differs)
}
