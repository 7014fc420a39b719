package lifecycle

import (
	"cmp"
	"context"
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
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// sameTopology reports whether two Clusters ask for the same but for the version.
func sameTopology(a, b *clusterv1.Cluster) bool {
	one, other := a.Spec.Topology.DeepCopy(), b.Spec.Topology.DeepCopy()
	one.Version = other.Version
	return reflect.DeepEqual(one, other)
}

// externalError says that what a class makes cannot be computed.
type externalError string

func (e externalError) Error() string { return string(e) }

// generated returns what Cluster API generates for the current cluster, and for the
// desired one from a class, at the same version. Their difference is what else is asked
// for.
func generated(ctx context.Context, now currentTopology, class topology.Class, wanted *clusterv1.Cluster) (was, is topology.Parts, err error) {
	if class.External() || now.class.External() {
		return nil, nil, externalError("ClusterClass " + class.Name + " has patches from runtime extensions: it is not known in advance which machines are replaced by changes other than the version")
	}
	was, err = topology.Generate(ctx, now.class, now.cluster)
	if unable := (*topology.GenerateError)(nil); errors.As(err, &unable) {
		return nil, nil, externalError(fmt.Sprintf("Cluster API cannot generate the current cluster from ClusterClass %s (%s): it is not known in advance which machines are replaced by changes other than the version", now.class.Name, unable.Reason))
	}
	if err != nil {
		return nil, nil, err
	}
	if is, err = topology.Generate(ctx, class, wanted); err != nil {
		return nil, nil, err
	}
	return withDefaults(ctx, was, is)
}

// withDefaults adds to both what the API server would add.
func withDefaults(ctx context.Context, was, is topology.Parts) (topology.Parts, topology.Parts, error) {
	was, err := was.WithDefaults(ctx)
	if err != nil {
		return nil, nil, err
	}
	is, err = is.WithDefaults(ctx)
	return was, is, err
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
			ofPause := f.Path == "spec.paused" || strings.Contains(f.Path, v1alpha1.PauseAnnotation)
			return ofPause || f.Path == "spec.topology.version" || strings.HasPrefix(f.Path, "spec.topology.workers") || strings.HasPrefix(f.Path, "spec.topology.controlPlane")
		})
	}
	return kept
}

// deferrals are the groups that begin or cease to wait with their upgrades.
func deferrals(now, wanted state.Topology) []Change {
	was := map[string]state.TopologyGroup{}
	for _, group := range now.Groups {
		was[group.Name] = group
	}
	var all []Change
	for _, group := range wanted.Groups {
		for _, f := range []struct {
			name    string
			was, is bool
		}{
			{"deferUpgrade", was[group.Name].Deferred, group.Deferred},
			{"holdUpgradeSequence", was[group.Name].Held, group.Held},
		} {
			if f.was != f.is {
				all = append(all, Change{Object: group.Name, Path: f.name, Becomes: fmt.Sprintf("would become %t", f.is)})
			}
		}
	}
	return all
}

// partDifferences are the differences between the parts of a cluster.
type partDifferences struct {
	found  []management.Change
	byPart map[string][]Change
	// removed are the objects, as Kind/name, that a part loses.
	removed []string
}

// compareParts compares two sets of parts, of those that are in both.
func compareParts(was, is topology.Parts, names map[string]string) (partDifferences, error) {
	var old, fresh []*unstructured.Unstructured
	lost := map[string][]string{}
	objects := rollout.Objects{Parts: map[string][]*unstructured.Unstructured{}}
	for name, of := range is {
		if _, both := was[name]; both {
			old, fresh = append(old, was[name]...), append(fresh, of...)
			objects.Parts[name], lost[name] = of, lostObjects(was[name], of, names)
		}
	}
	slices.SortFunc(fresh, func(a, b *unstructured.Unstructured) int {
		return cmp.Compare(changes.ObjectName(a), changes.ObjectName(b))
	})
	found, err := compareObjects(old, fresh)
	if err != nil {
		return partDifferences{}, err
	}
	d := partDifferences{found: found, byPart: byPart(objects, found, names)}
	for _, name := range slices.Sorted(maps.Keys(lost)) {
		d.byPart[name] = append(d.byPart[name], removals(lost[name])...)
		d.removed = append(d.removed, lost[name]...)
	}
	return d, nil
}

// lostObjects are the objects of a part, as Kind/name, that Cluster API would delete.
// Templates go with the machines that they made.
func lostObjects(was, is []*unstructured.Unstructured, names map[string]string) []string {
	kept := map[string]bool{}
	for _, object := range is {
		kept[changes.ObjectName(object)] = true
	}
	var lost []string
	for _, object := range was {
		if name := changes.ObjectName(object); !kept[name] && !changes.IsTemplate(object.GetKind()) {
			lost = append(lost, cmp.Or(names[name], name))
		}
	}
	return lost
}

// addUnseen adds the fields of a topology's control plane and groups that change
// while no object of the part does, such as a variable that no patch reads.
func addUnseen(sorted map[string][]Change, before, wanted *clusterv1.Cluster) error {
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
		if !exists || len(sorted[name]) > 0 || reflect.DeepEqual(there.Object, is[name].Object) {
			continue
		}
		fields, err := changes.Between(there, is[name])
		if err != nil {
			return err
		}
		for _, field := range fields {
			sorted[name] = append(sorted[name], Change{Object: changes.ObjectName(is[name]), Path: field.Path, Becomes: field.Change})
		}
	}
	return nil
}

// topologyParts returns the fields of a Cluster for its control plane and each group,
// each as a Cluster without other fields. Counts, and fields that tell Cluster API when
// to upgrade a group, are left out: the plan has them in other words.
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
		for _, annotation := range []string{clusterv1.ClusterTopologyDeferUpgradeAnnotation, clusterv1.ClusterTopologyHoldUpgradeSequenceAnnotation, v1alpha1.PinnedAnnotation} {
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
