package lifecycle

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/clusterclass"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// detachedGroups makes the objects of groups that the topology of a cluster does
// not have: those that Cluster API would make of them, at versions of their own.
type detachedGroups struct {
	class topology.Class
	// cluster asks for all groups, its variables with their defaults.
	cluster *clusterv1.Cluster
	// names of the MachineDeployments that are there, by group.
	names    map[string]string
	generate generator
	// same is the name of the template that a MachineDeployment has now, where its
	// content is that of another one; nil where none is there yet.
	same func(deployment string, template *unstructured.Unstructured) (string, error)
	// known are the answers of same, by the name of the template.
	known map[string]string
}

// generator is topology.Generate.
type generator func(topology.Class, *clusterv1.Cluster) (topology.Parts, error)

func generatorOf(ctx context.Context) generator {
	return func(class topology.Class, cluster *clusterv1.Cluster) (topology.Parts, error) {
		return topology.Generate(ctx, class, cluster)
	}
}

func defaultsOf(ctx context.Context) func(topology.Parts) (topology.Parts, error) {
	return func(parts topology.Parts) (topology.Parts, error) { return parts.WithDefaults(ctx) }
}

// prepareDetached looks what the class makes of the whole cluster, for the groups
// that the topology does not have.
func (p *Upgrade) prepareDetached(own map[string]bool, from current) error {
	if len(own) == 0 {
		return nil
	}
	if err := clusterclass.CheckPins(*p.spec.class); err != nil && !p.topologyVersions {
		return err
	}
	rendered, err := p.render(v1alpha1.ClusterVersions{ControlPlane: from.managed.state.Topology.Version}, nil)
	if err != nil {
		return err
	}
	objects, err := decodeParts(rendered)
	if err != nil {
		return err
	}
	cluster, err := clusterclass.AsCluster(objects.Cluster[0])
	if err != nil {
		return err
	}
	p.detached = detachedGroups{class: *p.spec.class, names: deploymentNames(from.managed.state), generate: from.managed.generate, same: from.managed.same, known: map[string]string{}}
	p.detached.cluster, err = from.managed.complete(p.spec, cluster)
	return err
}

// of are the objects that the topology would have for a group at a version.
func (d detachedGroups) of(class topology.Class, cluster *clusterv1.Cluster, group string, version v1alpha1.Version) (topology.Parts, error) {
	alone := cluster.DeepCopy()
	alone.Spec.Topology.Version = version.String()
	workers := &alone.Spec.Topology.Workers
	workers.MachineDeployments = nil
	for _, entry := range cluster.Spec.Topology.Workers.MachineDeployments {
		if entry.Name == group {
			entry = *entry.DeepCopy()
			delete(entry.Metadata.Annotations, management.PinnedAnnotation)
			workers.MachineDeployments = []clusterv1.MachineDeploymentTopology{entry}
		}
	}
	parts, err := d.generate(class, alone)
	return topology.Parts{group: parts[group]}, err
}

// at are the objects of a group at a version as clusterctl-x writes them.
func (d detachedGroups) at(group string, version v1alpha1.Version) ([]*unstructured.Unstructured, error) {
	parts, err := d.of(d.class, d.cluster, group, version)
	if err != nil {
		return nil, err
	}
	content, err := d.class.Content()
	if err != nil {
		return nil, err
	}
	if err := d.keepTemplates(group, parts[group]); err != nil {
		return nil, err
	}
	for _, object := range parts[group] {
		labels := object.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels[management.ClusterLabel] = d.cluster.Name
		if !changes.IsTemplate(object.GetKind()) {
			labels[management.WorkerNodeGroupLabel] = group
		}
		if name := d.names[group]; name != "" && object.GetName() == d.cluster.Name+"-"+group {
			object.SetName(name)
		}
		if object.GetKind() == "MachineDeployment" {
			if err := detached(object, labels, content); err != nil {
				return nil, err
			}
		}
		object.SetLabels(labels)
	}
	return parts[group], nil
}

// keepTemplates gives templates the names of those that the group has already, where
// nothing of them changes: Cluster API names the ones that it makes otherwise, and
// another name alone would replace the machines.
func (d detachedGroups) keepTemplates(group string, objects []*unstructured.Unstructured) error {
	if d.names[group] == "" || d.same == nil {
		return nil
	}
	for _, template := range objects {
		if !changes.IsTemplate(template.GetKind()) {
			continue
		}
		key := changes.ObjectName(template)
		name, known := d.known[key]
		if !known {
			var err error
			if name, err = d.same(d.names[group], template); err != nil {
				return err
			}
			d.known[key] = name
		}
		if name == "" {
			continue
		}
		template.SetName(name)
		for _, object := range objects {
			if err := topology.Refer(object, template.GetKind(), name); err != nil {
				return err
			}
		}
	}
	return nil
}

// detached makes a MachineDeployment of a topology one that it does not own. Its
// machines may be of another version than the control plane.
func detached(deployment *unstructured.Unstructured, labels map[string]string, content string) error {
	delete(labels, clusterv1.ClusterTopologyOwnedLabel)
	delete(labels, clusterv1.ClusterTopologyMachineDeploymentNameLabel)
	annotations := maps.Clone(deployment.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[management.ClassContentAnnotation] = content
	annotations[clusterv1.MachineSetSkipPreflightChecksAnnotation] = management.SkippedPreflightChecks
	deployment.SetAnnotations(annotations)
	return unstructured.SetNestedField(deployment.Object, "", "spec", "template", "metadata", "annotations", management.DetachedAnnotation)
}

// topologyObjects are those of a cluster from a ClusterClass, of which whole are
// rendered with all groups in the topology.
func topologyObjects(ctx context.Context, s Spec, resolved validations.Resolved, whole []*unstructured.Unstructured, live state.Cluster) ([]*unstructured.Unstructured, error) {
	cluster, err := clusterclass.AsCluster(whole[0])
	if err != nil {
		return nil, err
	}
	complete, err := s.use().Complete(ctx, cluster, nil)
	pinned := pins(resolved.Config)
	if err != nil || len(pinned) == 0 {
		return whole, err
	}
	if err := clusterclass.CheckPins(*s.class); err != nil {
		return nil, err
	}
	p := Upgrade{spec: s, resolved: resolved, Key: types.NamespacedName{Namespace: whole[0].GetNamespace()}}
	p.detached = detachedGroups{class: *s.class, cluster: complete, names: deploymentNames(live), generate: generatorOf(ctx)}
	stage, err := p.managedStage(resolved.Versions.ControlPlane, pinned, resolved.Versions)
	return stage.All(), err
}

// pins are the groups with a version of their own.
func pins(config *v1alpha1.Config) map[string]bool {
	pinned := map[string]bool{}
	for _, group := range config.Cluster.Spec.WorkerNodeGroupConfigurations {
		if group.Pinned() {
			pinned[group.Name] = true
		}
	}
	return pinned
}

// deploymentNames are those of the MachineDeployments of worker node groups.
func deploymentNames(cluster state.Cluster) map[string]string {
	names := map[string]string{}
	for _, group := range cluster.WorkerNodeGroups {
		if !group.Foreign {
			_, names[group.Name], _ = strings.Cut(group.Object, "/")
		}
	}
	return names
}

// ownParts are the objects of the groups that Cluster API does not take along, at
// the versions given. A group without one has none.
func (p Upgrade) ownParts(own map[string]bool, versions v1alpha1.ClusterVersions) (map[string][]*unstructured.Unstructured, error) {
	parts := map[string][]*unstructured.Unstructured{}
	for name := range own {
		version, there := versions.WorkerNodeGroups[name]
		if !there || !p.has(name) {
			continue
		}
		objects, err := p.detached.at(name, version)
		if err != nil {
			return nil, err
		}
		parts[name] = objects
	}
	return parts, nil
}

// templates are those that the class names for worker machines; none where no
// group was ever taken out of the topology by this plan.
func (p Upgrade) templates() []*unstructured.Unstructured {
	if p.detached.cluster == nil {
		return nil
	}
	var used []*unstructured.Unstructured
	for _, workers := range p.spec.class.Spec.Workers.MachineDeployments {
		for _, template := range p.spec.class.Templates {
			if name := workers.Infrastructure.TemplateRef; template.GetKind() == name.Kind && template.GetName() == name.Name {
				used = append(used, template)
			}
		}
	}
	return used
}

// has tells whether the spec has a group.
func (p Upgrade) has(group string) bool {
	for _, g := range p.resolved.Config.Cluster.Spec.WorkerNodeGroupConfigurations {
		if g.Name == group {
			return true
		}
	}
	return false
}

// ownChanges are those of the groups that Cluster API does not take along: of one
// that is still in the topology, what its class makes otherwise of it, and of the
// others what is otherwise than on the management cluster.
func (p *Upgrade) ownChanges(first rollout.Objects, outside map[string]bool, from current) (map[string]plan.Changes, error) {
	sorted := map[string]plan.Changes{}
	for name := range outside {
		objects := first.Parts[name]
		part, exists := from.start.WorkerNodeGroups[name]
		var found map[string]plan.Changes
		var err error
		switch {
		case !exists || !p.has(name) || p.spec.class.External():
			continue
		case part.Detached && !p.topologyVersions:
			var differs []management.Change
			if differs, err = from.compare(objects); err == nil {
				err = p.sameMachines(name, differs)
			}
			if err == nil {
				stage := rollout.Objects{Parts: map[string][]*unstructured.Unstructured{name: objects}}
				found, err = byPart(p.resolved.Config, stage, differs, from)
				p.restores(stage, differs)
			}
		default:
			found, err = p.changesOfClass(name, part.Version, from)
		}
		if err != nil {
			return nil, err
		}
		sorted[name] = withoutContent(found[name])
	}
	return sorted, nil
}

// sameMachines refuses machines of another kind for a group that is out of the topology.
// Cluster API refuses them for those that are in it.
func (p *Upgrade) sameMachines(group string, differs []management.Change) error {
	for _, change := range differs {
		for _, f := range change.Fields {
			if f.Path == "spec.template.spec.infrastructureRef.kind" || f.Path == "spec.template.spec.infrastructureRef.apiGroup" {
				return &management.RefusedError{Check: "immutable", Reason: fmt.Sprintf(
					"ClusterClass %s makes machines of another kind for group %s (%s %s), and Cluster API cannot replace one kind by another; use a class that makes the same kind, or a new group",
					p.spec.class.Name, group, change.Object, f)}
			}
		}
	}
	return nil
}

// withoutContent leaves out that a group is marked as made from another content of
// the class, where more is told of that.
func withoutContent(found plan.Changes) plan.Changes {
	if len(found.Rolling) > 0 {
		found.InPlace = slices.DeleteFunc(found.InPlace, func(line string) bool { return strings.Contains(line, management.ClassContentAnnotation) })
	}
	return found
}

// changesOfClass are those of a group that is in the topology, at a version.
func (p *Upgrade) changesOfClass(group string, version v1alpha1.Version, from current) (map[string]plan.Changes, error) {
	was, err := p.detached.of(from.managed.class, from.managed.cluster, group, version)
	if err != nil {
		return nil, err
	}
	is, err := p.detached.of(p.detached.class, p.detached.cluster, group, version)
	if err != nil || len(was[group]) == 0 {
		return nil, err
	}
	if was, is, err = from.managed.withDefaults(was, is); err != nil {
		return nil, err
	}
	sorted, gone, err := partChanges(was, is, p.resolved.Config, from)
	p.loses(gone)
	return sorted, err
}
