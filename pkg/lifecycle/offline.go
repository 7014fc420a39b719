package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// PlanBetween plans the upgrade of a cluster that is exactly as one spec describes it to
// another spec, without a management cluster.
func PlanBetween(ctx context.Context, before, after Spec, o UpgradeOptions, options Options) (Upgrade, error) {
	was, err := atStart(before)
	if err != nil {
		return Upgrade{}, err
	}
	if err := after.checkOffline(); err != nil {
		return Upgrade{}, err
	}
	resolved, err := options.resolve(after, was.resolved.Versions)
	if err != nil {
		return Upgrade{}, err
	}
	if err := errors.Join(scope(o.Scope).check(after)...); err != nil {
		return Upgrade{}, err
	}
	options.warnOf(resolved)
	is, wanted := was.resolved.Config.Cluster.Metadata, resolved.Config.Cluster.Metadata
	if another := is.Namespace != "" && wanted.Namespace != "" && is.Namespace != wanted.Namespace; is.Name != wanted.Name || another {
		return Upgrade{}, &management.RefusedError{Check: "immutable", Reason: fmt.Sprintf(
			"%s describes cluster %s, and %s cluster %s: name and namespace cannot be changed; a cluster of another name is another cluster",
			before.Name, fullName(is), after.Name, fullName(wanted))}
	}
	was.Key = types.NamespacedName{Namespace: options.namespace(cmp.Or(wanted.Namespace, is.Namespace)), Name: is.Name}
	objects, err := was.stage(was.resolved.Versions, scope{})
	if err != nil {
		return Upgrade{}, err
	}
	return prepare(after, current{
		namespace: was.Key.Namespace,
		metadata:  plan.Metadata{Name: is.Name, Namespace: was.Key.Namespace, Spec: fingerprint(after.data)},
		start:     atRest(was.resolved), before: was.resolved.Config, objects: objects,
		compare: func(wanted []*unstructured.Unstructured) ([]management.Change, error) {
			both, err := topology.Parts{"before": objects.All(), "after": wanted}.WithDefaults(ctx)
			if err != nil {
				return nil, err
			}
			return compareOffline(both["before"], both["after"])
		},
		unused: func(keep []*unstructured.Unstructured) ([]string, error) {
			return unusedOffline(after.Config, objects, keep), nil
		},
	}, o, options)
}

// atStart is a spec that a cluster was made from.
func atStart(s Spec) (Upgrade, error) {
	if err := s.checkOffline(); err != nil {
		return Upgrade{}, err
	}
	resolved, err := validations.Create(s.Config, s.bundles, v1alpha1.ClusterVersions{})
	return Upgrade{spec: s, resolved: resolved}, err
}

// checkOffline refuses to plan without a management cluster what depends on a
// ClusterClass.
func (s Spec) checkOffline() error {
	if !s.managed() {
		return nil
	}
	return s.wrong(fmt.Sprintf("--from: ClusterClass %s says what versions cluster %s goes through and what its machines are; leave --from out to ask the management cluster, which has the class",
		s.Config.Cluster.Spec.ClusterClass.Name, s.Config.Cluster.Metadata.Name))
}

// fullName is the name of a cluster, with its namespace where the file has one.
func fullName(meta v1alpha1.Meta) string {
	return strings.TrimPrefix(meta.Namespace+"/"+meta.Name, "/")
}

// atRest is a cluster exactly as its spec describes it.
func atRest(resolved validations.Resolved) plan.Start {
	part := func(version v1alpha1.Version, machines int) plan.Part {
		return plan.Part{Version: version, Oldest: version, Machines: machines, Fresh: machines}
	}
	spec := resolved.Config.Cluster.Spec
	start := plan.Start{ControlPlane: part(resolved.Versions.ControlPlane, spec.ControlPlaneConfiguration.Replicas()), WorkerNodeGroups: map[string]plan.Part{}}
	for _, group := range spec.WorkerNodeGroupConfigurations {
		start.WorkerNodeGroups[group.Name] = part(resolved.Versions.WorkerNodeGroups[group.Name], group.Replicas())
	}
	return start
}

// compareOffline is management.Compare with rendered objects in the place of
// live ones.
func compareOffline(before, wanted []*unstructured.Unstructured) ([]management.Change, error) {
	old, fresh := map[string]*unstructured.Unstructured{}, map[string]*unstructured.Unstructured{}
	for _, object := range before {
		old[changes.ObjectName(object)] = object
	}
	for _, object := range wanted {
		fresh[changes.ObjectName(object)] = object
	}
	all := make([]management.Change, len(wanted))
	for i, object := range wanted {
		all[i] = management.Change{Object: changes.ObjectName(object), Action: management.Created}
		was, exists := old[all[i].Object]
		if !exists {
			continue
		}
		fields, err := changes.Between(was, object)
		if err == nil {
			fields, err = changes.FollowTemplates(was, object, fields, fresh, func(called string, instead *unstructured.Unstructured) (*unstructured.Unstructured, error) {
				return old[instead.GetKind()+"/"+called], nil
			})
		}
		if err != nil {
			return nil, err
		}
		all[i].Action, all[i].Fields = management.Unchanged, fields
		if len(fields) > 0 {
			all[i].Action = management.Changed
		}
	}
	return all, nil
}

// unusedOffline is management.Unused with rendered objects in the place of live
// ones: what was rendered for the cluster and the groups that stay, and is no
// longer.
func unusedOffline(config *v1alpha1.Config, before rollout.Objects, keep []*unstructured.Unstructured) []string {
	kept := map[string]bool{}
	for _, object := range keep {
		kept[changes.ObjectName(object)] = true
	}
	were := slices.Concat(before.Cluster, before.Parts[v1alpha1.ControlPlaneName])
	for _, group := range config.Cluster.Spec.WorkerNodeGroupConfigurations {
		were = append(were, before.Parts[group.Name]...)
	}
	var names []string
	for _, object := range were {
		if name := changes.ObjectName(object); !kept[name] && !changes.IsTemplate(object.GetKind()) {
			names = append(names, name)
		}
	}
	return names
}
