package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/clusterclass"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/observe"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// classMode is what the modes of clusters from a ClusterClass have in common.
type classMode struct {
	request
	source
	// groups renders the groups that the topology does not have.
	groups detachedGroups
	// outside are the detached groups when the upgrade starts.
	outside map[string]bool
}

func (*classMode) check(context.Context, plan.Plan) ([]string, error) { return nil, nil }

// missing returns nothing: objects of detached groups are generated while the plan is made.
func (*classMode) missing(plan.Plan) []plan.Finding { return nil }

// topologyMode is the mode of clusters from a ClusterClass.
type topologyMode struct {
	classMode
	// wanted is the Cluster that is asked for, as the API server would have it.
	wanted *clusterv1.Cluster
	// unmakeable are the parts that Cluster API can make nothing of at a version of the plan.
	unmakeable []plan.Finding
}

// render renders the Cluster with a version of its topology, and the groups that the
// topology does not have.
func (m *topologyMode) render(ctx context.Context, at point) (engine.Objects, error) {
	without, given := at.outside, map[string]string{}
	hasVersions := m.from.topology.hasVersions()
	if hasVersions {
		without = map[string]bool{}
		for name := range at.outside {
			version, there := at.versions.WorkerNodeGroups[name]
			without[name], given[name] = !there, version.String()
		}
	}
	objects, err := m.request.render(v1alpha1.ClusterVersions{ControlPlane: at.topology}, without)
	if err != nil {
		return engine.Objects{}, err
	}
	delete(objects.Parts, v1alpha1.ControlPlaneName)
	if hasVersions {
		_, err := management.GiveVersions(objects.Cluster[0], given)
		return objects, err
	}
	parts, err := m.groups.at(ctx, at)
	maps.Copy(objects.Parts, parts)
	return objects, err
}

// compare compares what Cluster API would make of the cluster as it is, and of the one
// that is asked for.
func (m *topologyMode) compare(ctx context.Context, first engine.Objects) (differences, error) {
	before := m.from.topology
	wanted, err := m.accepted(ctx, first.Cluster[0])
	if err != nil {
		return differences{}, err
	}
	if err := m.checkUnmanaged(wanted); err != nil {
		return differences{}, err
	}
	m.wanted = wanted
	found, err := m.Compare(ctx, first.Cluster)
	if err != nil {
		return differences{}, clusterclass.Admission(m.spec.Config, err)
	}
	found = withoutParts(found, first.Cluster[0])
	if err := m.checkImmutable(found); err != nil {
		return differences{}, err
	}
	d, err := m.groups.compare(ctx, m.source, first, m.outside)
	if err != nil {
		return differences{}, err
	}
	d.topology = observe.Topology(wanted)
	found, d.adopted = adopted(found, m.resolved.Config.Cluster.Metadata.Name)
	d.byPart.add("", byPart(engine.Objects{}, found, m.from.names)[""].Fields...)
	if m.from.state.Pause != nil && !inTransition(m.from.state) {
		d.byPart.add("", pauseLifted(before.cluster)...)
	}
	unused, err := m.Unused(ctx, first.All())
	if err != nil {
		return differences{}, err
	}
	d.removed = append(d.removed, unused...)
	d.byPart.add("", removals(unused)...)
	was, is, err := generated(ctx, *before, *m.spec.class, wanted)
	var unknown *unknownError
	switch {
	case errors.As(err, &unknown) && sameTopology(before.cluster, wanted):
		return d, nil
	case errors.As(err, &unknown):
		whole := d.byPart[""]
		whole.Unknown = &unknown.Unknown
		d.byPart[""] = whole
	case err != nil:
		return differences{}, err
	}
	maps.DeleteFunc(is, func(name string, _ []*unstructured.Unstructured) bool { return m.outside[name] })
	parts, err := compareParts(was, is, m.from.names)
	if err == nil {
		err = m.checkImmutable(parts.found)
	}
	if err != nil {
		return differences{}, err
	}
	d.removed = append(d.removed, parts.removed...)
	for name, of := range parts.byPart {
		d.byPart.add(name, of.Fields...)
	}
	if err := addUnseen(d.byPart, before.cluster, wanted); err != nil {
		return differences{}, err
	}
	d.byPart.add("", deferrals(before.cluster, wanted)...)
	return d, nil
}

// accepted returns what the API server would make of the Cluster, checked against the
// class.
func (m *topologyMode) accepted(ctx context.Context, object *unstructured.Unstructured) (*clusterv1.Cluster, error) {
	wanted, err := m.source.topology.TryCluster(ctx, object)
	if err == nil {
		return wanted, m.spec.use().CheckAccepted(ctx, wanted)
	}
	// Our own check has the better words.
	if refused := m.spec.use().Check(ctx, object, m.from.topology.cluster); refused != nil {
		return nil, refused
	}
	return nil, clusterclass.Admission(m.spec.Config, err)
}

func (m *topologyMode) path(ctx context.Context, in plan.Input, d differences) (*plan.TopologyPath, error) {
	if err := m.checkUpgradeUnderWay(); err != nil {
		return nil, err
	}
	return pathOf(ctx, m.spec, in, m.from.state.Topology.Version, d.topology.Deferred(), m.source.topology)
}

func (m *topologyMode) drive(program *engine.Program) {
	program.Topology, program.TopologyVersions = true, m.from.topology.hasVersions()
}

// pathOf returns the path of a cluster from a ClusterClass to the versions that its spec
// was resolved to.
func pathOf(ctx context.Context, s Spec, in plan.Input, version v1alpha1.Version, deferred map[string]string, server topologyServer) (*plan.TopologyPath, error) {
	finder := topology.PathFinder{From: version, Versions: s.class.Versions(), Releases: in.Releases, Policy: in.Policy}
	if extension := s.class.Spec.Upgrade.External.GenerateUpgradePlanExtension; extension != "" {
		finder.Ask = server.Asking(extension)
	}
	found, err := finder.Path(ctx, in, deferred)
	if unanswered := (*management.ExtensionError)(nil); errors.As(err, &unanswered) {
		return nil, unanswered
	}
	if err != nil {
		return nil, &plan.NoPlanError{Reasons: []string{fmt.Sprintf("ClusterClass %s: there is no upgrade path to %s: %v", s.class.Name, in.Target.ControlPlane, err)}}
	}
	return found, nil
}

// checkUpgradeUnderWay rejects another version while an upgrade is under way.
func (m *topologyMode) checkUpgradeUnderWay() error {
	now, target := m.from.state, m.resolved.Versions.ControlPlane
	if target == now.Topology.Version {
		return nil
	}
	var behind []string
	for _, part := range now.Parts() {
		if !part.Unmanaged && !part.Detached && (part.Version != now.Topology.Version || part.Oldest() != now.Topology.Version) {
			behind = append(behind, fmt.Sprintf("%s at %s", part.Name, part.Oldest()))
		}
	}
	if len(behind) == 0 && !now.Topology.Upgrading {
		return nil
	}
	if len(behind) == 0 {
		behind = []string{"all parts are there, and its hook AfterClusterUpgrade is pending"}
	}
	remedy := fmt.Sprintf("'clusterctl-x watch cluster %s -n %s' waits for it", now.Name, now.Namespace)
	if postponed := now.Postponed(); len(postponed) > 0 {
		remedy = strings.Join(postponed, "; ")
	}
	return clusterclass.Refuse(m.spec.Config, field.Invalid(field.NewPath("spec", "kubernetesVersion"), m.resolved.Config.Cluster.Spec.KubernetesVersion.String(), fmt.Sprintf(
		"cluster %s is still being upgraded to %s (%s), and Cluster API accepts no other version until that is done: use %s first; %s",
		now.Name, now.Topology.Version, strings.Join(behind, ", "), now.Topology.Version, remedy)))
}

// inTransition reports whether groups are half-way: then the step that completes that
// lifts the pause.
func inTransition(cluster state.Cluster) bool {
	return slices.ContainsFunc(cluster.WorkerNodeGroups, func(p state.Part) bool { return cluster.Between(p.Name) })
}

// checkUnmanaged refuses a topology with groups that the spec does not name, nor can
// take away by not naming them: others own them.
func (m *topologyMode) checkUnmanaged(wanted *clusterv1.Cluster) error {
	named := map[string]bool{}
	for _, group := range m.resolved.Config.Cluster.Spec.WorkerNodeGroupConfigurations {
		named[group.Name] = true
	}
	for _, group := range wanted.Spec.Topology.Workers.MachineDeployments {
		if !named[group.Name] {
			return &management.RefusedError{Check: "group-of-others", Reason: fmt.Sprintf(
				"the topology of cluster %s has group %s, which clusterctl-x did not make and the file does not name; add it to the file, or remove it from the Cluster with 'kubectl edit'", wanted.Name, group.Name)}
		}
	}
	if pools := wanted.Spec.Topology.Workers.MachinePools; len(pools) > 0 {
		return &management.RefusedError{Check: "machine-pools", Reason: fmt.Sprintf(
			"the topology of cluster %s has MachinePool %s, which no field of a spec describes; clusterctl-x does not upgrade such clusters: change the Cluster with kubectl", wanted.Name, pools[0].Name)}
	}
	return nil
}
