package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/skew"
)

// road is where the control plane rests, from where it is to its target, and
// what the skew policy says to worker nodes beside it.
type road struct {
	stops  []v1alpha1.Version
	policy skew.Policy
}

// journey is what a worker node group has before it: many groups share one.
type journey struct{ from, to v1alpha1.Version }

// hop is one rollout of a group while the control plane rests.
type hop struct {
	stop int // index of the control plane's version
	to   v1alpha1.Version
}

// passes tells whether the control plane may go on from stop to stop while a
// group stays at a version. Nodes that are newer than the control plane, which
// no plan brings about, are no reason for it to stay: its going on is what
// mends them.
func (r road) passes(from, to int, group v1alpha1.Version) bool {
	for i := from; i < to; i++ {
		if r.policy.TooOld(r.stops[i+1], group) {
			return false
		}
	}
	return true
}

// last is the stop at the target.
func (r road) last() int { return len(r.stops) - 1 }

// leg takes a group from a stop at which groups may move to the next one where
// they may, or to the end of the road where there is none. It returns the version
// that the group has then. It is false where there is no way.
//
// A group waits for the next stop if it can: whoever moves later moves to a
// version that is at least as new, and so stays legal at least as long. That
// makes waiting a way with the fewest rollouts.
func (r road) leg(j journey, at v1alpha1.Version, stop, next int) (v1alpha1.Version, bool) {
	end := next > r.last()
	next = min(next, r.last())
	if at == j.to || !end && r.passes(stop, next, at) {
		return at, r.passes(stop, next, at)
	}
	to := earlier(j.to, r.stops[stop])
	return to, to.After(at) && r.passes(stop, next, to) && (!end || to == j.to)
}

// hops are the fewest rollouts that take a group, which is at a version when the
// control plane rests at a stop, to the end of its journey when it may move at
// certain later stops only. It is false where there is no way.
func (r road) hops(j journey, at v1alpha1.Version, stop int, allowed []int) ([]hop, bool) {
	var hops []hop
	if len(allowed) == 0 {
		return nil, at == j.to && r.passes(stop, r.last(), at)
	}
	if !r.passes(stop, allowed[0], at) {
		return nil, false
	}
	for i, stop := range allowed {
		next := len(r.stops)
		if i+1 < len(allowed) {
			next = allowed[i+1]
		}
		to, ok := r.leg(j, at, stop, next)
		if !ok {
			return nil, false
		}
		if to != at {
			hops = append(hops, hop{stop: stop, to: to})
		}
		at = to
	}
	return hops, true
}

// schedule chooses the stops at which groups get new machines: every journey
// with as few rollouts as it needs, then as few stops as possible, then the
// latest ones. It returns the hops of each journey; a journey that no set of
// stops makes possible has none.
func (r road) schedule(journeys []journey) map[journey][]hop {
	s := scheduler{road: r, known: map[string][]int{}}
	var at []v1alpha1.Version
	found := map[journey][]hop{}
	for _, j := range journeys {
		if _, known := found[j]; known {
			continue
		}
		hops, ok := r.hops(j, j.from, 0, r.onwards(0))
		if !ok {
			continue
		}
		found[j] = hops
		if len(hops) > 0 {
			s.journeys, at = append(s.journeys, j), append(at, j.from)
		}
	}
	if len(at) == 0 {
		return found
	}
	var chosen []int
	for first := range r.stops {
		if !slices.ContainsFunc(at, func(v v1alpha1.Version) bool { return !r.passes(0, first, v) }) {
			chosen = better(chosen, s.from(first, at))
		}
	}
	slices.Reverse(chosen)
	for _, j := range s.journeys {
		found[j], _ = r.hops(j, j.from, 0, chosen)
	}
	return found
}

// onwards are all stops from one on.
func (r road) onwards(stop int) []int {
	var stops []int
	for ; stop <= r.last(); stop++ {
		stops = append(stops, stop)
	}
	return stops
}

// scheduler finds the stops for several journeys together.
type scheduler struct {
	road
	journeys []journey
	known    map[string][]int
}

// from are the best stops, the last one first, when groups move at one and are
// at these versions before. There are none where that costs one of them more
// rollouts than it needs.
func (s *scheduler) from(stop int, at []v1alpha1.Version) []int {
	key := fmt.Sprint(stop, at)
	best, ok := s.known[key]
	if ok {
		return best
	}
	for next := stop + 1; next <= len(s.stops); next++ {
		after, ok := s.legs(stop, next, at)
		switch {
		case !ok:
		case next == len(s.stops):
			best = better(best, []int{stop})
		default:
			if rest := s.from(next, after); rest != nil {
				best = better(best, append(slices.Clone(rest), stop))
			}
		}
	}
	s.known[key] = best
	return best
}

// legs are the versions of all groups at the next stop, and false where one of
// them cannot get there, or has fewer rollouts otherwise.
func (s *scheduler) legs(stop, next int, at []v1alpha1.Version) ([]v1alpha1.Version, bool) {
	after := make([]v1alpha1.Version, len(at))
	for i, j := range s.journeys {
		to, ok := s.leg(j, at[i], stop, next)
		if !ok {
			return nil, false
		}
		rollouts := 0
		if to != at[i] {
			rollouts = 1
		}
		if rollouts+s.fewest(j, to, next) > s.fewest(j, at[i], stop) {
			return nil, false
		}
		after[i] = to
	}
	return after, true
}

// fewest counts the rollouts that are left from a stop on.
func (s *scheduler) fewest(j journey, at v1alpha1.Version, stop int) int {
	hops, _ := s.hops(j, at, min(stop, s.last()), s.onwards(stop))
	return len(hops)
}

// better is the better one of two ways, each with its last stop first; none is
// worse than any.
func better(a, b []int) []int {
	order := cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(sum(a), sum(b)), slices.Compare(a, b))
	if a == nil || b != nil && order < 0 {
		return b
	}
	return a
}

func sum(numbers []int) (total int) {
	for _, number := range numbers {
		total += number
	}
	return total
}

func earlier(a, b v1alpha1.Version) v1alpha1.Version {
	if b.Before(a) {
		return b
	}
	return a
}
