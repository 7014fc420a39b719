package lifecycle

import (
	"context"
	"strconv"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Diff returns the changes between a cluster as it is and as a spec describes it: first
// versions and numbers of machines, then all other fields. Of a cluster that does not
// exist all objects are created. It writes nothing.
func (s *Service) Diff(ctx context.Context, spec Spec) ([]changes.Change, error) {
	applied, err := s.PlanApply(ctx, spec)
	switch {
	case err != nil:
		return nil, err
	case applied.Creation != nil:
		return s.DryRunCreation(ctx, *applied.Creation)
	default:
		return applied.Upgrade.changes(), nil
	}
}

// changes returns the changes between the cluster as it is and as it is after the last
// step.
func (p Upgrade) changes() []changes.Change {
	all := append(versionChanges(p.from.state, p.Plan.To), p.countChanges()...)
	for _, step := range p.Plan.Steps {
		all = append(all, step.Fields...)
		for _, group := range step.WorkerNodeGroups {
			all = append(all, group.Fields...)
		}
	}
	for _, group := range p.Plan.Created() {
		for _, object := range p.States[len(p.States)-1].Parts[group.Name] {
			all = append(all, changes.Change{Object: changes.ObjectName(object), Action: changes.Added})
		}
	}
	for _, group := range p.Plan.Removed() {
		if part, exists := p.from.state.Group(group.Name); exists {
			all = append(all, changes.Change{Object: part.Object, Action: changes.Removed})
		}
	}
	return all
}

// versionChanges returns the versions that a cluster has, and others that are wanted.
func versionChanges(live state.Cluster, wanted v1alpha1.ClusterVersions) []changes.Change {
	var all []changes.Change
	differs := func(object, path string, is, wanted v1alpha1.Version) {
		if !is.IsZero() && !wanted.IsZero() && is != wanted {
			all = append(all, changes.Change{
				Object: object, Path: path, Action: changes.Changed, Old: changes.Text(is.String()), New: changes.Text(wanted.String()), ReplacesMachines: true,
			})
		}
	}
	if live.Topology != nil {
		differs("Cluster/"+live.Name, "spec.topology.version", live.Topology.Version, wanted.ControlPlane)
	} else {
		differs(live.ControlPlane.Object, "spec.version", live.ControlPlane.Version, wanted.ControlPlane)
	}
	for _, group := range live.WorkerNodeGroups {
		if live.Topology == nil && !group.Unmanaged || group.Detached {
			differs(group.Object, "spec.template.spec.version", group.Version, wanted.WorkerNodeGroups[group.Name])
		}
	}
	return all
}

// countChanges returns the numbers of machines that change. What an autoscaler decides
// does not.
func (p Upgrade) countChanges() []changes.Change {
	var all []changes.Change
	differs := func(part state.Part, wanted int) {
		if part.Object != "" && part.Replicas != wanted {
			all = append(all, changes.Change{
				Object: part.Object, Path: "spec.replicas", Action: changes.Changed,
				Old: changes.Value(strconv.Itoa(part.Replicas)), New: changes.Value(strconv.Itoa(wanted)),
			})
		}
	}
	wanted := target(p.resolved, p.from.start)
	if wanted.ControlPlaneMachines > 0 && p.scope.covers(v1alpha1.ControlPlaneName) {
		differs(p.from.state.ControlPlane, wanted.ControlPlaneMachines)
	}
	for _, group := range wanted.WorkerNodeGroups {
		if part, exists := p.from.state.Group(group.Name); exists && !group.Autoscaled && p.scope.covers(group.Name) {
			differs(part, group.Machines)
		}
	}
	return all
}
