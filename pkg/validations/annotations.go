package validations

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
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

// groupAnnotations are neither those that other fields of a group mean nor those
// that controllers act on.
func groupAnnotations(given map[string]string, path *field.Path) field.ErrorList {
	errs := annotations(given, path)
	fields := map[string]string{
		clusterv1.AutoscalerMinSizeAnnotation:                  "autoscalingConfiguration",
		clusterv1.AutoscalerMaxSizeAnnotation:                  "autoscalingConfiguration",
		clusterv1.ClusterTopologyDeferUpgradeAnnotation:        "deferUpgrade",
		clusterv1.ClusterTopologyHoldUpgradeSequenceAnnotation: "holdUpgradeSequence",
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if name, meant := fields[key]; meant {
			errs = append(errs, field.Forbidden(keyed(path, key), fmt.Sprintf("a field of the group says this; use %s", name)))
			continue
		}
		errs = append(errs, reservedAnnotation(key, keyed(path, key))...)
	}
	return errs
}

// controlPlaneAnnotations are not those that controllers act on, except for a
// cluster from a class, where those of the KubeadmControlPlane stand here.
func controlPlaneAnnotations(given map[string]string, class *v1alpha1.ClusterClass, path *field.Path) field.ErrorList {
	errs := annotations(given, path)
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if class == nil || !ofControlPlaneObject(key) {
			errs = append(errs, reservedAnnotation(key, keyed(path, key))...)
		}
	}
	return errs
}
