package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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

// prepared is an upgrade that was thought through to its end, and of which
// nothing was written.
type prepared struct {
	spec     spec
	about    scope
	resolved validations.Resolved
	// standIns are for versions that parts run and no bundle has.
	standIns  standIns
	namespace string
	plan      plan.Plan
	// stages are the renderings of the versions that the plan begins with and
	// of those at the end of each step.
	stages []rollout.Objects
	// detached makes the groups that the topology of a cluster does not have.
	detached detachedGroups
	// native is true where Cluster API moves them.
	native bool
	// wanted is the topology of a cluster from a ClusterClass as it will be.
	wanted *state.Topology
	// unremediated are the MachineHealthChecks, as Kind/name, that the cluster would
	// lose though what they look after stays.
	unremediated []string
	// restored are the parts with a template that is missing.
	restored []string
}

// origin is what an upgrade begins with: a live cluster, or another file.
type origin struct {
	metadata plan.Metadata
	start    plan.Start
	// before is the spec that the cluster was made from; nil where it is not known.
	before *v1alpha1.Config
	// compare says what applying the objects would change, and unused which ones
	// would no longer be needed beside these.
	compare func([]*unstructured.Unstructured) ([]management.Change, error)
	unused  func([]*unstructured.Unstructured) ([]string, error)
	// managed is more about a cluster from a ClusterClass; nil for others.
	managed *managedOrigin
	// recorded is the record of a live cluster.
	recorded management.Record
	// holds of a live cluster.
	holds []state.Hold
	// claimed are the groups of a live cluster that the file describes and others made.
	claimed []state.Part
	// names of objects on the management cluster, as Kind/name, by the names that they
	// are generated under.
	names map[string]string
}

// originOf is what is seen of a live cluster.
func originOf(cluster state.Cluster) origin {
	claimed := slices.DeleteFunc(slices.Clone(cluster.WorkerNodeGroups), func(p state.Part) bool { return !p.Claimed })
	return origin{metadata: plan.MetadataOf(cluster, ""), start: plan.StartOf(cluster), holds: cluster.Holds, claimed: claimed}
}

// fingerprint of a file.
func fingerprint(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// prepare plans the way from the origin to the spec and renders every step of it.
func (a *app) prepare(s spec, from origin, o upgradeOptions, namespace string) (prepared, error) {
	running := from.start.Versions()
	if from.managed != nil {
		running = runningOf(from.managed.state)
	}
	if o.latestPatches {
		running = noVersions()
	}
	resolved, err := a.resolve(s, running)
	if err != nil {
		return prepared{}, err
	}
	if err := validations.Update(resolved, from.start.Floor(), from.before); err != nil {
		return prepared{}, err
	}
	p := prepared{spec: s, about: o.scope, resolved: resolved, namespace: a.namespace(resolved.Config.Cluster.Metadata.Namespace, namespace)}
	in := plan.Input{
		Metadata: from.metadata, Start: from.start, Target: target(resolved, from.start),
		Releases: s.releases().Offered(validations.Needs(resolved.Config)), Policy: validations.Policy(resolved.Config.Cluster), Scope: o.scope.plan(),
		Concurrency: resolved.Config.Cluster.Spec.UpgradePolicy.Concurrency(),
	}
	switch {
	case from.managed == nil:
		err = p.prepareClassic(in, from, o)
	case len(o.scope.groups) > 0:
		err = p.prepareDetachedAlone(in, from)
	default:
		err = p.prepareManaged(in, from)
	}
	p.plan.Notes = slices.Concat(p.plan.Notes, from.managed.notes(), claimNotes(from.claimed), p.unremediatedNotes(), p.plan.HeldNotes(p.begun(from), from.holds))
	return p, err
}

// notes say what keeps Cluster API from doing what the topology asks for, whatever is
// planned.
func (m *managedOrigin) notes() []string {
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
func (p prepared) begun(from origin) bool {
	if from.managed != nil && from.managed.state.Topology.Upgrading {
		return true
	}
	return p.continues(from.recorded)
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
func (p prepared) anyGeneration(metadata plan.Metadata) {
	for _, group := range p.resolved.Config.Cluster.Spec.WorkerNodeGroupConfigurations {
		object := "MachineDeployment/" + cmp.Or(p.detached.names[group.Name], p.resolved.Config.Cluster.Metadata.Name+"-"+group.Name)
		if _, there := metadata.Generations[object]; there && group.AutoscalingConfiguration != nil {
			metadata.Generations[object] = plan.AnyGeneration
		}
	}
}

func (p *prepared) prepareClassic(in plan.Input, from origin, o upgradeOptions) error {
	p.standIns = standInsFor(p.spec.bundles, from)
	first, err := p.stage(from.start.Versions(), o.scope)
	if err != nil {
		return err
	}
	if in.Changes, err = p.changes(first, from, o.scope); err != nil {
		return err
	}
	p.anyGeneration(in.Metadata)
	if p.plan, err = plan.Compute(in); err != nil {
		return err
	}
	if err := p.standIns.check(p.plan); err != nil {
		return err
	}
	p.plan.Notes = append(p.plan.Notes, p.standIns.notes()...)
	p.stages = []rollout.Objects{first}
	for i := range p.plan.Steps {
		stage, err := p.stage(p.plan.Versions(i+1), o.scope)
		if err != nil {
			return err
		}
		p.stages = append(p.stages, stage)
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
func (p prepared) stage(versions v1alpha1.ClusterVersions, about scope) (rollout.Objects, error) {
	rendered, err := p.render(versions, nil)
	if err != nil {
		return rollout.Objects{}, err
	}
	objects, err := decodeParts(rendered)
	return about.cut(objects), err
}

// render renders the cluster at versions, and its topology without the groups that
// are detached.
func (p prepared) render(versions v1alpha1.ClusterVersions, detached map[string]bool) (manifests.Objects, error) {
	set, _ := p.spec.bundles.With(p.standIns.releases()).SetOf(versions)
	return manifests.Render(manifests.Input{
		Config: p.resolved.Config, Versions: versions, Set: set, Namespace: p.namespace, Detached: detached, Downloads: p.spec.bundles.Releases(),
	})
}

func texts[T fmt.Stringer](things []T) []string {
	all := make([]string, len(things))
	for i, thing := range things {
		all[i] = thing.String()
	}
	return all
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
func (p *prepared) changes(first rollout.Objects, from origin, about scope) (map[string]plan.Changes, error) {
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
func (p prepared) calledOff(sorted map[string]plan.Changes, start plan.Start, about scope) error {
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
func (p *prepared) restores(stage rollout.Objects, found []management.Change) {
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
func (o origin) called(object string) string { return cmp.Or(o.names[object], object) }

// byPart sorts what would change by the part that it belongs to. Counts are left
// out: the plan has them as machines.
func byPart(config *v1alpha1.Config, stage rollout.Objects, found []management.Change, from origin) (map[string]plan.Changes, error) {
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
func fixed(config *v1alpha1.Config, object string, f changes.Field, from origin) error {
	never := []string{"spec.clusterNetwork", "spec.controlPlaneRef", "spec.infrastructureRef", "spec.backend"}
	if from.before != nil || !strings.HasSuffix(object, "Cluster/"+config.Cluster.Metadata.Name) || !slices.ContainsFunc(never, func(path string) bool { return f.Path == path || strings.HasPrefix(f.Path, path+".") }) {
		return nil
	}
	return &management.RefusedError{Check: "immutable", Reason: fmt.Sprintf("%s: %s, and that cannot be changed in a cluster that is there; give the file back what the cluster has, or create a new cluster", object, f)}
}
