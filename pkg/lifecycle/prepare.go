package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/manifests"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// Upgrade is a planned upgrade, of which nothing was written.
type Upgrade struct {
	Key  types.NamespacedName
	Plan plan.Plan
	// States are the objects of the cluster at the versions that the plan begins with,
	// and of those at the end of each step.
	States []rollout.Objects

	spec     Spec
	scope    scope
	resolved validations.Resolved
	from     current
	// standIns are for versions that parts run and no bundle has.
	standIns standIns
	// detached makes the groups that the topology of a cluster does not have.
	detached detachedGroups
	// topologyVersions is true where Cluster API takes versions for groups in the
	// topology itself.
	topologyVersions bool
	// wanted is the topology of a cluster from a ClusterClass as it will be.
	wanted *state.Topology
	// unremediated are the MachineHealthChecks, as Kind/name, that the cluster would
	// lose though what they look after stays.
	unremediated []string
	// restored are the parts with a template that is missing.
	restored []string
}

// prepare plans an upgrade of a cluster to a spec and renders every step of it.
func prepare(s Spec, from current, o UpgradeOptions, options Options) (Upgrade, error) {
	running := from.start.Versions()
	if from.managed != nil {
		running = runningOf(from.managed.state)
	}
	if o.LatestPatches {
		running = v1alpha1.ClusterVersions{}
	}
	resolved, err := options.resolve(s, running)
	if err != nil {
		return Upgrade{}, err
	}
	if err := validations.Update(resolved, from.start.Floor(), from.before); err != nil {
		return Upgrade{}, err
	}
	meta := resolved.Config.Cluster.Metadata
	p := Upgrade{Key: types.NamespacedName{Namespace: cmp.Or(meta.Namespace, from.namespace), Name: meta.Name}, spec: s, scope: scope(o.Scope), resolved: resolved, from: from}
	in := plan.Input{
		Metadata: from.metadata, Start: from.start, Target: target(resolved, from.start),
		Releases: s.releases().Offered(validations.Needs(resolved.Config)), Policy: validations.Policy(resolved.Config.Cluster), Scope: o.Scope,
		Concurrency: resolved.Config.Cluster.Spec.UpgradePolicy.Concurrency(),
	}
	switch {
	case from.managed == nil:
		err = p.prepareClassic(in, from)
	case len(o.Scope.Groups) > 0:
		err = p.prepareDetachedAlone(in, from)
	default:
		err = p.prepareManaged(in, from)
	}
	p.Plan.Notes = slices.Concat(p.Plan.Notes, from.managed.notes(), claimNotes(from.claimed), p.unremediatedNotes(), p.Plan.HeldNotes(p.begun(), from.holds))
	return p, err
}

// notes say what keeps Cluster API from doing what the topology asks for, whatever is
// planned.
func (m *currentTopology) notes() []string {
	if m == nil || m.state.Topology == nil || !m.state.Topology.Failed {
		return nil
	}
	return []string{"Cluster API cannot carry over the topology until this is mended: " + m.state.Topology.Reason}
}

// claimNotes say which MachineDeployments of others become groups of the file.
func claimNotes(claimed []state.Part) []string {
	var notes []string
	for _, part := range claimed {
		notes = append(notes, fmt.Sprintf("%s has the name of group %s, and no label of clusterctl-x: the upgrade takes it over as that group, and a later file without the group removes it", part.Object, part.Name))
	}
	return notes
}

// begun tells whether an upgrade is on its way that the plan is about.
func (p Upgrade) begun() bool {
	if p.from.managed != nil && p.from.managed.state.Topology.Upgrading {
		return true
	}
	return p.continues(p.from.recorded)
}

// runningOf are the versions that a minor may mean on a cluster that is there: of
// one from a ClusterClass where it goes, if it is not there yet.
func runningOf(cluster state.Cluster) v1alpha1.ClusterVersions {
	versions := cluster.Versions()
	if cluster.Topology != nil {
		versions.ControlPlane = cluster.Topology.Version
	}
	return versions
}

// anyGeneration is for groups that an autoscaler changes at any time; no plan is
// stale for that.
func (p Upgrade) anyGeneration(metadata plan.Metadata) {
	for _, group := range p.resolved.Config.Cluster.Spec.WorkerNodeGroupConfigurations {
		object := "MachineDeployment/" + cmp.Or(p.detached.names[group.Name], p.resolved.Config.Cluster.Metadata.Name+"-"+group.Name)
		if _, there := metadata.Generations[object]; there && group.AutoscalingConfiguration != nil {
			metadata.Generations[object] = plan.AnyGeneration
		}
	}
}

func (p *Upgrade) prepareClassic(in plan.Input, from current) error {
	p.standIns = standInsFor(p.spec.bundles, from)
	first, err := p.stage(from.start.Versions(), p.scope)
	if err != nil {
		return err
	}
	if in.Changes, err = p.changes(first, from, p.scope); err != nil {
		return err
	}
	p.anyGeneration(in.Metadata)
	if p.Plan, err = plan.Compute(in); err != nil {
		return err
	}
	if err := p.standIns.check(p.Plan); err != nil {
		return err
	}
	p.Plan.Notes = append(p.Plan.Notes, p.standIns.notes()...)
	p.States = []rollout.Objects{first}
	for i := range p.Plan.Steps {
		stage, err := p.stage(p.Plan.Versions(i+1), p.scope)
		if err != nil {
			return err
		}
		p.States = append(p.States, stage)
	}
	return nil
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

// stage renders the cluster at the given versions. Every one of them must have a
// release, or a stand-in.
func (p Upgrade) stage(versions v1alpha1.ClusterVersions, about scope) (rollout.Objects, error) {
	rendered, err := p.render(versions, nil)
	if err != nil {
		return rollout.Objects{}, err
	}
	objects, err := decodeParts(rendered)
	return about.cut(objects), err
}

// render renders the cluster at versions, and its topology without the groups that
// are detached.
func (p Upgrade) render(versions v1alpha1.ClusterVersions, detached map[string]bool) (manifests.Objects, error) {
	set, _ := p.spec.bundles.With(p.standIns.releases()).SetOf(versions)
	return manifests.Render(manifests.Input{
		Config: p.resolved.Config, Versions: versions, Set: set, Namespace: p.Key.Namespace, Detached: detached, Downloads: p.spec.bundles.Releases(),
	})
}

func decodeParts(rendered manifests.Objects) (rollout.Objects, error) {
	objects := rollout.Objects{Parts: map[string][]*unstructured.Unstructured{}}
	var err error
	if objects.Cluster, err = decodeAll(rendered.Cluster); err != nil {
		return objects, err
	}
	parts := append([]manifests.GroupObjects{{Name: v1alpha1.ControlPlaneName, Objects: rendered.ControlPlane}}, rendered.Groups...)
	for _, part := range parts {
		if objects.Parts[part.Name], err = decodeAll(part.Objects); err != nil {
			return objects, err
		}
	}
	return objects, nil
}

func decodeAll(objects []templater.Object) ([]*unstructured.Unstructured, error) {
	decoded := make([]*unstructured.Unstructured, len(objects))
	for i, object := range objects {
		u, err := object.Unstructured()
		if err != nil {
			return nil, err
		}
		decoded[i] = u
	}
	return decoded, nil
}

// changes are those besides versions and counts, by part.
func (p *Upgrade) changes(first rollout.Objects, from current, about scope) (map[string]plan.Changes, error) {
	found, err := from.compare(first.All())
	if err != nil {
		return nil, err
	}
	sorted, err := byPart(p.resolved.Config, first, found, from)
	if err != nil {
		return nil, err
	}
	p.restores(first, found)
	if about.whole() {
		unused, err := from.unused(first.All())
		if err != nil {
			return nil, err
		}
		addRemoved(sorted, "", unused)
		p.loses(unused)
	}
	return sorted, p.calledOff(sorted, from.start, about)
}

// calledOff adds what groups that go back to what their nodes run would replace
// all the same: machines that were made from other templates than the ones that
// the file asks for at that version.
func (p Upgrade) calledOff(sorted map[string]plan.Changes, start plan.Start, about scope) error {
	versions := start.Versions()
	var back []string
	for name, part := range start.WorkerNodeGroups {
		if wanted, there := p.resolved.Versions.WorkerNodeGroups[name]; there && part.GoesBack(wanted) {
			versions.WorkerNodeGroups[name] = wanted
			back = append(back, name)
		}
	}
	if len(back) == 0 {
		return nil
	}
	stage, err := p.stage(versions, about)
	if err != nil {
		return err
	}
	for _, name := range back {
		templates := changes.Templates(stage.Parts[name])
		if former := start.WorkerNodeGroups[name].Former; !slices.Equal(templates, former) {
			sum := sorted[name]
			sum.Rolling = append(sum.Rolling, fmt.Sprintf("templates would become %s, and are %s", strings.Join(templates, ", "), cmp.Or(strings.Join(former, ", "), "not known")))
			sorted[name] = sum
		}
	}
	return nil
}

// restores notes the parts with a template that is missing.
func (p *Upgrade) restores(stage rollout.Objects, found []management.Change) {
	missing := func(object *unstructured.Unstructured) bool {
		return slices.ContainsFunc(found, func(c management.Change) bool {
			return c.Action == management.Restored && c.Object == changes.ObjectName(object)
		})
	}
	for name, objects := range stage.Parts {
		if slices.ContainsFunc(objects, missing) {
			p.restored = append(p.restored, name)
		}
	}
}

// called is the name that an object has on the management cluster.
func (o current) called(object string) string { return cmp.Or(o.names[object], object) }

// byPart sorts what would change by the part that it belongs to. Counts are left
// out: the plan has them as machines.
func byPart(config *v1alpha1.Config, stage rollout.Objects, found []management.Change, from current) (map[string]plan.Changes, error) {
	part := map[string]string{}
	for name, objects := range stage.Parts {
		for _, object := range objects {
			part[changes.ObjectName(object)] = name
		}
	}
	sorted := map[string]plan.Changes{}
	for _, change := range found {
		name := part[change.Object]
		sum := sorted[name]
		for _, f := range change.Fields {
			if err := fixed(config, change.Object, f, from); err != nil {
				return nil, err
			}
			switch {
			case f.Path == "spec.replicas":
			case f.Rolling:
				sum.Rolling = append(sum.Rolling, f.String())
			default:
				sum.InPlace = append(sum.InPlace, from.called(change.Object)+" "+f.String())
			}
		}
		kind, _, _ := strings.Cut(change.Object, "/")
		if change.Action == management.Created && !changes.IsTemplate(kind) {
			sum.InPlace = append(sum.InPlace, from.called(change.Object)+" would be created")
		}
		if change.Action == management.Restored {
			sum.InPlace = append(sum.InPlace, from.called(change.Object)+" is missing, so that no new machine can be made, and would be created again")
		}
		sorted[name] = sum
	}
	return sorted, nil
}

// fixed refuses a change of what Cluster API never changes, where the spec
// before is not known and nobody could see it in the file.
func fixed(config *v1alpha1.Config, object string, f changes.Field, from current) error {
	never := []string{"spec.clusterNetwork", "spec.controlPlaneRef", "spec.infrastructureRef", "spec.backend"}
	if from.before != nil || !strings.HasSuffix(object, "Cluster/"+config.Cluster.Metadata.Name) || !slices.ContainsFunc(never, func(path string) bool { return f.Path == path || strings.HasPrefix(f.Path, path+".") }) {
		return nil
	}
	return &management.RefusedError{Check: "immutable", Reason: fmt.Sprintf("%s: %s, and that cannot be changed in a cluster that is there; give the file back what the cluster has, or create a new cluster", object, f)}
}
