package validations

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// minScaleIn is the number of control plane machines that one may be removed
// from before its successor is there (a rule of Cluster API).
const minScaleIn = 3

func rolloutType(name string, path *field.Path) field.ErrorList {
	switch name {
	case "", v1alpha1.RollingUpdate:
		return nil
	case "InPlace":
		return field.ErrorList{strictyaml.Lead(field.Invalid(path, name, "upgrades in place need EKS Anywhere's fork of Cluster API; use "+v1alpha1.RollingUpdate+", which replaces machines"))}
	default:
		return field.ErrorList{field.NotSupported(path, name, []string{v1alpha1.RollingUpdate})}
	}
}

func controlPlaneRollout(config v1alpha1.ControlPlaneConfiguration, path *field.Path) field.ErrorList {
	strategy := config.UpgradeRolloutStrategy
	if strategy == nil {
		return nil
	}
	errs := rolloutType(strategy.Type, path.Child("type"))
	if strategy.RollingUpdate == nil || strategy.RollingUpdate.MaxSurge == nil {
		return errs
	}
	surge, at := *strategy.RollingUpdate.MaxSurge, path.Child("rollingUpdate", "maxSurge")
	switch {
	case surge != 0 && surge != 1:
		errs = append(errs, field.Invalid(at, surge, "must be 0 or 1"))
	case surge == 0 && config.Replicas() < minScaleIn:
		errs = append(errs, field.Invalid(at, surge, "removes a machine before its replacement exists, which needs a control plane of 3 or more; use 1"))
	}
	return errs
}

func workerRollout(strategy *v1alpha1.WorkerRolloutStrategy, path *field.Path) field.ErrorList {
	if strategy == nil {
		return nil
	}
	errs := rolloutType(strategy.Type, path.Child("type"))
	if strategy.RollingUpdate == nil {
		return errs
	}
	surge, surgeErrs := givenCount(strategy.RollingUpdate.MaxSurge, 1, path.Child("rollingUpdate", "maxSurge"))
	unavailable, unavailableErrs := givenCount(strategy.RollingUpdate.MaxUnavailable, 0, path.Child("rollingUpdate", "maxUnavailable"))
	errs = append(append(errs, surgeErrs...), unavailableErrs...)
	if surge == 0 && unavailable == 0 {
		errs = append(errs, field.Invalid(path.Child("rollingUpdate", "maxUnavailable"), unavailable, "must be 1 or more where maxSurge is 0, or no machine could be replaced; set it, or maxSurge to 1"))
	}
	return errs
}

// givenCount returns a number, or its default.
func givenCount(given *int, byDefault int, path *field.Path) (int, field.ErrorList) {
	if given == nil {
		return byDefault, nil
	}
	return *given, count(*given, 0, path)
}
