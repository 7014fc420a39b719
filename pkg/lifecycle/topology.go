package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/clusterclass"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// currentTopology is what an upgrade of a cluster from a ClusterClass begins with.
type currentTopology struct {
	state   state.Cluster
	cluster *clusterv1.Cluster
	// class that the cluster has now.
	class    topology.Class
	generate generator
	// defaults is topology.Parts.WithDefaults.
	defaults func(topology.Parts) (topology.Parts, error)
	chain    chainFunc
	// tried is what the API server would make of the Cluster of a spec.
	tried func(Spec, *unstructured.Unstructured) (*clusterv1.Cluster, error)
	// same is management.Client.SameTemplate.
	same func(deployment string, template *unstructured.Unstructured) (string, error)
	// topologyVersions is true where Cluster API takes versions for groups in the
	// topology itself.
	topologyVersions bool
	// complete is clusterclass.Use.Complete.
	complete func(Spec, *clusterv1.Cluster) (*clusterv1.Cluster, error)
}

// observeManaged reads what only clusters from a ClusterClass have.
func (s *Service) observeManaged(ctx context.Context, spec Spec, now *current) (Spec, error) {
	if reason := now.state.PutBack(); reason != "" {
		return spec, &management.RefusedError{Check: "group-put-back", Reason: reason}
	}
	key := types.NamespacedName{Namespace: now.state.Namespace, Name: now.state.Name}
	from := &currentTopology{state: now.state}
	spec, err := spec.withClass(ctx, s.client, key.Namespace)
	if err != nil {
		return spec, err
	}
	if from.cluster, err = s.client.LiveCluster(ctx, key); err != nil {
		return spec, err
	}
	from.class = *spec.class
	if of := from.cluster.GetClassKey(); of.Name != from.class.Name || of.Namespace != from.class.Namespace {
		class, exists, err := s.client.Class(ctx, of)
		if err != nil {
			return spec, err
		}
		if !exists {
			return spec, &management.RefusedError{Check: "class-missing", Reason: fmt.Sprintf("ClusterClass %s, which cluster %s is made from, is gone; apply it again", of, key)}
		}
		from.class = class
		if err := spec.use().CheckRebase(class); err != nil {
			return spec, err
		}
	}
	from.generate, from.defaults = generatorOf(ctx), defaultsOf(ctx)
	from.same = func(deployment string, template *unstructured.Unstructured) (string, error) {
		return s.client.SameTemplate(ctx, deployment, template)
	}
	from.complete = func(of Spec, cluster *clusterv1.Cluster) (*clusterv1.Cluster, error) {
		return of.use().Complete(ctx, cluster, from.cluster)
	}
	from.chain = s.chain(ctx, key)
	from.tried = func(of Spec, object *unstructured.Unstructured) (*clusterv1.Cluster, error) {
		wanted, err := s.client.TryCluster(ctx, object)
		if err == nil {
			return wanted, of.use().CheckAccepted(ctx, wanted)
		}
		// Our own check has the better words.
		if refused := of.use().Check(ctx, object, from.cluster); refused != nil {
			return nil, refused
		}
		return nil, clusterclass.Admission(of.Config, err)
	}
	now.managed, now.names = from, liveNames(now.state, from.cluster)
	from.topologyVersions, err = s.takesTopologyVersions(ctx, spec, now.state)
	return spec, err
}

// takesTopologyVersions asks Cluster API whether it takes versions for groups in the
// topology itself, where some are pinned. A cluster whose groups were taken out of the
// topology goes on with that.
func (s *Service) takesTopologyVersions(ctx context.Context, spec Spec, now state.Cluster) (bool, error) {
	pinned := false
	for _, group := range now.Topology.Groups {
		pinned = pinned || group.Pinned
	}
	for _, group := range now.WorkerNodeGroups {
		if group.Detached && !pinned {
			return false, nil
		}
	}
	if pinned || len(pins(spec.Config)) == 0 {
		return pinned, nil
	}
	versions := map[string]string{}
	for _, group := range now.WorkerNodeGroups {
		versions[group.Name] = group.Version.String()
	}
	return s.client.TakesVersions(ctx, types.NamespacedName{Namespace: now.Namespace, Name: now.Name}, versions)
}

// chainFunc is topology.Road.Chain, for a class that has its plans from a runtime
// extension, where one is named.
type chainFunc func(road topology.Road, extension string, in plan.Input, deferred map[string]string) (*plan.Chain, error)

func (s *Service) chain(ctx context.Context, cluster types.NamespacedName) chainFunc {
	known := management.Planner{Certificates: s.options.Certificates}
	return func(road topology.Road, extension string, in plan.Input, deferred map[string]string) (*plan.Chain, error) {
		if extension != "" {
			road.Ask = known.Asking(s.client, cluster, extension)
		}
		return road.Chain(ctx, in, deferred)
	}
}

// prepareDetachedAlone plans and renders the way of groups that are out of the topology
// of their cluster, of which nothing is written.
func (p *Upgrade) prepareDetachedAlone(in plan.Input, from current) error {
	in.Chain = &plan.Chain{From: from.managed.state.Topology.Version}
	own := map[string]bool{}
	for _, group := range p.scope.Groups {
		own[group] = true
	}
	if err := p.prepareDetached(own, from); err != nil {
		return err
	}
	stage := func(versions v1alpha1.ClusterVersions) (rollout.Objects, error) {
		parts, err := p.ownParts(own, versions)
		return rollout.Objects{Parts: parts}, err
	}
	first, err := stage(from.start.Versions())
	if err != nil {
		return err
	}
	if in.Changes, err = p.ownChanges(first, own, from); err != nil {
		return err
	}
	p.anyGeneration(in.Metadata)
	if p.Plan, err = plan.Compute(in); err != nil {
		return err
	}
	p.States = []rollout.Objects{first}
	for i := range p.Plan.Steps {
		next, err := stage(p.Plan.Versions(i + 1))
		if err != nil {
			return err
		}
		p.States = append(p.States, next)
	}
	return nil
}

// prepareManaged plans and renders the way of a cluster from a ClusterClass.
func (p *Upgrade) prepareManaged(in plan.Input, from current) error {
	in.Chain = &plan.Chain{From: from.managed.state.Topology.Version}
	own := in.Outside()
	p.topologyVersions = from.managed.topologyVersions
	if err := p.prepareDetached(own, from); err != nil {
		return err
	}
	first, err := p.managedStage(in.Chain.From, own, from.start.Versions())
	if err != nil {
		return err
	}
	if in.Changes, err = p.managedChanges(first, own, from); err != nil {
		return err
	}
	p.anyGeneration(in.Metadata)
	if in.Chain, err = p.way(in, from); err != nil {
		return err
	}
	if p.Plan, err = plan.Compute(in); err != nil {
		return err
	}
	p.States, err = p.managedStages(first, *in.Chain, own)
	return err
}

// way is what Cluster API does to take the cluster to the version that was
// resolved.
func (p Upgrade) way(in plan.Input, from current) (*plan.Chain, error) {
	if err := p.retargets(from); err != nil {
		return nil, err
	}
	return wayOf(p.spec, in, *p.wanted, from.managed.chain)
}

// wayOf is the way of a cluster from a ClusterClass to the versions that its spec
// was resolved to.
func wayOf(s Spec, in plan.Input, wanted state.Topology, chain chainFunc) (*plan.Chain, error) {
	road := topology.Road{Versions: s.class.Versions(), Releases: in.Releases, Policy: in.Policy}
	found, err := chain(road, s.class.Spec.Upgrade.External.GenerateUpgradePlanExtension, in, wanted.Deferred())
	if unanswered := (*management.UnansweredError)(nil); errors.As(err, &unanswered) {
		return nil, unanswered
	}
	if err != nil {
		return nil, &plan.ImpossibleError{Reasons: []string{fmt.Sprintf("ClusterClass %s: there is no way to %s: %v", s.class.Name, in.Target.ControlPlane, err)}}
	}
	return found, nil
}

// retargets refuses another version while the cluster is on its way to one.
func (p Upgrade) retargets(from current) error {
	now, target := from.managed.state, p.resolved.Versions.ControlPlane
	if target == now.Topology.Version {
		return nil
	}
	var behind []string
	for _, part := range now.Parts() {
		if !part.Foreign && !part.Detached && (part.Version != now.Topology.Version || part.Oldest() != now.Topology.Version) {
			behind = append(behind, fmt.Sprintf("%s at %s", part.Name, part.Oldest()))
		}
	}
	if len(behind) == 0 && !now.Topology.Upgrading {
		return nil
	}
	if len(behind) == 0 {
		behind = []string{"all parts are there, and its hook AfterClusterUpgrade is not done"}
	}
	remedy := fmt.Sprintf("'clusterctl-x watch cluster %s -n %s' waits for it", now.Name, now.Namespace)
	if frozen := now.Frozen(); len(frozen) > 0 {
		remedy = strings.Join(frozen, "; ")
	}
	return clusterclass.Refuse(p.spec.Config, field.Invalid(field.NewPath("spec", "kubernetesVersion"), p.resolved.Config.Cluster.Spec.KubernetesVersion.String(), fmt.Sprintf(
		"cluster %s is still on its way to %s (%s), and Cluster API takes no other version until it is there: use %s first; %s",
		now.Name, now.Topology.Version, strings.Join(behind, ", "), now.Topology.Version, remedy)))
}

// liveNames are the names, as Kind/name, that Cluster API gave the objects of a
// cluster from a ClusterClass, by those that topology.Generate gives them.
func liveNames(cluster state.Cluster, object *clusterv1.Cluster) map[string]string {
	controlPlaneKind, _, _ := strings.Cut(cluster.ControlPlane.Object, "/")
	names := map[string]string{controlPlaneKind + "/" + cluster.Name: cluster.ControlPlane.Object}
	for _, part := range cluster.Parts() {
		kind, name, _ := strings.Cut(part.Object, "/")
		generated := cluster.Name + "-" + part.Name
		if part.Name != v1alpha1.ControlPlaneName {
			names[kind+"/"+generated] = part.Object
		}
		names[machineHealthCheck+"/"+generated] = machineHealthCheck + "/" + name
	}
	infrastructure := object.Spec.InfrastructureRef
	names[infrastructure.Kind+"/"+cluster.Name] = infrastructure.Kind + "/" + infrastructure.Name
	return names
}

// between tells whether groups are half-way: then the step that completes that
// lifts the pause.
func between(cluster state.Cluster) bool {
	return slices.ContainsFunc(cluster.WorkerNodeGroups, func(p state.Part) bool { return cluster.Between(p.Name) })
}

// sameTopology tells whether two Clusters ask for the same but for the version.
func sameTopology(a, b *clusterv1.Cluster) bool {
	one, other := a.Spec.Topology.DeepCopy(), b.Spec.Topology.DeepCopy()
	one.Version = other.Version
	return reflect.DeepEqual(one, other)
}

// ofOthers refuses a topology with groups that the spec does not name, nor can
// take away by not naming them: others own them.
func (p Upgrade) ofOthers(wanted *clusterv1.Cluster) error {
	named := map[string]bool{}
	for _, group := range p.resolved.Config.Cluster.Spec.WorkerNodeGroupConfigurations {
		named[group.Name] = true
	}
	for _, group := range wanted.Spec.Topology.Workers.MachineDeployments {
		if !named[group.Name] {
			return &management.RefusedError{Check: "group-of-others", Reason: fmt.Sprintf(
				"the topology of cluster %s has group %s, which somebody else made and the file does not name; add it to the file, or take it out of the Cluster with 'kubectl edit'", wanted.Name, group.Name)}
		}
	}
	if pools := wanted.Spec.Topology.Workers.MachinePools; len(pools) > 0 {
		return &management.RefusedError{Check: "machine-pools", Reason: fmt.Sprintf(
			"the topology of cluster %s has MachinePool %s, which no field of a spec describes; clusterctl-x does not upgrade such clusters: change the Cluster with kubectl", wanted.Name, pools[0].Name)}
	}
	return nil
}

// externalError says that what a class makes cannot be computed.
type externalError string

func (e externalError) Error() string { return string(e) }

// both are the objects of the cluster as it is, and as it is wanted, at the same
// version: what differs is what else is asked for.
func (m *currentTopology) both(class topology.Class, wanted *clusterv1.Cluster) (was, is topology.Parts, err error) {
	if class.External() || m.class.External() {
		return nil, nil, externalError("ClusterClass " + class.Name + " has patches of runtime extensions: which machines are replaced for other changes than the version cannot be told beforehand")
	}
	was, err = m.generate(m.class, m.cluster)
	if unable := (*topology.UnableError)(nil); errors.As(err, &unable) {
		return nil, nil, externalError(fmt.Sprintf("ClusterClass %s can make nothing of the cluster as it is (%s): which machines are replaced for other changes than the version cannot be told beforehand", m.class.Name, unable.Reason))
	}
	if err != nil {
		return nil, nil, err
	}
	if is, err = m.generate(class, wanted); err != nil {
		return nil, nil, err
	}
	return m.withDefaults(was, is)
}

// withDefaults adds to both what the API server would add.
func (m *currentTopology) withDefaults(was, is topology.Parts) (topology.Parts, topology.Parts, error) {
	was, err := m.defaults(was)
	if err != nil {
		return nil, nil, err
	}
	is, err = m.defaults(is)
	return was, is, err
}
