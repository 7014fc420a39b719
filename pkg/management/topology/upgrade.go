package topology

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/cluster-api/exp/topology/desiredstate"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/skew"
	"github.com/clusterctl-x/clusterctl-x/pkg/upgradepath"
)

// Road is what the way of a cluster from a ClusterClass depends on.
type Road struct {
	// Versions of the class. One without any goes minor by minor, through the
	// newest of the Releases.
	Versions, Releases []v1alpha1.Version
	Policy             skew.Policy
	// Ask asks the runtime extension that the class has its plans from, as Cluster API
	// does; nil for a class without one.
	Ask desiredstate.GetUpgradePlanFunc
}

// Chain is the way of a cluster to its target. It stops between the ends of its legs
// where groups have to move that Cluster API does not take along.
func (r Road) Chain(ctx context.Context, in plan.Input, deferred map[string]string) (*plan.Chain, error) {
	chain := plan.Chain{From: in.Chain.From, Deferred: deferred}
	in.Chain = &chain
	var err error
	if chain.Legs, err = r.through(ctx, in, nil); err != nil {
		return nil, err
	}
	// A leg that is under way cannot be given another end.
	halts := slices.DeleteFunc(plan.Halts(in), func(v v1alpha1.Version) bool { return !v.After(chain.From) })
	if len(halts) > 0 {
		chain.Legs, err = r.through(ctx, in, halts)
	}
	return &chain, err
}

// through are the legs to the target that end at some versions on the way.
func (r Road) through(ctx context.Context, in plan.Input, halts []v1alpha1.Version) ([]plan.Leg, error) {
	var all []plan.Leg
	controlPlane, oldest := in.Start.ControlPlane.Version, in.OldestFollowing()
	for _, end := range append(halts, in.Target.ControlPlane) {
		legs, err := r.Legs(ctx, end, controlPlane, oldest)
		if err != nil {
			return nil, err
		}
		if len(legs) > 0 && oldest.IsZero() && in.Arrives() {
			// What comes with the first leg is taken along from then on.
			first := legs[0]
			if legs, err = r.Legs(ctx, end, first.Target, first.Target); err != nil {
				return nil, err
			}
			legs, oldest = slices.Insert(legs, 0, first), end
		}
		all, controlPlane = append(all, legs...), end
		if !oldest.IsZero() {
			oldest = end
		}
	}
	return all, nil
}

// Legs are the changes of a topology's version that take a cluster to its target:
// as few as keep to the skew policy in every state that Cluster API passes
// through. oldest is the version of the oldest workers; zero where there are none.
func (r Road) Legs(ctx context.Context, target, controlPlane, oldest v1alpha1.Version) ([]plan.Leg, error) {
	stops := r.Versions
	if len(r.Versions) == 0 {
		stops = r.Releases
	}
	if r.Ask != nil {
		stops = nil // the extension knows them
	}
	var legs []plan.Leg
	for controlPlane != target || !oldest.IsZero() && oldest != target {
		leg, err := r.farthest(ctx, candidates(stops, controlPlane, target), controlPlane, oldest)
		if err != nil {
			return nil, err
		}
		legs = append(legs, leg)
		controlPlane = leg.Target
		if !oldest.IsZero() {
			oldest = leg.Target
		}
	}
	return legs, nil
}

// candidates are where a leg may end, the farthest first: the target, and the
// newest version of each minor before it.
func candidates(versions []v1alpha1.Version, from, target v1alpha1.Version) []v1alpha1.Version {
	ends := []v1alpha1.Version{target}
	for minor, newest := range upgradepath.NewestPatches(versions) {
		if newest.After(from) && minor.Compare(target.Minor()) < 0 {
			ends = append(ends, newest)
		}
	}
	slices.SortFunc(ends, func(a, b v1alpha1.Version) int { return b.Compare(a) })
	return ends
}

// farthest is the leg to the first of the ends that can be reached.
func (r Road) farthest(ctx context.Context, ends []v1alpha1.Version, controlPlane, oldest v1alpha1.Version) (plan.Leg, error) {
	var first error
	for _, end := range ends {
		leg, err := Upgrade(ctx, r.planner(), end, controlPlane, oldest)
		if err == nil {
			err = keeps(leg, r.Policy, controlPlane, oldest)
		}
		if err == nil {
			return leg, nil
		}
		first = cmp.Or(first, err)
	}
	return plan.Leg{}, first
}

// keeps reports whether workers are never too old beside the control plane, nor
// newer, on the way of a leg. What is too old at the beginning may stay so.
func keeps(leg plan.Leg, policy skew.Policy, controlPlane, oldest v1alpha1.Version) error {
	if oldest.IsZero() {
		return nil
	}
	behind := leg.Workers
	for _, version := range append([]v1alpha1.Version{controlPlane}, leg.ControlPlane...) {
		if version != controlPlane && policy.TooOld(version, oldest) {
			return fmt.Errorf("workers at %s would be too old beside a control plane at %s: it %w", oldest, version, policy.Check(version, oldest))
		}
		if len(behind) > 0 && behind[0] == version {
			oldest, behind = version, behind[1:]
		}
	}
	return nil
}

// planner is how Cluster API plans an upgrade.
func (r Road) planner() desiredstate.GetUpgradePlanFunc {
	if r.Ask != nil {
		return r.Ask
	}
	return Planner(r.Versions)
}

// Planner is how Cluster API plans upgrades for a class with some versions; without
// any it goes one minor at most.
func Planner(versions []v1alpha1.Version) desiredstate.GetUpgradePlanFunc {
	if len(versions) == 0 {
		return desiredstate.GetUpgradePlanOneMinor
	}
	return desiredstate.GetUpgradePlanFromClusterClassVersions(texts(versions))
}

// Upgrade returns what Cluster API does when the version of a topology becomes
// the target, while its control plane is at one version and the oldest of its
// workers at another; zero where there are none.
func Upgrade(ctx context.Context, compute desiredstate.GetUpgradePlanFunc, target, controlPlane, oldest v1alpha1.Version) (plan.Leg, error) {
	if target.Before(controlPlane) || !oldest.IsZero() && controlPlane.Before(oldest) {
		// Cluster API's functions do not look.
		return plan.Leg{}, fmt.Errorf("no way leads from %s, with workers at %s, to %s", controlPlane, oldest, target)
	}
	workersFrom := ""
	if !oldest.IsZero() {
		workersFrom = oldest.String()
	}
	var ahead, behind []string
	var err error
	if target != controlPlane || workersFrom != "" && oldest != target {
		if ahead, behind, err = compute(ctx, target.String(), controlPlane.String(), workersFrom); err != nil {
			return plan.Leg{}, err
		}
		if len(ahead) == 0 && target != controlPlane {
			return plan.Leg{}, fmt.Errorf("Cluster API takes no cluster with a ClusterClass from %s to %s, which are builds of one patch; use another patch", controlPlane, target)
		}
	}
	if workersFrom != "" && oldest != target {
		if behind, err = desiredstate.DefaultAndValidateUpgradePlans(target.String(), controlPlane.String(), workersFrom, ahead, behind); err != nil {
			return plan.Leg{}, err
		}
		if len(behind) == 0 {
			// An error of theirs is lost where the control plane has arrived.
			return plan.Leg{}, fmt.Errorf("workers at %s are too old for Cluster API to take them to %s", oldest, target)
		}
	}
	leg := plan.Leg{Target: target}
	if leg.ControlPlane, err = parse(ahead); err != nil {
		return plan.Leg{}, err
	}
	leg.Workers, err = parse(behind)
	return leg, err
}

func texts(versions []v1alpha1.Version) []string {
	all := make([]string, len(versions))
	for i, version := range versions {
		all[i] = version.String()
	}
	return all
}

func parse(texts []string) ([]v1alpha1.Version, error) {
	var versions []v1alpha1.Version
	for _, text := range texts {
		version, err := v1alpha1.ParseVersion(text)
		if err != nil {
			return nil, fmt.Errorf("reading the upgrade plan of Cluster API: %w", err)
		}
		versions = append(versions, version)
	}
	return versions, nil
}
