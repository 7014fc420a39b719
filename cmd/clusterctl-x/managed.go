package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// managedOrigin is what an upgrade of a cluster from a ClusterClass begins with.
type managedOrigin struct {
	state   state.Cluster
	cluster *clusterv1.Cluster
	// class that the cluster has now.
	class    topology.Class
	generate generator
	// defaults is topology.Parts.WithDefaults.
	defaults func(topology.Parts) (topology.Parts, error)
	chain    chainFunc
	// tried is what the API server would make of the Cluster of a spec.
	tried func(spec, *unstructured.Unstructured) (*clusterv1.Cluster, error)
	// same is management.Client.SameTemplate.
	same func(deployment string, template *unstructured.Unstructured) (string, error)
	// native is true where Cluster API takes versions for groups itself.
	native bool
	// complete is spec.complete.
	complete func(spec, *clusterv1.Cluster) (*clusterv1.Cluster, error)
}

// observeManaged reads what only clusters from a ClusterClass have.
func (a *app) observeManaged(ctx context.Context, l *live) (err error) {
	if reason := l.state.PutBack(); reason != "" {
		return &management.RefusedError{Check: "group-put-back", Reason: reason}
	}
	from := &managedOrigin{state: l.state}
	if l.spec, err = a.withClass(ctx, l.connection, l.spec, l.key.Namespace); err != nil {
		return err
	}
	if from.cluster, err = l.LiveCluster(ctx, l.key); err != nil {
		return err
	}
	from.class = *l.spec.class
	if key := from.cluster.GetClassKey(); key.Name != from.class.Name || key.Namespace != from.class.Namespace {
		class, exists, err := l.Class(ctx, key)
		if err != nil {
			return err
		}
		if !exists {
			return &management.RefusedError{Check: "class-missing", Reason: fmt.Sprintf("ClusterClass %s, which cluster %s is made from, is gone; apply it again", key, l.key)}
		}
		from.class = class
		if err := l.spec.mayBecome(class); err != nil {
			return err
		}
	}
	from.generate, from.defaults = generatorOf(ctx), defaultsOf(ctx)
	from.same = func(deployment string, template *unstructured.Unstructured) (string, error) {
		return l.SameTemplate(ctx, deployment, template)
	}
	from.complete = func(s spec, cluster *clusterv1.Cluster) (*clusterv1.Cluster, error) {
		return s.complete(ctx, cluster, from.cluster)
	}
	from.chain = chainOf(ctx, l.connection, l.key)
	from.tried = func(s spec, object *unstructured.Unstructured) (*clusterv1.Cluster, error) {
		wanted, err := l.TryCluster(ctx, object)
		if err == nil {
			return wanted, s.checkTried(ctx, wanted)
		}
		// Our own check has the better words.
		if refused := s.checkClass(ctx, object, from.cluster); refused != nil {
			return nil, refused
		}
		return nil, s.admission(err)
	}
	l.origin.managed, l.origin.names = from, liveNames(l.state, from.cluster)
	from.native, err = a.isNative(ctx, l)
	return err
}

// isNative asks Cluster API whether it takes versions for groups itself, where some
// are pinned. A cluster whose groups were taken out of the topology goes on with
// that.
func (a *app) isNative(ctx context.Context, l *live) (bool, error) {
	now := l.state
	pinned := false
	for _, group := range now.Topology.Groups {
		pinned = pinned || group.Pinned
	}
	for _, group := range now.WorkerNodeGroups {
		if group.Detached && !pinned {
			return false, nil
		}
	}
	if pinned || len(pins(l.spec.config)) == 0 {
		return pinned, nil
	}
	versions := map[string]string{}
	for _, group := range now.WorkerNodeGroups {
		versions[group.Name] = group.Version.String()
	}
	return l.TakesVersions(ctx, l.key, versions)
}

// chainFunc is topology.Road.Chain, for a class that has its plans from a runtime
// extension, where one is named.
type chainFunc func(road topology.Road, extension string, in plan.Input, deferred map[string]string) (*plan.Chain, error)

func chainOf(ctx context.Context, c *connection, cluster client.ObjectKey) chainFunc {
	known := management.Planner{Certificates: c.certificates}
	return func(road topology.Road, extension string, in plan.Input, deferred map[string]string) (*plan.Chain, error) {
		if extension != "" {
			road.Ask = known.Asking(c.Client, cluster, extension)
		}
		return road.Chain(ctx, in, deferred)
	}
}

// prepareDetachedAlone plans and renders the way of groups that are out of the topology
// of their cluster, of which nothing is written.
func (p *prepared) prepareDetachedAlone(in plan.Input, from origin) error {
	in.Chain = &plan.Chain{From: from.managed.state.Topology.Version}
	own := map[string]bool{}
	for _, group := range p.about.groups {
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
	if p.plan, err = plan.Compute(in); err != nil {
		return err
	}
	p.stages = []rollout.Objects{first}
	for i := range p.plan.Steps {
		next, err := stage(p.plan.Versions(i + 1))
		if err != nil {
			return err
		}
		p.stages = append(p.stages, next)
	}
	return nil
}

// prepareManaged plans and renders the way of a cluster from a ClusterClass.
func (p *prepared) prepareManaged(in plan.Input, from origin) error {
	in.Chain = &plan.Chain{From: from.managed.state.Topology.Version}
	own := in.Outside()
	p.native = from.managed.native
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
	if p.plan, err = plan.Compute(in); err != nil {
		return err
	}
	p.stages, err = p.managedStages(first, *in.Chain, own)
	return err
}

// way is what Cluster API does to take the cluster to the version that was
// resolved.
func (p prepared) way(in plan.Input, from origin) (*plan.Chain, error) {
	if err := p.retargets(from); err != nil {
		return nil, err
	}
	return wayOf(p.spec, in, *p.wanted, from.managed.chain)
}

// wayOf is the way of a cluster from a ClusterClass to the versions that its spec
// was resolved to.
func wayOf(s spec, in plan.Input, wanted state.Topology, chain chainFunc) (*plan.Chain, error) {
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
func (p prepared) retargets(from origin) error {
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
	return p.spec.refuse(field.Invalid(field.NewPath("spec", "kubernetesVersion"), p.resolved.Config.Cluster.Spec.KubernetesVersion.String(), fmt.Sprintf(
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
func (p prepared) ofOthers(wanted *clusterv1.Cluster) error {
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
func (m *managedOrigin) both(class topology.Class, wanted *clusterv1.Cluster) (was, is topology.Parts, err error) {
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
func (m *managedOrigin) withDefaults(was, is topology.Parts) (topology.Parts, topology.Parts, error) {
	was, err := m.defaults(was)
	if err != nil {
		return nil, nil, err
	}
	is, err = m.defaults(is)
	return was, is, err
}
