package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/upgradepath"
)

// controlPlanePath returns the versions that the control plane goes through.
func (in Input) controlPlanePath() ([]v1alpha1.Version, error) {
	from, to := in.Start.ControlPlane.Version, in.Target.ControlPlane
	if in.TopologyPath != nil && !to.Before(from) {
		return in.TopologyPath.path(from), nil
	}
	return controlPlanePath(from, to, in.Releases)
}

// controlPlanePath returns the versions that the control plane goes through: the one
// that it has, the newest release of each minor between, and the target.
func controlPlanePath(from, to v1alpha1.Version, releases []v1alpha1.Version) ([]v1alpha1.Version, error) {
	switch {
	case from == to:
		return []v1alpha1.Version{from}, nil
	case to.Before(from):
		return nil, fmt.Errorf("control plane: %s is older than %s, which it already has; downgrades are not supported: use %s or newer", to, from, from)
	case to.Minor().Major != from.Minor().Major:
		return nil, fmt.Errorf("control plane: %s has another major version than %s, which it has; there is no upgrade between major versions", to, from)
	}
	between, missing := upgradepath.Between(from, to, releases)
	path := append([]v1alpha1.Version{from}, between...)
	if len(missing) > 0 {
		reachable := slices.DeleteFunc(path, func(v v1alpha1.Version) bool { return v.Minor().Compare(missing[0]) > 0 })
		with := ""
		if to.Build() != "" {
			with = fmt.Sprintf(" with a build such as +%s", to.Build())
		}
		return nil, fmt.Errorf("control plane: it goes from %s to %s one minor at a time, and there is no versions bundle of %s%s; use a file that has it with --bundles, or go no further than %s",
			from, to, list(missing), with, reachable[len(reachable)-1].Minor())
	}
	return append(path, to), nil
}

// maxListed is how many things a sentence names.
const maxListed = 5

// list returns the names of things, with commas; of many the first ones.
func list[T any](things []T) string {
	var names []string
	for i, thing := range things {
		if i == maxListed {
			return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), len(things)-maxListed)
		}
		names = append(names, fmt.Sprint(thing))
	}
	return strings.Join(names, ", ")
}
