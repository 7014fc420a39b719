package lifecycle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
)

// labelsPath is the place of the labels of an object.
const labelsPath = "metadata.labels"

// adopted returns changes with one for each object that others made, instead of the labels by
// which clusterctl-x knows it, and these objects.
func adopted(found []changes.Change, cluster string) (rest []changes.Change, objects []string) {
	for _, change := range found {
		if belongs(change) && !slices.Contains(objects, change.Object) {
			objects = append(objects, change.Object)
		}
	}
	for _, change := range found {
		known := slices.Contains(objects, change.Object)
		if known && change.Path == labelsPath {
			change.Path, change.New = labelsPath+"."+v1alpha1.ClusterLabel, changes.Value(strconv.Quote(cluster)) // all of them are added
		}
		if !known || !marks(change.Path) {
			rest = append(rest, change)
		}
	}
	return rest, objects
}

// belongs reports whether a change adds the label that says which cluster of clusterctl-x an
// object belongs to.
func belongs(change changes.Change) bool {
	return change.Action == changes.Added && (change.Path == labelsPath+"."+v1alpha1.ClusterLabel || change.Path == labelsPath && strings.Contains(string(change.New), v1alpha1.ClusterLabel))
}

// marks reports whether a field says whose an object is, beside the label of the cluster.
func marks(path string) bool {
	return slices.Contains([]string{
		labelsPath + "." + clusterv1.ClusterNameLabel, labelsPath + "." + v1alpha1.WorkerNodeGroupLabel, "spec.template." + labelsPath + "." + v1alpha1.WorkerNodeGroupLabel,
		"metadata.annotations." + clusterv1.ClusterTopologyUpgradeConcurrencyAnnotation,
	}, path)
}

// adoption is a note about the objects that others made.
func (d differences) adoption() []string {
	if len(d.adopted) == 0 {
		return nil
	}
	what := fmt.Sprintf("adopts %d objects", len(d.adopted))
	if len(d.adopted) == 1 {
		what = "adopts 1 object"
	}
	if !d.replaces() {
		what += ", no machine replaced"
	}
	return []string{what + ": labels of clusterctl-x, and shared ownership of the fields that the file has"}
}

// replaces reports whether machines are replaced for a change.
func (d differences) replaces() bool {
	for _, of := range d.byPart {
		if of.Templates != nil || slices.ContainsFunc(of.Fields, func(c changes.Change) bool { return c.ReplacesMachines }) {
			return true
		}
	}
	return len(d.restored) > 0
}
