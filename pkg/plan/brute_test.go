package plan_test

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// This file finds out by trying everything which plans there are for an input,
// and which of them is the best. It shares nothing with the planner: see
// simulate_test.go for its numbers.

// best is what every best plan has in common.
type best struct {
	rollouts map[string]int // of each group
	stops    int            // at which groups get another version
	latest   int            // the largest sum of the positions of so many stops
	arrive   map[string]int // at which stop new groups are created
	leave    map[string]int // at which stop groups are removed
}

// bruteForce is false where there is no legal plan.
func bruteForce(in plan.Input) (best, bool) {
	stops, ok := stopsOf(in)
	if !ok {
		return best{}, false
	}
	last := len(stops) - 1
	found := best{rollouts: map[string]int{}, arrive: map[string]int{}, leave: map[string]int{}}
	for _, foreign := range in.Start.Unmanaged {
		if firstRefused(in, stops, number(foreign.Version)) >= 0 {
			return best{}, false
		}
	}
	var all [][]int // the sets of stops of each group
	wanted := map[string]bool{}
	for _, group := range in.Target.WorkerNodeGroups {
		wanted[group.Name] = true
		to := number(group.Version)
		start, exists := in.Start.WorkerNodeGroups[group.Name]
		back := exists && to < number(start.Version) && group.Version == start.Oldest && start.Outdated > 0 && start.Fresh == 0
		switch {
		case !exists:
			found.arrive[group.Name] = last
			if group.Pinned {
				found.arrive[group.Name] = slices.IndexFunc(stops, func(stop int) bool { return to <= stop })
			}
			if to > stops[last] || lag(in.Policy.MaxLag, stops[last], to) > 0 {
				return best{}, false
			}
		case back:
			if firstRefused(in, stops, to) >= 0 {
				return best{}, false
			}
		case to != number(start.Version) && lag(in.Policy.MaxLag, stops[last], to) > 0:
			return best{}, false // nobody may ask for that, however old the group is
		default:
			s := search{in: in, stops: stops, to: to, candidates: candidates(in, stops, to), known: map[[2]int]ways{}}
			ways := s.from(0, number(start.Version))
			if len(ways.sets) == 0 {
				return best{}, false
			}
			found.rollouts[group.Name] = ways.rollouts
			all = append(all, slices.Collect(maps.Keys(ways.sets)))
		}
	}
	for name, start := range in.Start.WorkerNodeGroups {
		if wanted[name] {
			continue
		}
		found.leave[name] = last
		if stop := firstRefused(in, stops, running(start)[0]); stop >= 0 {
			found.leave[name] = stop
		}
	}
	found.stops, found.latest = fewestStops(len(stops), all)
	return found, true
}

// stopsOf are the versions through which the control plane goes.
func stopsOf(in plan.Input) ([]int, bool) {
	from, to := number(in.Start.ControlPlane.Version), number(in.Target.ControlPlane)
	if to < from {
		return nil, false
	}
	stops := []int{from}
	for minor := from/100 + 1; minor < to/100; minor++ {
		newest := -1
		for _, release := range in.Releases {
			if n := number(release); n/100 == minor {
				newest = max(newest, n)
			}
		}
		if newest < 0 {
			return nil, false
		}
		stops = append(stops, newest)
	}
	if to > from {
		stops = append(stops, to)
	}
	return stops, true
}

// firstRefused is the first stop that the control plane cannot leave while a
// node stays at a version, or -1.
func firstRefused(in plan.Input, stops []int, node int) int {
	return slices.IndexFunc(stops[1:], func(stop int) bool { return lag(in.Policy.MaxLag, stop, node) > 0 })
}

// candidates are the versions to which a group could go.
func candidates(in plan.Input, stops []int, to int) []int {
	all := append(slices.Clone(stops), to)
	for _, release := range in.Releases {
		all = append(all, number(release))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ways are the sets of stops at which a group can have its fewest rollouts.
type ways struct {
	rollouts int
	sets     map[int]bool
}

type search struct {
	in         plan.Input
	stops      []int
	to         int
	candidates []int
	known      map[[2]int]ways
}

// from tries every version to which the group could go at the stop, and to stay.
func (s search) from(stop, version int) ways {
	if known, ok := s.known[[2]int{stop, version}]; ok {
		return known
	}
	result := ways{sets: map[int]bool{}}
	try := func(version, rollouts, set int) {
		rest := ways{sets: map[int]bool{}}
		switch {
		case stop < len(s.stops)-1:
			if lag(s.in.Policy.MaxLag, s.stops[stop+1], version) == 0 {
				rest = s.from(stop+1, version)
			}
		case version == s.to:
			rest.sets[0] = true
		}
		if len(rest.sets) == 0 {
			return
		}
		rollouts += rest.rollouts
		if len(result.sets) == 0 || rollouts < result.rollouts {
			result = ways{rollouts: rollouts, sets: map[int]bool{}}
		}
		if rollouts == result.rollouts {
			for more := range rest.sets {
				result.sets[set|more] = true
			}
		}
	}
	try(version, 0, 0)
	for _, to := range s.candidates {
		if to > version && to <= s.stops[stop] && to <= s.to {
			try(to, 1, 1<<stop)
		}
	}
	s.known[[2]int{stop, version}] = result
	return result
}

// fewestStops are how many stops are needed so that every group has one of its
// sets, and the largest sum of the positions of so many.
func fewestStops(stops int, groups [][]int) (count, latest int) {
	count, latest = stops+1, -1
	for set := range 1 << stops {
		fits := !slices.ContainsFunc(groups, func(sets []int) bool {
			return !slices.ContainsFunc(sets, func(needed int) bool { return needed&^set == 0 })
		})
		if size := bits.OnesCount(uint(set)); fits && size <= count {
			if size < count {
				count, latest = size, -1
			}
			latest = max(latest, positionsOf(set))
		}
	}
	return count, latest
}

func positionsOf(set int) (sum int) {
	for stop := range bits.Len(uint(set)) {
		sum += set >> stop & 1 * stop
	}
	return sum
}

// bestOf reads from a plan what bruteForce finds out.
func bestOf(in plan.Input, p plan.Plan) (best, error) {
	stops, ok := stopsOf(in)
	if !ok {
		return best{}, fmt.Errorf("there is no way for the control plane")
	}
	found := best{rollouts: map[string]int{}, arrive: map[string]int{}, leave: map[string]int{}}
	for _, group := range in.Target.WorkerNodeGroups {
		if start, exists := in.Start.WorkerNodeGroups[group.Name]; exists && !group.Version.Before(start.Version) {
			found.rollouts[group.Name] = 0
		}
	}
	at, set := 0, 0
	for _, step := range p.Steps {
		switch {
		case step.UnderWay:
		case step.Kind == plan.ControlPlane:
			at++
			if at >= len(stops) || number(step.To) != stops[at] {
				return best{}, fmt.Errorf("the control plane goes to %s, and not through %v", step.To, stops)
			}
		case step.Kind == plan.Workers:
			for _, group := range step.WorkerNodeGroups {
				if group.To.After(group.From) {
					found.rollouts[group.Name]++
					set |= 1 << at
				}
			}
		case step.Kind == plan.CreateWorkers:
			for _, group := range step.WorkerNodeGroups {
				found.arrive[group.Name] = at
			}
		case step.Kind == plan.RemoveWorkers:
			for _, group := range step.WorkerNodeGroups {
				found.leave[group.Name] = at
			}
		}
	}
	found.stops, found.latest = bits.OnesCount(uint(set)), positionsOf(set)
	return found, nil
}
