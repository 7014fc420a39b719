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
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// sameTopology reports whether two Clusters ask for the same but for the version.
func sameTopology(a, b *clusterv1.Cluster) bool {
	one, other := a.Spec.Topology.DeepCopy(), b.Spec.Topology.DeepCopy()
	one.Version = other.Version
	return reflect.DeepEqual(one, other)
}

// unknownError says that what a class makes cannot be computed.
type unknownError struct{ plan.Unknown }

func (e *unknownError) Error() string {
	return fmt.Sprintf("what ClusterClass %s makes of the cluster cannot be computed: %s", e.ClusterClass, cmp.Or(e.Message, string(e.Reason)))
}

// generated returns what Cluster API generates for the current cluster, and for the
// desired one from a class, at the same version. Their difference is what else is asked
// for.
func generated(ctx context.Context, now currentTopology, class topology.Class, wanted *clusterv1.Cluster) (was, is topology.Parts, err error) {
	if class.External() || now.class.External() {
		return nil, nil, &unknownError{plan.Unknown{ClusterClass: class.Name, Reason: plan.ExternalPatches}}
	}
	was, err = topology.Generate(ctx, now.class, now.cluster)
	if unable := (*topology.GenerateError)(nil); errors.As(err, &unable) {
		return nil, nil, &unknownError{plan.Unknown{ClusterClass: now.class.Name, Reason: plan.NothingGenerated, Message: unable.Reason}}
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
func withoutParts(found []changes.Change, cluster *unstructured.Unstructured) []changes.Change {
	return slices.DeleteFunc(slices.Clone(found), func(c changes.Change) bool {
		ofPause := c.Path == pausedPath || strings.Contains(c.Path, v1alpha1.PauseAnnotation)
		ofParts := c.Path == "spec.topology.version" || strings.HasPrefix(c.Path, "spec.topology.workers") || strings.HasPrefix(c.Path, "spec.topology.controlPlane")
		return c.Object == changes.ObjectName(cluster) && (ofPause || ofParts)
	})
}

const (
	pausedPath  = "spec.paused"
	workersPath = "spec.topology.workers.machineDeployments."
)

// pauseLifted returns the changes by which a pause of clusterctl-x ends.
func pauseLifted(cluster *clusterv1.Cluster) []changes.Change {
	removed := func(path string, old changes.Value) changes.Change {
		return changes.Change{Object: "Cluster/" + cluster.Name, Path: path, Action: changes.Removed, Old: old}
	}
	all := []changes.Change{removed("metadata.annotations."+v1alpha1.PauseAnnotation, changes.Text(cluster.Annotations[v1alpha1.PauseAnnotation]))}
	if cluster.Spec.Paused != nil && *cluster.Spec.Paused {
		all = append(all, removed(pausedPath, "true"))
	}
	return all
}

// deferrals returns the changes by which groups begin or cease to wait with their
// upgrades.
func deferrals(now, wanted *clusterv1.Cluster) []changes.Change {
	annotations := func(cluster *clusterv1.Cluster) map[string]map[string]string {
		byGroup := map[string]map[string]string{}
		for _, group := range cluster.Spec.Topology.Workers.MachineDeployments {
			byGroup[group.Name] = group.Metadata.Annotations
		}
		return byGroup
	}
	was, is := annotations(now), annotations(wanted)
	var all []changes.Change
	for _, group := range wanted.Spec.Topology.Workers.MachineDeployments {
		for _, key := range []string{clusterv1.ClusterTopologyDeferUpgradeAnnotation, clusterv1.ClusterTopologyHoldUpgradeSequenceAnnotation} {
			change := changes.Change{Object: "Cluster/" + wanted.Name, Path: workersPath + group.Name + ".metadata.annotations." + key}
			before, had := was[group.Name][key]
			after, has := is[group.Name][key]
			switch {
			case has && !had:
				change.Action, change.New = changes.Added, changes.Text(after)
			case had && !has:
				change.Action, change.Old = changes.Removed, changes.Text(before)
			default:
				continue
			}
			all = append(all, change)
		}
	}
	return all
}

// partDifferences are the differences between the parts of a cluster.
type partDifferences struct {
	found  []changes.Change
	byPart partChanges
	// removed are the objects, as Kind/name, that a part loses.
	removed []string
}

// compareParts compares two sets of parts, of those that are in both.
func compareParts(was, is topology.Parts, names map[string]string) (partDifferences, error) {
	var old, fresh []*unstructured.Unstructured
	lost := map[string][]string{}
	objects := engine.Objects{Parts: map[string][]*unstructured.Unstructured{}}
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
		d.byPart.add(name, removals(lost[name])...)
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
func addUnseen(sorted partChanges, before, wanted *clusterv1.Cluster) error {
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
		if !exists || len(sorted[name].Fields) > 0 || reflect.DeepEqual(there.Object, is[name].Object) {
			continue
		}
		fields, err := changes.Between(there, is[name])
		if err != nil {
			return err
		}
		sorted.add(name, fields...)
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
