package validations

import (
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// minNodeStartup is the shortest time that Cluster API gives a new machine.
const minNodeStartup = 30 * time.Second

// healthCheck leaves out what the part of a cluster has from the cluster's: a
// mistake in it is told there.
func healthCheck(check, cluster *v1alpha1.MachineHealthCheck, path *field.Path) field.ErrorList {
	if check == nil {
		return nil
	}
	own := *check
	if cluster != nil {
		own = v1alpha1.MachineHealthCheck{
			NodeStartupTimeout:      unless(check.NodeStartupTimeout, cluster.NodeStartupTimeout),
			UnhealthyMachineTimeout: unless(check.UnhealthyMachineTimeout, cluster.UnhealthyMachineTimeout),
			MaxUnhealthy:            unless(check.MaxUnhealthy, cluster.MaxUnhealthy),
		}
	}
	return slices.Concat(
		nodeStartup(own.NodeStartupTimeout, path.Child("nodeStartupTimeout")),
		unhealthyTimeout(own.UnhealthyMachineTimeout, path.Child("unhealthyMachineTimeout")),
		maxUnhealthy(own.MaxUnhealthy, path.Child("maxUnhealthy")),
	)
}

// unless is a pointer, but nil where it is the other one.
func unless[T any](pointer, other *T) *T {
	if pointer == other {
		return nil
	}
	return pointer
}

func nodeStartup(timeout *v1alpha1.Duration, path *field.Path) field.ErrorList {
	if timeout != nil && timeout.Duration != 0 && timeout.Duration < minNodeStartup {
		return field.ErrorList{field.Invalid(path, timeout.String(), "must be 30s or more, or 0s for no limit")}
	}
	return seconds(timeout, path)
}

func unhealthyTimeout(timeout *v1alpha1.Duration, path *field.Path) field.ErrorList {
	if timeout != nil && timeout.Duration < time.Second {
		return field.ErrorList{field.Invalid(path, timeout.String(), "must be 1s or more; without a machineHealthCheck no machine is replaced")}
	}
	return seconds(timeout, path)
}

func maxUnhealthy(number *v1alpha1.IntOrPercent, path *field.Path) field.ErrorList {
	switch {
	case number == nil:
		return nil
	case number.Percent && (number.Value < 0 || number.Value > 100):
		return field.ErrorList{field.Invalid(path, number.String(), "must be from 0% to 100%")}
	case number.Value < 0 || number.Value > math.MaxInt32:
		return field.ErrorList{field.Invalid(path, number.String(), "must be a number of machines, such as 2, or a percentage, such as 40%")}
	}
	return nil
}
