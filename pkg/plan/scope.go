package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// scoped limits the target to the scope of the plan; everything else stays as it is. It
// also returns why that is impossible.
func (in Input) scoped() (Input, []string) {
	if in.Scope.Whole() {
		return in, nil
	}
	wanted := in.Target
	in.Target = in.Start.AsTarget(wanted)
	for i, group := range in.Target.WorkerNodeGroups { // a group that is not in the scope stays in a topology, or out of it
		in.Target.WorkerNodeGroups[i].Pinned = in.Start.WorkerNodeGroups[group.Name].Detached
	}
	kept := map[string]Changes{}
	if in.Scope.ControlPlaneOnly {
		in.Target.ControlPlane, in.Target.ControlPlaneMachines = wanted.ControlPlane, wanted.ControlPlaneMachines
		kept[cluster], kept[v1alpha1.ControlPlaneName] = in.Changes[cluster], in.Changes[v1alpha1.ControlPlaneName]
		in.Changes = kept
		return in, nil
	}
	var reasons []string
	for _, name := range in.Scope.Groups {
		i := slices.IndexFunc(wanted.WorkerNodeGroups, func(g TargetGroup) bool { return g.Name == name })
		if i < 0 {
			reasons = append(reasons, fmt.Sprintf("group %s: the file has no such worker node group", name))
			continue
		}
		group := wanted.WorkerNodeGroups[i]
		if limit := in.Start.ControlPlane.Version; group.Version.After(limit) {
			reasons = append(reasons, fmt.Sprintf("group %s: it cannot go to %s before the control plane does, which is at %s; alone it can go to %s at most: upgrade the control plane first, with --control-plane-only, or leave --worker-node-groups out",
				name, group.Version, limit, limit))
			continue
		}
		in.Target.replace(group)
		kept[name] = in.Changes[name]
	}
	in.Changes = kept
	return in, reasons
}

// AsTarget is the cluster as it is, with its groups in the order of the wanted
// one, those that are not wanted last.
func (s Start) AsTarget(wanted Target) Target {
	target := Target{ControlPlane: s.ControlPlane.Version, ControlPlaneMachines: s.ControlPlane.Machines}
	left := maps.Clone(s.WorkerNodeGroups)
	for _, group := range wanted.WorkerNodeGroups {
		if part, exists := left[group.Name]; exists {
			group.Version, group.Machines, group.Pinned = part.Version, part.Machines, group.Pinned || part.Detached
			target.WorkerNodeGroups = append(target.WorkerNodeGroups, group)
			delete(left, group.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		target.WorkerNodeGroups = append(target.WorkerNodeGroups, TargetGroup{Name: name, Version: left[name].Version, Machines: left[name].Machines, Pinned: left[name].Detached})
	}
	return target
}

// replace puts a group into the target, in the place of the one of its name or last.
func (t *Target) replace(group TargetGroup) {
	i := slices.IndexFunc(t.WorkerNodeGroups, func(g TargetGroup) bool { return g.Name == group.Name })
	if i < 0 {
		t.WorkerNodeGroups = append(t.WorkerNodeGroups, group)
		return
	}
	t.WorkerNodeGroups[i] = group
}
