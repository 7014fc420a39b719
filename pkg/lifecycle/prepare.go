package lifecycle

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/controlplanes"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// Upgrade is a planned upgrade. Nothing of it has been written.
type Upgrade struct {
	Key  types.NamespacedName
	Plan plan.Plan
	// States are the objects of the cluster at the versions that the plan begins with,
	// and of those at the end of each step.
	States []engine.Objects

	request
	execution execution
	options   UpgradeOptions
	// restored are the parts with a template that is missing.
	restored []string
	// templates are the templates of the differences.
	templates []*unstructured.Unstructured
}

// request is a spec with its resolved versions, for a current cluster.
type request struct {
	spec      Spec
	scope     scope
	resolved  validations.Resolved
	from      current
	namespace string
	// renamed are the templates that cannot have the names that the documents give them.
	renamed map[string]bool
}

// mode is what differs between clusters: without a ClusterClass the objects of all parts
// are written, with one a Cluster, from which Cluster API makes the others, and the
// groups that the topology does not have.
type mode interface {
	planning
	execution
}

// planning is what differs while an upgrade is planned.
type planning interface {
	// render returns the objects of the cluster at a point of the upgrade.
	render(ctx context.Context, at point) (engine.Objects, error)
	// compare returns the changes other than versions and counts.
	compare(ctx context.Context, first engine.Objects) (differences, error)
	// path returns the path that Cluster API takes by itself; nil where it takes none.
	path(ctx context.Context, in plan.Input, d differences) (*plan.TopologyPath, error)
	// check refuses a plan that cannot be rendered, and returns notes about one that can.
	check(ctx context.Context, p plan.Plan) ([]string, error)
}

// execution is what differs once an upgrade is planned.
type execution interface {
	// dryRun returns the objects that the API server can check before the first step: those
	// of the beginning, and those of later steps.
	dryRun(p plan.Plan, states []engine.Objects) ([]*unstructured.Unstructured, []engine.Objects)
	// missing returns what of a plan is said to be missing.
	missing(p plan.Plan) []plan.Finding
	// drive says in a program who takes its steps.
	drive(program *engine.Program)
}

// point is a point of an upgrade.
type point struct {
	versions v1alpha1.ClusterVersions
	// topology is the version that the topology has, and outside are the groups that it
	// does not have.
	topology v1alpha1.Version
	outside  map[string]bool
}

// differences are the changes of an upgrade other than versions and counts.
type differences struct {
	byPart partChanges
	// removed are the objects, as Kind/name, that the cluster would lose though what they
	// belong to stays.
	removed []string
	// restored are the parts with a template that is missing.
	restored []string
	// adopted are the objects, as Kind/name, that others made.
	adopted []string
	// topology is the future topology of a cluster from a ClusterClass.
	topology *state.Topology
	// templates are the templates that the class names for worker machines, if groups
	// are rendered apart from the topology.
	templates []*unstructured.Unstructured
}

// prepare plans an upgrade of a cluster to a spec and renders every step of it.
func prepare(ctx context.Context, s Spec, from current, with source, o UpgradeOptions, options Options) (Upgrade, error) {
	running := from.running
	if o.LatestPatches {
		running = v1alpha1.ClusterVersions{}
	}
	r, err := newRequest(s, from, running, o, options)
	if err != nil {
		return Upgrade{}, err
	}
	resolved, cluster, in := r.resolved, r.resolved.Config.Cluster, r.planInput()
	begin := r.begin(in)
	m, err := r.mode(ctx, with, begin)
	if err != nil {
		return Upgrade{}, err
	}
	first, err := m.render(ctx, begin)
	if err != nil {
		return Upgrade{}, err
	}
	d, err := m.compare(ctx, first)
	if err != nil {
		return Upgrade{}, err
	}
	in.Changes = d.byPart
	if in.TopologyPath, err = m.path(ctx, in, d); err != nil {
		return Upgrade{}, err
	}
	u := Upgrade{Key: types.NamespacedName{Namespace: r.namespace, Name: cluster.Metadata.Name}, request: r, execution: m, options: o, restored: d.restored, templates: d.templates}
	if u.Plan, err = plan.Compute(in); err != nil {
		return Upgrade{}, err
	}
	if u.Plan.Steps, err = withImages(u.Plan.Steps, resolved); err != nil {
		return Upgrade{}, err
	}
	notes, err := m.check(ctx, u.Plan)
	if err != nil {
		return Upgrade{}, err
	}
	if u.States, err = states(ctx, m, u.Plan, in.TopologyPath, begin, first); err != nil {
		return Upgrade{}, err
	}
	u.Plan.Notes = slices.Concat(u.Plan.Notes, u.Plan.RenameNotes(), notes, from.notes(s), d.adoption(), d.unremediated(), u.Plan.HeldNotes(u.begun(), from.state.Holds))
	return u, nil
}

// newRequest resolves a spec for a current cluster.
func newRequest(s Spec, from current, running v1alpha1.ClusterVersions, o UpgradeOptions, options Options) (request, error) {
	resolved, err := options.resolve(s, running)
	if err == nil {
		err = validations.Update(resolved, from.start.Floor(), from.before)
	}
	if err != nil {
		return request{}, s.namingFlags(err)
	}
	resolved = resolved.Running(from.before, from.start.Versions())
	return request{spec: s, scope: scope{o.Scope}, resolved: resolved, from: from, namespace: cmp.Or(resolved.Config.Cluster.Metadata.Namespace, from.namespace)}, nil
}

// planInput is what the plan depends on, apart from changes of objects.
func (r request) planInput() plan.Input {
	in := r.spec.planInput(r.resolved, r.from.start)
	in.Metadata, in.Scope = r.metadata(), r.scope.Scope
	if kind, _, _ := strings.Cut(r.from.state.ControlPlane.Object, "/"); r.spec.change != nil {
		in.Releases = controlplanes.Of(kind).Releases(in.Target.ControlPlane, in.Releases)
	}
	return in
}

// begin is the point where the upgrade begins.
func (r request) begin(in plan.Input) point {
	at := point{versions: in.Start.Versions()}
	if !r.spec.managed() {
		return at
	}
	at.topology = r.from.state.Topology.Version
	if len(r.scope.Groups) == 0 {
		at.outside = plan.Membership{Start: in.Start, Target: in.Target, Topology: at.topology}.Outside()
		return at
	}
	at.outside = map[string]bool{}
	for _, group := range r.scope.Groups {
		at.outside[group] = true
	}
	return at
}

// mode returns the mode of the cluster, which is at a point now.
func (r request) mode(ctx context.Context, with source, at point) (mode, error) {
	if r.spec.change != nil {
		return r.versionOnly(with, at), nil
	}
	if !r.spec.managed() {
		return newDirectMode(ctx, r, with, at)
	}
	groups, err := r.detachedGroups(ctx, with.topology, at)
	if err != nil {
		return nil, err
	}
	ofClass := classMode{request: r, source: with, groups: groups, outside: at.outside}
	if len(r.scope.Groups) > 0 {
		return &detachedMode{ofClass}, nil
	}
	return &topologyMode{classMode: ofClass}, nil
}

// states renders the cluster as it is written for each step.
func states(ctx context.Context, m mode, p plan.Plan, path *plan.TopologyPath, at point, first engine.Objects) ([]engine.Objects, error) {
	all := []engine.Objects{first}
	for i, step := range p.Steps {
		at = at.after(step, path)
		at.versions = p.Versions(i + 1)
		next, err := m.render(ctx, at)
		if err != nil {
			return nil, err
		}
		all = append(all, next)
	}
	return all, nil
}

// after returns the point at the end of a step, apart from the versions of the parts.
func (at point) after(step plan.Step, path *plan.TopologyPath) point {
	if path == nil {
		return at
	}
	if to := furthest(step); !step.Detached && to.After(at.topology) {
		at.topology = path.Target(to)
	}
	if step.Kind == plan.Return {
		at.outside = maps.Clone(at.outside)
		for _, group := range step.WorkerNodeGroups {
			delete(at.outside, group.Name)
		}
	}
	return at
}

// furthest is the version that a step leads to; zero for one that leads to none.
func furthest(step plan.Step) v1alpha1.Version {
	to := step.To
	for _, group := range step.WorkerNodeGroups {
		if group.To.After(to) {
			to = group.To
		}
	}
	return to
}

// begun reports whether an upgrade is on its way that the plan is about.
func (u Upgrade) begun() bool { return u.from.upgrading || u.continues(u.from.recorded) }

// metadata returns the metadata of the plan. An autoscaler changes its groups at any
// time; that makes no plan stale.
func (r request) metadata() plan.Metadata {
	metadata := r.from.metadata
	metadata.Generations = maps.Clone(metadata.Generations)
	for _, group := range r.resolved.Config.Cluster.Spec.WorkerNodeGroupConfigurations {
		part, exists := r.from.state.Group(group.Name)
		if _, counts := metadata.Generations[part.Object]; exists && counts && group.AutoscalingConfiguration != nil {
			metadata.Generations[part.Object] = plan.AnyGeneration
		}
	}
	return metadata
}

// has reports whether the spec has a group.
func (r request) has(group string) bool {
	return slices.ContainsFunc(r.resolved.Config.Cluster.Spec.WorkerNodeGroupConfigurations, func(g v1alpha1.WorkerNodeGroupConfiguration) bool { return g.Name == group })
}

// planInput is what a plan depends on, from a start to the cluster that the spec asks for,
// by versions and counts alone.
func (s Spec) planInput(resolved validations.Resolved, start plan.Start) plan.Input {
	cluster := resolved.Config.Cluster
	return plan.Input{
		Start: start, Target: target(resolved, start),
		Releases: passable(start.ControlPlane.Version, s.releases().Offered(validations.Needs(resolved.Config, resolved.Provider))),
		Policy:   validations.Policy(cluster), Concurrency: cluster.Spec.UpgradePolicy.Concurrency(),
	}
}

// target is the cluster that the spec asks for. What an autoscaler decides
// stays as it is.
func target(resolved validations.Resolved, start plan.Start) plan.Target {
	cluster := resolved.Config.Cluster
	t := plan.Target{ControlPlane: resolved.Versions.ControlPlane, ControlPlaneMachines: cluster.Spec.ControlPlaneConfiguration.Replicas()}
	if start.ControlPlane.Machines == 0 {
		t.ControlPlaneMachines = 0 // its provider has none
	}
	for _, group := range cluster.Spec.WorkerNodeGroupConfigurations {
		wanted := plan.TargetGroup{
			Name: group.Name, Version: resolved.Versions.WorkerNodeGroups[group.Name], Machines: group.Replicas(),
			Autoscaled: group.AutoscalingConfiguration != nil, Pinned: group.Pinned(),
		}
		if part, exists := start.WorkerNodeGroups[group.Name]; exists && wanted.Autoscaled {
			wanted.Machines = part.Machines
		}
		t.WorkerNodeGroups = append(t.WorkerNodeGroups, wanted)
	}
	return t
}
