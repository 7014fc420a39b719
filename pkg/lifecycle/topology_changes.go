package lifecycle

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/clusterclass"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

const machineHealthCheck = "MachineHealthCheck"

// managedChanges are those besides versions and counts, by part: what Cluster API
// would make of the cluster as it is, and of the one that is asked for.
func (p *Upgrade) managedChanges(first rollout.Objects, outside map[string]bool, from current) (map[string]plan.Changes, error) {
	before := from.managed
	wanted, err := before.tried(p.spec, first.Cluster[0])
	if err != nil {
		return nil, err
	}
	if err := p.ofOthers(wanted); err != nil {
		return nil, err
	}
	p.wanted = management.TopologyOf(wanted)
	found, err := from.compare(first.Cluster)
	if err != nil {
		return nil, clusterclass.Admission(p.spec.Config, err)
	}
	sorted, err := byPart(p.resolved.Config, rollout.Objects{}, withoutParts(found, first.Cluster[0]), from)
	if err != nil {
		return nil, err
	}
	own, err := p.ownChanges(first, outside, from)
	if err != nil {
		return nil, err
	}
	maps.Copy(sorted, own)
	if pause := before.state.Pause; pause != nil && !between(before.state) {
		sorted[""] = addChange(sorted[""], fmt.Sprintf("the pause to %s, which was stopped at its end, would be lifted", pause.Why))
	}
	unused, err := from.unused(first.All())
	if err != nil {
		return nil, err
	}
	addRemoved(sorted, "", unused)
	p.loses(unused)
	was, is, err := before.both(*p.spec.class, wanted)
	var external externalError
	switch {
	case errors.As(err, &external) && sameTopology(before.cluster, wanted):
		return sorted, nil
	case errors.As(err, &external):
		sorted[""] = addChange(sorted[""], external.Error())
	case err != nil:
		return nil, err
	}
	maps.DeleteFunc(is, func(name string, _ []*unstructured.Unstructured) bool { return outside[name] })
	parts, gone, err := partChanges(was, is, p.resolved.Config, from)
	if err != nil {
		return nil, err
	}
	p.loses(gone)
	for name, sum := range parts {
		all := sorted[name]
		all.Rolling, all.InPlace = append(all.Rolling, sum.Rolling...), append(all.InPlace, sum.InPlace...)
		sorted[name] = all
	}
	if err := addUnseen(sorted, before.cluster, wanted); err != nil {
		return nil, err
	}
	for _, line := range deferrals(*before.state.Topology, *p.wanted) {
		sorted[""] = addChange(sorted[""], line)
	}
	return sorted, nil
}

func addChange(sum plan.Changes, line string) plan.Changes {
	sum.InPlace = append(sum.InPlace, line)
	return sum
}

// withoutParts leaves out what the parts of a cluster tell better than the
// topology of its Cluster.
func withoutParts(found []management.Change, cluster *unstructured.Unstructured) []management.Change {
	kept := slices.Clone(found)
	for i, change := range kept {
		if change.Object != changes.ObjectName(cluster) {
			continue
		}
		kept[i].Fields = slices.DeleteFunc(slices.Clone(change.Fields), func(f changes.Field) bool {
			ofPause := f.Path == "spec.paused" || strings.Contains(f.Path, management.PauseAnnotation)
			return ofPause || f.Path == "spec.topology.version" || strings.HasPrefix(f.Path, "spec.topology.workers") || strings.HasPrefix(f.Path, "spec.topology.controlPlane")
		})
	}
	return kept
}

// deferrals are the groups that begin or cease to wait with their upgrades.
func deferrals(now, wanted state.Topology) []string {
	was := map[string]state.TopologyGroup{}
	for _, group := range now.Groups {
		was[group.Name] = group
	}
	var lines []string
	for _, group := range wanted.Groups {
		for _, f := range []struct {
			name    string
			was, is bool
		}{
			{"deferUpgrade", was[group.Name].Deferred, group.Deferred},
			{"holdUpgradeSequence", was[group.Name].Held, group.Held},
		} {
			if f.was != f.is {
				lines = append(lines, fmt.Sprintf("%s %s would become %t", group.Name, f.name, f.is))
			}
		}
	}
	return lines
}

// partChanges are the differences between two sets of parts, of those that are in
// both, and the objects that the second one lacks.
func partChanges(was, is topology.Parts, config *v1alpha1.Config, from current) (sorted map[string]plan.Changes, gone []string, err error) {
	var old, fresh []*unstructured.Unstructured
	lost := map[string][]string{}
	stage := rollout.Objects{Parts: map[string][]*unstructured.Unstructured{}}
	for name, objects := range is {
		if _, both := was[name]; both {
			old, fresh = append(old, was[name]...), append(fresh, objects...)
			stage.Parts[name], lost[name] = objects, lostObjects(was[name], objects, from)
		}
	}
	slices.SortFunc(fresh, func(a, b *unstructured.Unstructured) int {
		return cmp.Compare(changes.ObjectName(a), changes.ObjectName(b))
	})
	found, err := compareOffline(old, fresh)
	if err != nil {
		return nil, nil, err
	}
	if sorted, err = byPart(config, stage, found, from); err != nil {
		return nil, nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(lost)) {
		addRemoved(sorted, name, lost[name])
		gone = append(gone, lost[name]...)
	}
	return sorted, gone, nil
}

// addRemoved adds objects of a part, as Kind/name, that the cluster would lose.
func addRemoved(sorted map[string]plan.Changes, part string, objects []string) {
	for _, object := range objects {
		sorted[part] = addChange(sorted[part], object+" would be removed")
	}
}

// loses notes the health checks among objects that the cluster would lose.
func (p *Upgrade) loses(objects []string) {
	for _, object := range objects {
		if kind, _, _ := strings.Cut(object, "/"); kind == machineHealthCheck {
			p.unremediated = append(p.unremediated, object)
		}
	}
}

// unremediatedNotes says which machines nothing replaces any more when they fail.
func (p Upgrade) unremediatedNotes() []string {
	if len(p.unremediated) == 0 {
		return nil
	}
	slices.Sort(p.unremediated)
	return []string{fmt.Sprintf("%s would be removed, because the file has no machineHealthCheck there: machines that fail are no longer replaced; set machineHealthCheck in the file to keep it",
		strings.Join(p.unremediated, ", "))}
}

// lostObjects are the objects of a part, as Kind/name, that Cluster API would delete.
// Templates go with the machines that they made.
func lostObjects(was, is []*unstructured.Unstructured, from current) []string {
	kept := map[string]bool{}
	for _, object := range is {
		kept[changes.ObjectName(object)] = true
	}
	var lost []string
	for _, object := range was {
		if name := changes.ObjectName(object); !kept[name] && !changes.IsTemplate(object.GetKind()) {
			lost = append(lost, from.called(name))
		}
	}
	return lost
}

// addUnseen adds the fields of a topology's control plane and groups that change
// while no object of the part does, such as a variable that no patch reads.
func addUnseen(sorted map[string]plan.Changes, before, wanted *clusterv1.Cluster) error {
	was, err := topologyParts(before)
	if err != nil {
		return err
	}
	is, err := topologyParts(wanted)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		there, exists := was[name]
		if seen := sorted[name]; !exists || len(seen.Rolling)+len(seen.InPlace) > 0 || reflect.DeepEqual(there.Object, is[name].Object) {
			continue
		}
		fields, err := changes.Between(there, is[name])
		if err != nil {
			return err
		}
		for _, field := range fields {
			sorted[name] = addChange(sorted[name], changes.ObjectName(is[name])+" "+field.String())
		}
	}
	return nil
}

// topologyParts are what a Cluster says of its control plane and of each group, each
// as a Cluster that says nothing else. What the plan has in other words is left out:
// counts, and what tells Cluster API when to upgrade a group.
func topologyParts(cluster *clusterv1.Cluster) (map[string]*unstructured.Unstructured, error) {
	parts := map[string]*unstructured.Unstructured{}
	add := func(name string, entry any, path ...string) error {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(entry)
		if err != nil {
			return fmt.Errorf("reading %s of the topology of cluster %s: %w", name, cluster.Name, err)
		}
		part := &unstructured.Unstructured{Object: map[string]any{"kind": "Cluster"}}
		part.SetName(cluster.Name)
		parts[name] = part
		return unstructured.SetNestedMap(part.Object, content, append([]string{"spec", "topology"}, path...)...)
	}
	controlPlane := cluster.Spec.Topology.ControlPlane.DeepCopy()
	controlPlane.Replicas = nil
	if err := add(v1alpha1.ControlPlaneName, controlPlane, "controlPlane"); err != nil {
		return nil, err
	}
	for _, group := range cluster.Spec.Topology.Workers.MachineDeployments {
		entry := group.DeepCopy()
		entry.Replicas = nil
		for _, annotation := range []string{clusterv1.ClusterTopologyDeferUpgradeAnnotation, clusterv1.ClusterTopologyHoldUpgradeSequenceAnnotation, management.PinnedAnnotation} {
			delete(entry.Metadata.Annotations, annotation)
		}
		if len(entry.Metadata.Annotations) == 0 {
			entry.Metadata.Annotations = nil
		}
		if err := add(group.Name, entry, "workers", "machineDeployments", group.Name); err != nil {
			return nil, err
		}
	}
	return parts, nil
}
