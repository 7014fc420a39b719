package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/skew"
	"github.com/clusterctl-x/clusterctl-x/pkg/upgradepath"
)

// upgradePath has the versions of the control plane, from its current one to its
// target, and the skew policy for the worker nodes. Positions on the path are indices
// of the versions.
type upgradePath struct {
	versions []v1alpha1.Version
	// nodes are the versions that nodes may have at most, by the positions.
	nodes  []v1alpha1.Version
	policy skew.Policy
}

// nodeVersions returns the versions that nodes may have beside those of a control plane: the
// same, or a patch of the minor where the control plane's provider chooses its patch.
func nodeVersions(versions, releases []v1alpha1.Version) []v1alpha1.Version {
	patches := slices.DeleteFunc(slices.Clone(releases), v1alpha1.Version.AnyPatch)
	newest := upgradepath.NewestPatches(patches)
	nodes := slices.Clone(versions)
	for i, version := range versions {
		if patch, known := newest[version.Minor()]; known && version.AnyPatch() {
			nodes[i] = patch
		}
	}
	return nodes
}

// move is the change of version that a worker node group needs. Many groups share one.
type move struct{ from, to v1alpha1.Version }

// rollout is a change of version of a group while the control plane is at a position.
type rollout struct {
	at int
	to v1alpha1.Version
}

// last returns the position of the target.
func (u upgradePath) last() int { return len(u.versions) - 1 }

// positions returns all positions from one on.
func (u upgradePath) positions(from int) []int {
	var all []int
	for at := from; at <= u.last(); at++ {
		all = append(all, at)
	}
	return all
}

// passes reports whether the control plane may go from one position to another while a
// group stays at a version. Nodes that are newer than the control plane, which no plan
// brings about, do not hold it back: its next version resolves that.
func (u upgradePath) passes(from, to int, group v1alpha1.Version) bool {
	for at := from; at < to; at++ {
		if u.policy.TooOld(u.versions[at+1], group) {
			return false
		}
	}
	return true
}

// segment takes a group from a position at which groups may move to the next such
// position, or to the end of the path where next is beyond it. It returns the version
// that the group has then. It is false where the group cannot get there.
//
// A group waits for the next position if it can: a later rollout goes to a version
// that is at least as new, and so stays legal at least as long. Waiting therefore
// leads to the fewest rollouts.
func (u upgradePath) segment(m move, version v1alpha1.Version, from, next int) (v1alpha1.Version, bool) {
	isLast := next > u.last()
	next = min(next, u.last())
	if version == m.to || !isLast && u.passes(from, next, version) {
		return version, u.passes(from, next, version)
	}
	to := earlier(m.to, u.nodes[from])
	return to, to.After(version) && u.passes(from, next, to) && (!isLast || to == m.to)
}

// rollouts returns the fewest rollouts that take a group, which is at a version when
// the control plane is at the first of the allowed positions, to the end of its move,
// when groups may move at these positions only. It is false where no rollouts do.
func (u upgradePath) rollouts(m move, version v1alpha1.Version, allowed []int) ([]rollout, bool) {
	var all []rollout
	for i, at := range allowed {
		next := len(u.versions)
		if i+1 < len(allowed) {
			next = allowed[i+1]
		}
		to, ok := u.segment(m, version, at, next)
		if !ok {
			return nil, false
		}
		if to != version {
			all = append(all, rollout{at: at, to: to})
		}
		version = to
	}
	return all, true
}

// schedule assigns rollouts to every move: as few for each as it needs, then at as few
// positions as possible, then at the latest ones. A move that no rollouts make possible
// is not in the result.
func (u upgradePath) schedule(moves []move) map[move][]rollout {
	s := scheduler{upgradePath: u, memo: map[string][]int{}}
	var versions []v1alpha1.Version
	scheduled := map[move][]rollout{}
	for _, m := range moves {
		if _, known := scheduled[m]; known {
			continue
		}
		rollouts, possible := u.rollouts(m, m.from, u.positions(0))
		if !possible {
			continue
		}
		scheduled[m] = rollouts
		if len(rollouts) > 0 {
			s.moves, versions = append(s.moves, m), append(versions, m.from)
		}
	}
	if len(s.moves) == 0 {
		return scheduled
	}
	var chosen []int
	for first := range u.versions {
		if !slices.ContainsFunc(versions, func(v v1alpha1.Version) bool { return !u.passes(0, first, v) }) {
			chosen = better(chosen, s.from(first, versions))
		}
	}
	for _, m := range s.moves {
		scheduled[m], _ = u.rollouts(m, m.from, chosen)
	}
	return scheduled
}

// scheduler searches the positions at which the groups of several moves roll out
// together.
type scheduler struct {
	upgradePath
	moves []move
	// memo has what from returned, by its arguments.
	memo map[string][]int
}

// from returns the best positions from one on, the one included, when the groups are
// at these versions before. It returns nil where one of the moves would have more
// rollouts than it needs.
func (s *scheduler) from(position int, versions []v1alpha1.Version) []int {
	arguments := fmt.Sprint(position, versions)
	if best, known := s.memo[arguments]; known {
		return best
	}
	var best []int
	for next := position + 1; next <= len(s.versions); next++ {
		after, possible := s.segments(position, next, versions)
		switch {
		case !possible:
		case next == len(s.versions):
			best = better(best, []int{position})
		default:
			if later := s.from(next, after); later != nil {
				best = better(best, append([]int{position}, later...))
			}
		}
	}
	s.memo[arguments] = best
	return best
}

// segments returns the versions of all groups at the next position. It is false where
// one of them cannot get there, or has fewer rollouts otherwise.
func (s *scheduler) segments(position, next int, versions []v1alpha1.Version) ([]v1alpha1.Version, bool) {
	after := make([]v1alpha1.Version, len(versions))
	for i, m := range s.moves {
		to, possible := s.segment(m, versions[i], position, next)
		if !possible {
			return nil, false
		}
		count := s.fewest(m, to, next)
		if to != versions[i] {
			count++
		}
		if count > s.fewest(m, versions[i], position) {
			return nil, false
		}
		after[i] = to
	}
	return after, true
}

// fewest returns the number of rollouts that a move needs from a position on.
func (s *scheduler) fewest(m move, version v1alpha1.Version, position int) int {
	rollouts, _ := s.rollouts(m, version, s.positions(position))
	return len(rollouts)
}

// better returns the better of two lists of positions: the shorter one, else the later
// one. nil is worse than any.
func better(a, b []int) []int {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	latest := func(positions []int) []int {
		reversed := slices.Clone(positions)
		slices.Reverse(reversed)
		return reversed
	}
	if cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(sum(a), sum(b)), slices.Compare(latest(a), latest(b))) < 0 {
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
