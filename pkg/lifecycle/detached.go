package lifecycle

import (
	"context"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/clusterclass"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// detachedGroups makes the objects of groups that the topology of a cluster does
// not have: those that Cluster API would make of them, at versions of their own.
type detachedGroups struct {
	request
	// cluster asks for all groups, its variables with their defaults; nil where there are
	// no such groups.
	cluster *clusterv1.Cluster
	// names of the MachineDeployments that are there, by group.
	names map[string]string
	// server says which templates the groups have already; nil where none is there yet.
	server topologyServer
	// known are its answers, by the name of the template.
	known map[string]string
}

// detachedGroups generates the whole cluster from its class, for the groups that the
// topology does not have at a point.
func (r request) detachedGroups(ctx context.Context, server topologyServer, at point) (detachedGroups, error) {
	d := detachedGroups{request: r}
	if len(at.outside) == 0 {
		return d, nil
	}
	if err := clusterclass.CheckPins(*r.spec.class); err != nil && !r.from.topology.hasVersions() {
		return d, err
	}
	objects, err := r.render(v1alpha1.ClusterVersions{ControlPlane: at.topology}, nil)
	if err != nil {
		return d, err
	}
	cluster, err := clusterclass.AsCluster(objects.Cluster[0])
	if err != nil {
		return d, err
	}
	d.names, d.server, d.known = deploymentNames(r.from.state), server, map[string]string{}
	d.cluster, err = r.spec.use().Complete(ctx, cluster, r.from.topology.live())
	return d, err
}

// detachedMode is the mode of detached groups, if only these are written.
type detachedMode struct{ classMode }

func (m *detachedMode) render(ctx context.Context, at point) (engine.Objects, error) {
	parts, err := m.groups.at(ctx, at)
	return engine.Objects{Parts: parts}, err
}

func (m *detachedMode) compare(ctx context.Context, first engine.Objects) (differences, error) {
	return m.groups.compare(ctx, m.source, first, m.outside)
}

// path returns one that the topology does not follow: it keeps its version.
func (m *detachedMode) path(context.Context, plan.Input, differences) (*plan.TopologyPath, error) {
	return &plan.TopologyPath{From: m.from.state.Topology.Version}, nil
}

// drive leaves all steps to clusterctl-x: no step is about the topology.
func (*detachedMode) drive(*engine.Program) {}

// generate returns the objects that the topology would have for a group at a version.
func (d detachedGroups) generate(ctx context.Context, class topology.Class, cluster *clusterv1.Cluster, group string, version v1alpha1.Version) (topology.Parts, error) {
	alone := cluster.DeepCopy()
	alone.Spec.Topology.Version = version.String()
	workers := &alone.Spec.Topology.Workers
	workers.MachineDeployments = nil
	for _, entry := range cluster.Spec.Topology.Workers.MachineDeployments {
		if entry.Name == group {
			entry = *entry.DeepCopy()
			delete(entry.Metadata.Annotations, v1alpha1.PinnedAnnotation)
			workers.MachineDeployments = []clusterv1.MachineDeploymentTopology{entry}
		}
	}
	parts, err := topology.Generate(ctx, class, alone)
	return topology.Parts{group: parts[group]}, err
}

// group returns the objects of a group at a version as clusterctl-x writes them.
func (d detachedGroups) group(ctx context.Context, group string, version v1alpha1.Version) ([]*unstructured.Unstructured, error) {
	parts, err := d.generate(ctx, *d.spec.class, d.cluster, group, version)
	if err != nil {
		return nil, err
	}
	content, err := d.spec.class.Content()
	if err != nil {
		return nil, err
	}
	if err := d.keepTemplates(ctx, group, parts[group]); err != nil {
		return nil, err
	}
	for _, object := range parts[group] {
		labels := object.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels[v1alpha1.ClusterLabel] = d.cluster.Name
		if !changes.IsTemplate(object.GetKind()) {
			labels[v1alpha1.WorkerNodeGroupLabel] = group
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
func (d detachedGroups) keepTemplates(ctx context.Context, group string, objects []*unstructured.Unstructured) error {
	if d.names[group] == "" || d.server == nil {
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
			if name, err = d.server.SameTemplate(ctx, d.names[group], template); err != nil {
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
	annotations[v1alpha1.ClassContentAnnotation] = content
	annotations[clusterv1.MachineSetSkipPreflightChecksAnnotation] = management.SkippedPreflightChecks
	deployment.SetAnnotations(annotations)
	return unstructured.SetNestedField(deployment.Object, "", "spec", "template", "metadata", "annotations", v1alpha1.DetachedAnnotation)
}

// at returns the objects of the groups that the topology does not have at a point, each at
// its version. A group without one has none.
func (d detachedGroups) at(ctx context.Context, at point) (map[string][]*unstructured.Unstructured, error) {
	parts := map[string][]*unstructured.Unstructured{}
	for name := range at.outside {
		version, there := at.versions.WorkerNodeGroups[name]
		if !there || !d.has(name) {
			continue
		}
		objects, err := d.group(ctx, name, version)
		if err != nil {
			return nil, err
		}
		parts[name] = objects
	}
	return parts, nil
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

// deploymentNames returns the names of the MachineDeployments of worker node groups.
func deploymentNames(cluster state.Cluster) map[string]string {
	names := map[string]string{}
	for _, group := range cluster.WorkerNodeGroups {
		if !group.Unmanaged {
			_, names[group.Name], _ = strings.Cut(group.Object, "/")
		}
	}
	return names
}

// workerTemplates returns the templates that a class names for worker machines.
func workerTemplates(class topology.Class) []*unstructured.Unstructured {
	var used []*unstructured.Unstructured
	for _, workers := range class.Spec.Workers.MachineDeployments {
		for _, template := range class.Templates {
			if name := workers.Infrastructure.TemplateRef; template.GetKind() == name.Kind && template.GetName() == name.Name {
				used = append(used, template)
			}
		}
	}
	return used
}
