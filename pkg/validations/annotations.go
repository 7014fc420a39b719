package validations

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// maxAnnotations is half of what an object can hold: Cluster API adds some.
const maxAnnotations = 128 << 10

// annotations of machines, and of what makes them. An API server takes their
// keys in any case.
func annotations(given map[string]string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	size := 0
	for _, key := range slices.Sorted(maps.Keys(given)) {
		size += len(key) + len(given[key])
		for _, err := range qualifiedName(strings.ToLower(key), keyed(path, key)) {
			err.BadValue = key
			errs = append(errs, err)
		}
	}
	if size > maxAnnotations {
		errs = append(errs, withoutValue(path, fmt.Sprintf("must have at most %d bytes together, names and values, and have %d", maxAnnotations, size)))
	}
	return errs
}

// groupAnnotations are not those that other fields of a group mean.
func groupAnnotations(given map[string]string, path *field.Path) field.ErrorList {
	errs := annotations(given, path)
	for _, meant := range []struct{ key, field string }{
		{clusterv1.AutoscalerMinSizeAnnotation, "autoscalingConfiguration"},
		{clusterv1.AutoscalerMaxSizeAnnotation, "autoscalingConfiguration"},
		{clusterv1.ClusterTopologyDeferUpgradeAnnotation, "deferUpgrade"},
		{clusterv1.ClusterTopologyHoldUpgradeSequenceAnnotation, "holdUpgradeSequence"},
	} {
		if _, there := given[meant.key]; there {
			errs = append(errs, field.Forbidden(keyed(path, meant.key), fmt.Sprintf("a field of the group says this; use %s", meant.field)))
		}
	}
	return errs
}
