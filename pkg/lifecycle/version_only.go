package lifecycle

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/observe"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// machineDeployment is the kind of worker node groups that have MachineSets.
const machineDeployment = "MachineDeployment"

// versionOnlyMode is the mode of upgrades that change versions, and nothing else, of a
// cluster without a ClusterClass. Its objects have the fields that clusterctl-x owns already
// and those that a step changes, so that applying them leaves all others alone.
type versionOnlyMode struct {
	request
	live management.VersionedObjects
}

func (m *versionOnlyMode) render(_ context.Context, at point) (engine.Objects, error) {
	objects, err := m.parts(at)
	return m.scope.cut(objects), err
}

// parts renders the parts that clusterctl-x itself moves.
func (m *versionOnlyMode) parts(at point) (engine.Objects, error) {
	objects := engine.Objects{Parts: map[string][]*unstructured.Unstructured{}}
	for _, part := range m.from.state.Parts() {
		live, version := m.object(part), at.versions.Of(part.Name)
		if part.Unmanaged || live == nil || version.IsZero() {
			continue
		}
		written, err := m.part(part.Name, live, version, at)
		if err != nil {
			return objects, err
		}
		objects.Parts[part.Name] = written
	}
	return objects, nil
}

// object is the live object that has the version of a part; nil where there is none.
func (m *versionOnlyMode) object(part state.Part) *unstructured.Unstructured {
	if part.Name == v1alpha1.ControlPlaneName {
		return m.live.ControlPlane
	}
	return m.live.ByName[part.Object]
}

// part renders a part at a version: the object that has the version, and before it the
// template that it refers to where that is a new one.
func (m *versionOnlyMode) part(name string, live *unstructured.Unstructured, version v1alpha1.Version, at point) ([]*unstructured.Unstructured, error) {
	object, err := versioned(live, version)
	if err != nil {
		return nil, err
	}
	moves := version != m.runs(name)
	if err := m.allowNewMachines(name, object, live, at); err != nil {
		return nil, err
	}
	if !moves {
		return []*unstructured.Unstructured{object}, nil
	}
	template, err := m.template(name, live, version)
	if template == nil || err != nil {
		return []*unstructured.Unstructured{object}, err
	}
	if err := refer(object, live, template); err != nil {
		return nil, err
	}
	return []*unstructured.Unstructured{template, object}, nil
}

// runs is the version that a part has now.
func (m *versionOnlyMode) runs(part string) v1alpha1.Version {
	if part == v1alpha1.ControlPlaneName {
		return m.from.start.ControlPlane.Version
	}
	return m.from.start.WorkerNodeGroups[part].Version
}

// allowNewMachines lets a MachineDeployment get machines of an older minor than the control
// plane has, where a step needs them, for as long as it is behind. An annotation that others
// set stays as it is.
func (m *versionOnlyMode) allowNewMachines(group string, object, live *unstructured.Unstructured, at point) error {
	version := at.versions.WorkerNodeGroups[group]
	const key = clusterv1.MachineSetSkipPreflightChecksAnnotation
	_, ours := object.GetAnnotations()[key]
	_, there := live.GetAnnotations()[key]
	if object.GetKind() != machineDeployment || m.from.topology != nil || there && !ours {
		return nil
	}
	switch {
	case version.Minor() == at.versions.ControlPlane.Minor():
		unstructured.RemoveNestedField(object.Object, "metadata", "annotations", key)
	case version != m.runs(group):
		if err := unstructured.SetNestedField(object.Object, string(clusterv1.MachineSetPreflightCheckKubeadmVersionSkew), "metadata", "annotations", key); err != nil {
			return fmt.Errorf("annotating %s: %w", object.GetName(), err)
		}
	}
	return nil
}

// compare finds no changes: nothing but versions is asked for.
func (*versionOnlyMode) compare(context.Context, engine.Objects) (differences, error) {
	return differences{byPart: partChanges{}}, nil
}

func (*versionOnlyMode) path(context.Context, plan.Input, differences) (*plan.TopologyPath, error) {
	return nil, nil
}

func (m *versionOnlyMode) check(_ context.Context, p plan.Plan) ([]string, error) {
	return groupNotes(m.from.state, p), nil
}

func (*versionOnlyMode) dryRun(_ plan.Plan, states []engine.Objects) ([]*unstructured.Unstructured, []engine.Objects) {
	return states[0].All(), states[1:]
}

func (m *versionOnlyMode) missing(p plan.Plan) []plan.Finding { return m.missingImages(p) }

// drive leaves all steps to clusterctl-x.
func (*versionOnlyMode) drive(*engine.Program) {}

// versionOnlyTopologyMode is the mode of version-only upgrades of clusters from a
// ClusterClass: the Cluster gets the version of its topology, and groups that are out of the
// topology get their own.
type versionOnlyTopologyMode struct {
	topologyMode
	parts versionOnlyMode
}

func (m *versionOnlyTopologyMode) render(_ context.Context, at point) (engine.Objects, error) {
	objects, err := m.parts.parts(at)
	if err != nil {
		return objects, err
	}
	for name := range objects.Parts {
		if !at.outside[name] {
			delete(objects.Parts, name)
		}
	}
	if len(m.scope.Groups) > 0 {
		return objects, nil
	}
	cluster, err := owned(m.parts.live.Cluster)
	if err != nil {
		return objects, err
	}
	objects.Cluster = []*unstructured.Unstructured{cluster}
	err = unstructured.SetNestedField(cluster.Object, at.topology.String(), "spec", "topology", "version")
	return objects, err
}

func (m *versionOnlyTopologyMode) compare(context.Context, engine.Objects) (differences, error) {
	if err := m.checkPins(); err != nil {
		return differences{}, err
	}
	m.wanted = m.from.topology.cluster
	return differences{byPart: partChanges{}, topology: observe.Topology(m.wanted)}, nil
}

// checkPins refuses a version for a group that moves with the topology.
func (m *versionOnlyTopologyMode) checkPins() error {
	for name := range m.spec.change.WorkerNodeGroups {
		if part, exists := m.from.state.Group(name); exists && !part.Detached {
			return &management.RefusedError{Check: "group-of-topology", Reason: fmt.Sprintf(
				"%s %s: the group is part of the topology of cluster %s, and Cluster API upgrades it with the rest; write a file with 'clusterctl-x import cluster %s', give the group a kubernetesVersion in it, and upgrade with that file",
				GroupVersionFlag, name, m.from.state.Name, m.from.state.Name)}
		}
	}
	return nil
}

func (m *versionOnlyTopologyMode) path(ctx context.Context, in plan.Input, d differences) (*plan.TopologyPath, error) {
	if len(m.scope.Groups) > 0 {
		return &plan.TopologyPath{From: m.from.state.Topology.Version}, nil
	}
	return m.topologyMode.path(ctx, in, d)
}

func (m *versionOnlyTopologyMode) missing(p plan.Plan) []plan.Finding {
	return append(m.topologyMode.missing(p), m.parts.missingImages(p)...)
}

func (m *versionOnlyTopologyMode) drive(program *engine.Program) {
	if len(m.scope.Groups) == 0 {
		m.topologyMode.drive(program)
	}
}

// versionOnly returns the mode of a request for versions alone.
func (r request) versionOnly(with source, at point) mode {
	parts := versionOnlyMode{request: r, live: r.from.live}
	if !r.spec.managed() {
		return &parts
	}
	return &versionOnlyTopologyMode{topologyMode: topologyMode{classMode: classMode{request: r, source: with, outside: at.outside}}, parts: parts}
}
