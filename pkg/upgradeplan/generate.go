// Package upgradeplan implements Cluster API's GenerateUpgradePlan: it makes upgrade
// plans from releases and a policy, and checks plans of others. The rules are those of
// Cluster API's book, "Implementing Upgrade Plan Runtime Extensions". It is pure.
package upgradeplan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	capiversion "sigs.k8s.io/cluster-api/util/version"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/skew"
	"github.com/clusterctl-x/clusterctl-x/pkg/upgradepath"
)

// Request is the request for a plan.
type Request struct {
	// ControlPlane is the version that the control plane has.
	ControlPlane v1alpha1.Version
	// Workers is the oldest version of the workers; zero where there are none.
	Workers v1alpha1.Version
	// Target is the version that all are to have in the end.
	Target v1alpha1.Version
}

// Plan is an upgrade plan.
type Plan struct {
	// ControlPlane are the versions that the control plane goes through, the target
	// included; none where it is there.
	ControlPlane []v1alpha1.Version
	// Workers are the versions that the workers go through. Where there are none
	// Cluster API goes through as few as the skew policy allows.
	Workers []v1alpha1.Version
}

// ParseRequest reads the versions of a request; that of the workers may be empty.
func ParseRequest(controlPlane, workers, target string) (Request, error) {
	var request Request
	for _, field := range []struct {
		name, text string
		version    *v1alpha1.Version
	}{
		{controlPlaneField, controlPlane, &request.ControlPlane},
		{workersField, workers, &request.Workers},
		{targetField, target, &request.Target},
	} {
		if field.text == "" && field.name == workersField {
			continue
		}
		version, err := v1alpha1.ParseVersion(field.text)
		if err != nil {
			return Request{}, fmt.Errorf("%s: %w", field.name, err)
		}
		*field.version = version
	}
	return request, nil
}

// Releases are the versions that there are, in any order.
type Releases struct {
	// Known are the versions that may be asked for.
	Known []v1alpha1.Version
	// Offered are the known versions that may be intermediate versions.
	Offered []v1alpha1.Version
	// With says what else they have; empty where that is nothing.
	With string
}

// Generate makes the plan from the releases there are. The same arguments give the
// same plan, and asking again on the way gives what is left of it. A control plane
// that has a version already needs no release of it: its workers follow.
func Generate(request Request, releases Releases, policy Policy) (Plan, error) {
	if err := possible(request, policy); err != nil {
		return Plan{}, err
	}
	var plan Plan
	if request.ControlPlane != request.Target {
		if !slices.Contains(releases.Known, request.Target) {
			return Plan{}, fmt.Errorf("no versions bundle has %s%s: ask for a version that one has, or give the server a file that has it with --bundles", request.Target, releases.With)
		}
		var err error
		if plan.ControlPlane, err = throughReleases(request, releases.Offered, policy); err != nil {
			return Plan{}, err
		}
	}
	plan.Workers = throughSteps(request, plan.ControlPlane, policy)
	if err := followable(request, plan); err != nil {
		return Plan{}, err
	}
	return plan, nil
}

// possible reports whether any plan leads to the target.
func possible(request Request, policy Policy) error {
	switch {
	case request.Target.Before(request.ControlPlane) && !unordered(request.Target, request.ControlPlane):
		return fmt.Errorf("the control plane is at %s and cannot be downgraded to %s", request.ControlPlane, request.Target)
	case !request.Workers.IsZero() && request.ControlPlane.Before(request.Workers):
		return fmt.Errorf("workers are at %s, which is newer than the control plane at %s", request.Workers, request.ControlPlane)
	case !request.Workers.IsZero() && request.Workers != request.Target && jumpTooFar(request.Workers, request.ControlPlane):
		return fmt.Errorf("workers are at %s, and Cluster API upgrades none by more than %d minors to %s, where the control plane is: replace these worker groups with new ones", request.Workers, maxJump, request.ControlPlane)
	case request.Target != request.ControlPlane && slices.Contains(policy.Avoid, request.Target):
		return fmt.Errorf("%s is to be avoided (setting %s): ask for another version", request.Target, AvoidSetting)
	}
	return nil
}

// followable reports whether Cluster API can take the workers along: once the control
// plane has left a build, Cluster API no longer knows that another one comes after it.
func followable(request Request, plan Plan) error {
	if request.Workers.IsZero() || request.Workers == request.Target {
		return nil
	}
	at := request.Workers
	for _, step := range append(slices.Clone(plan.Workers), request.Target) {
		if unordered(at, step) {
			return fmt.Errorf("Cluster API sees no order between the builds %s and %s, and upgrades no workers from one to the other: go through another patch", at, step)
		}
		at = step
	}
	return nil
}

// unordered reports whether two versions are builds of one patch that have no order.
func unordered(a, b v1alpha1.Version) bool {
	first, err := semver.ParseTolerant(a.String())
	second, other := semver.ParseTolerant(b.String())
	return err == nil && other == nil && capiversion.Compare(first, second, capiversion.WithBuildTags()) == noOrder
}

// maxJump is how many minors workers may go in one step, in Cluster API's check.
const maxJump = 3

func jumpTooFar(from, to v1alpha1.Version) bool {
	return from.Minor().Major != to.Minor().Major || to.Minor().Minor > from.Minor().Minor+maxJump
}

// throughReleases returns the versions that the control plane goes through.
func throughReleases(request Request, releases []v1alpha1.Version, policy Policy) ([]v1alpha1.Version, error) {
	offered := slices.DeleteFunc(slices.Clone(releases), func(release v1alpha1.Version) bool {
		return !release.After(request.ControlPlane) || !release.Before(request.Target) || slices.Contains(policy.Avoid, release)
	})
	path, missing := upgradepath.Between(request.ControlPlane, request.Target, offered)
	if len(missing) > 0 {
		return nil, fmt.Errorf("there is no release of %s on the way from %s to %s%s: use bundles that have one", missing[0], request.ControlPlane, request.Target, avoided(policy.Avoid, missing[0]))
	}
	if policy.EveryPatch {
		slices.SortFunc(offered, v1alpha1.Version.Compare)
		path = slices.Compact(offered)
	}
	return append(path, request.Target), nil
}

// avoided says which releases of a minor are not taken.
func avoided(versions []v1alpha1.Version, minor v1alpha1.Minor) string {
	var texts []string
	for _, version := range versions {
		if version.Minor() == minor {
			texts = append(texts, version.String())
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return " without " + strings.Join(texts, ", ") + " (setting " + AvoidSetting + ")"
}

// throughSteps returns the versions that workers go through; none if Cluster API may
// choose, or there is nothing to do.
func throughSteps(request Request, controlPlane []v1alpha1.Version, policy Policy) []v1alpha1.Version {
	if request.Workers.IsZero() || request.Workers == request.Target {
		return nil
	}
	stops := append([]v1alpha1.Version{request.ControlPlane}, controlPlane...)
	stops = slices.DeleteFunc(stops, func(v v1alpha1.Version) bool { return !v.After(request.Workers) })
	forced := slices.DeleteFunc(slices.Clone(stops), func(v v1alpha1.Version) bool { return !policy.forces(v, stops) })
	if len(forced) == 0 && (skew.Policy{}).Newest(request.Workers).Minor == request.Workers.Minor().Minor+maxJump {
		return nil // Cluster API knows of no others than those that may be so far behind
	}
	var steps []v1alpha1.Version
	at := request.Workers
	for i, stop := range stops {
		last := i == len(stops)-1
		if last || slices.Contains(forced, stop) || (skew.Policy{}).TooOld(stops[i+1], at) {
			steps, at = append(steps, stop), stop
		}
	}
	return steps
}

// forces reports whether workers go to a stop, whether or not the skew policy needs it.
func (p Policy) forces(stop v1alpha1.Version, stops []v1alpha1.Version) bool {
	newest := !slices.ContainsFunc(stops, func(v v1alpha1.Version) bool { return v.Minor() == stop.Minor() && v.After(stop) })
	switch {
	case p.Workers == EveryVersion:
		return true
	case p.Workers == EveryMinor:
		return newest
	}
	return newest && slices.Contains(p.Through, stop.Minor())
}
