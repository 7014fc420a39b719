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

// PathFinder computes the upgrade path of a cluster from a ClusterClass.
type PathFinder struct {
	// From is the version that the topology has now.
	From v1alpha1.Version
	// Versions of the class. One without any goes minor by minor, through the
	// newest of the Releases.
	Versions, Releases []v1alpha1.Version
	Policy             skew.Policy
	// Ask asks the runtime extension that the class has its plans from, as Cluster API
	// does; nil for a class without one.
	Ask desiredstate.GetUpgradePlanFunc
}

// Path returns the upgrade path of a cluster to its target. It stops between the ends
// of its segments where standalone groups have to move.
func (r PathFinder) Path(ctx context.Context, in plan.Input, deferred map[string]string) (*plan.TopologyPath, error) {
	path := plan.TopologyPath{From: r.From, Deferred: deferred}
	in.TopologyPath = &path
	var err error
	if path.Segments, err = r.through(ctx, in, nil); err != nil {
		return nil, err
	}
	// A segment that is under way cannot be given another end.
	stops := slices.DeleteFunc(plan.IntermediateVersions(in), func(v v1alpha1.Version) bool { return !v.After(r.From) })
	if len(stops) > 0 {
		path.Segments, err = r.through(ctx, in, stops)
	}
	return &path, err
}

// through returns the segments to the target that end at some versions on the path.
func (r PathFinder) through(ctx context.Context, in plan.Input, stops []v1alpha1.Version) ([]plan.Segment, error) {
	var all []plan.Segment
	controlPlane, oldest := in.Start.ControlPlane.Version, in.Membership().OldestFollowing()
	for _, end := range append(stops, in.Target.ControlPlane) {
		segments, err := r.Segments(ctx, end, controlPlane, oldest)
		if err != nil {
			return nil, err
		}
		if len(segments) > 0 && oldest.IsZero() && in.Membership().Arrives() {
			// What comes with the first segment is taken along from then on.
			first := segments[0]
			if segments, err = r.Segments(ctx, end, first.Target, first.Target); err != nil {
				return nil, err
			}
			segments, oldest = slices.Insert(segments, 0, first), end
		}
		all, controlPlane = append(all, segments...), end
		if !oldest.IsZero() {
			oldest = end
		}
	}
	return all, nil
}

// Segments returns the changes of a topology's version that take a cluster to its target:
// as few as keep to the skew policy in every state that Cluster API passes
// through. oldest is the version of the oldest workers; zero where there are none.
func (r PathFinder) Segments(ctx context.Context, target, controlPlane, oldest v1alpha1.Version) ([]plan.Segment, error) {
	stops := r.Versions
	if len(r.Versions) == 0 {
		stops = r.Releases
	}
	if r.Ask != nil {
		stops = nil // the extension knows them
	}
	var segments []plan.Segment
	for controlPlane != target || !oldest.IsZero() && oldest != target {
		segment, err := r.farthest(ctx, candidates(stops, controlPlane, target), controlPlane, oldest)
		if err != nil {
			return nil, err
		}
		segments = append(segments, segment)
		controlPlane = segment.Target
		if !oldest.IsZero() {
			oldest = segment.Target
		}
	}
	return segments, nil
}

// candidates returns where a segment may end, the farthest first: the target, and the
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

// farthest returns the segment to the first of the ends that can be reached.
func (r PathFinder) farthest(ctx context.Context, ends []v1alpha1.Version, controlPlane, oldest v1alpha1.Version) (plan.Segment, error) {
	var first error
	for _, end := range ends {
		segment, err := Upgrade(ctx, r.planner(), end, controlPlane, oldest)
		if err == nil {
			err = keeps(segment, r.Policy, controlPlane, oldest)
		}
		if err == nil {
			return segment, nil
		}
		first = cmp.Or(first, err)
	}
	return plan.Segment{}, first
}

// keeps reports whether workers are never too old for the control plane, nor newer, in
// a segment. Workers that are too old at its start may stay so.
func keeps(segment plan.Segment, policy skew.Policy, controlPlane, oldest v1alpha1.Version) error {
	if oldest.IsZero() {
		return nil
	}
	behind := segment.Workers
	for _, version := range append([]v1alpha1.Version{controlPlane}, segment.ControlPlane...) {
		if version != controlPlane && policy.TooOld(version, oldest) {
			return fmt.Errorf("workers at %s would be too old for a control plane at %s: it %w", oldest, version, policy.Check(version, oldest))
		}
		if len(behind) > 0 && behind[0] == version {
			oldest, behind = version, behind[1:]
		}
	}
	return nil
}

// planner is how Cluster API plans an upgrade.
func (r PathFinder) planner() desiredstate.GetUpgradePlanFunc {
	if r.Ask != nil {
		return r.Ask
	}
	return Planner(r.Versions)
}

// Planner returns the function by which Cluster API plans upgrades for a class with
// some versions; without versions it goes one minor at most.
func Planner(versions []v1alpha1.Version) desiredstate.GetUpgradePlanFunc {
	if len(versions) == 0 {
		return desiredstate.GetUpgradePlanOneMinor
	}
	return desiredstate.GetUpgradePlanFromClusterClassVersions(texts(versions))
}

// Upgrade returns what Cluster API does when the version of a topology becomes
// the target, while its control plane is at one version and the oldest of its
// workers at another; zero where there are none.
func Upgrade(ctx context.Context, compute desiredstate.GetUpgradePlanFunc, target, controlPlane, oldest v1alpha1.Version) (plan.Segment, error) {
	if target.Before(controlPlane) || !oldest.IsZero() && controlPlane.Before(oldest) {
		// Cluster API's functions do not look.
		return plan.Segment{}, fmt.Errorf("there is no upgrade path from %s, with workers at %s, to %s", controlPlane, oldest, target)
	}
	workersFrom := ""
	if !oldest.IsZero() {
		workersFrom = oldest.String()
	}
	var ahead, behind []string
	var err error
	if target != controlPlane || workersFrom != "" && oldest != target {
		if ahead, behind, err = compute(ctx, target.String(), controlPlane.String(), workersFrom); err != nil {
			return plan.Segment{}, err
		}
		if len(ahead) == 0 && target != controlPlane {
			return plan.Segment{}, fmt.Errorf("Cluster API upgrades no cluster with a ClusterClass from %s to %s, which are builds of one patch; use another patch", controlPlane, target)
		}
	}
	if workersFrom != "" && oldest != target {
		if behind, err = desiredstate.DefaultAndValidateUpgradePlans(target.String(), controlPlane.String(), workersFrom, ahead, behind); err != nil {
			return plan.Segment{}, err
		}
		if len(behind) == 0 {
			// An error of theirs is lost where the control plane has arrived.
			return plan.Segment{}, fmt.Errorf("workers at %s are too old for Cluster API to upgrade them to %s", oldest, target)
		}
	}
	segment := plan.Segment{Target: target}
	if segment.ControlPlane, err = parse(ahead); err != nil {
		return plan.Segment{}, err
	}
	segment.Workers, err = parse(behind)
	return segment, err
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
