package validations

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/skew"
)

func upgradePolicy(policy v1alpha1.UpgradePolicy, path *field.Path) field.ErrorList {
	return append(
		concurrentGroups(policy.Concurrency(), path.Child("maxConcurrentWorkerGroups")),
		workerVersionSkew(policy.MaxWorkerVersionSkew, path.Child("maxWorkerVersionSkew"))...,
	)
}

// concurrentGroups may be more than there are groups: some may be added.
func concurrentGroups(number int, path *field.Path) field.ErrorList {
	if number < 1 {
		return field.ErrorList{field.Invalid(path, number, "must be 1 or more; use 1 for one group after the other")}
	}
	return nil
}

// workerVersionSkew tightens the policy of Kubernetes. Without any skew no
// control plane could be upgraded: its nodes come after it.
func workerVersionSkew(minors *int, path *field.Path) field.ErrorList {
	switch {
	case minors == nil:
		return nil
	case *minors < 1:
		return field.ErrorList{field.Invalid(path, *minors, fmt.Sprintf("must be from 1 to %d: in an upgrade groups come after the control plane; use 1", skew.MaxLag))}
	case *minors > skew.MaxLag:
		return field.ErrorList{field.Invalid(path, *minors, fmt.Sprintf("must be from 1 to %d: Kubernetes allows no more; use %d, or remove it", skew.MaxLag, skew.MaxLag))}
	}
	return nil
}
