package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
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
	if err := errors.Join(scope{o.Scope}.check(after)...); err != nil {
		return Upgrade{}, err
	}
	options.warnOf(resolved)
	is, wanted := was.resolved.Config.Cluster.Metadata, resolved.Config.Cluster.Metadata
	if another := is.Namespace != "" && wanted.Namespace != "" && is.Namespace != wanted.Namespace; is.Name != wanted.Name || another {
		return Upgrade{}, &management.RefusedError{Check: "immutable", Reason: fmt.Sprintf(
			"%s describes cluster %s, and %s cluster %s: name and namespace cannot be changed; a cluster of another name is another cluster",
			before.Name, fullName(is), after.Name, fullName(wanted))}
	}
	was.namespace = options.namespace(cmp.Or(wanted.Namespace, is.Namespace))
	objects, err := was.render(was.resolved.Versions, nil)
	if err != nil {
		return Upgrade{}, err
	}
	start := startFromSpec(was.resolved)
	return prepare(ctx, after, current{
		namespace: was.namespace,
		metadata:  plan.Metadata{Name: is.Name, Namespace: was.namespace, Spec: fingerprint(after.data)},
		start:     start, running: start.Versions(), before: was.resolved.Config, objects: objects,
	}, source{comparer: file{config: after.Config, objects: objects}}, o, options)
}

// atStart is a spec that a cluster was made from.
func atStart(s Spec) (request, error) {
	if err := s.checkOffline(); err != nil {
		return request{}, err
	}
	resolved, err := validations.Create(s.Config, s.providers, s.bundles, v1alpha1.ClusterVersions{})
	return request{spec: s, resolved: resolved}, err
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

// startFromSpec returns a start at which the cluster is exactly as its spec describes it.
func startFromSpec(resolved validations.Resolved) plan.Start {
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

// file is a cluster that is exactly as a file describes it.
type file struct {
	// config is the desired file.
	config  *v1alpha1.Config
	objects engine.Objects
}

// Compare compares with what the file describes; both get what the API server would add.
func (f file) Compare(ctx context.Context, wanted []*unstructured.Unstructured) ([]changes.Change, error) {
	both, err := topology.Parts{"before": f.objects.All(), "after": wanted}.WithDefaults(ctx)
	if err != nil {
		return nil, err
	}
	return compareObjects(both["before"], both["after"])
}

// Differs compares with the template that the file describes.
func (f file) Differs(_ context.Context, template *unstructured.Unstructured) (bool, error) {
	for _, object := range f.objects.All() {
		if changes.ObjectName(object) == changes.ObjectName(template) {
			return !reflect.DeepEqual(object.Object["spec"], template.Object["spec"]), nil
		}
	}
	return false, nil
}

// Unused returns what the file describes for the cluster and the groups that stay, and
// is not to be kept.
func (f file) Unused(_ context.Context, keep []*unstructured.Unstructured) ([]string, error) {
	kept := map[string]bool{}
	for _, object := range keep {
		kept[changes.ObjectName(object)] = true
	}
	were := slices.Concat(f.objects.Cluster, f.objects.Parts[v1alpha1.ControlPlaneName])
	for _, group := range f.config.Cluster.Spec.WorkerNodeGroupConfigurations {
		were = append(were, f.objects.Parts[group.Name]...)
	}
	var names []string
	for _, object := range were {
		if name := changes.ObjectName(object); !kept[name] && !changes.IsTemplate(object.GetKind()) {
			names = append(names, name)
		}
	}
	return names, nil
}
