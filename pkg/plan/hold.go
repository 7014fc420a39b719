package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Held returns the hold before the step of an index, or after the last step if the
// index is the number of steps; nil without one. begun is true for a continued upgrade,
// which is not held before its start.
func (p Plan) Held(next int, begun bool, holds []state.Hold) *state.Hold {
	points := p.holdPoints(next, begun)
	for _, hold := range holds {
		if slices.Contains(points, hold.Point) {
			return &hold
		}
	}
	return nil
}

// moment is a place in an upgrade at which it may be held: between the step that
// changed a version last and the one that comes next.
type moment struct{ previous, next Kind }

// Kinds for moments at which there is no such step.
const (
	nothing     Kind = "nothing" // no version was changed before; or, the next step changes none
	noMoreSteps Kind = "no more steps"
)

// holdPoints returns the hold points of each moment. Where an upgrade that has not
// begun changes no version next, there are none.
func holdPoints() map[moment][]state.HoldPoint {
	return map[moment][]state.HoldPoint{
		{nothing, ControlPlane}:      {state.BeforeUpgrade, state.BeforeControlPlane},
		{nothing, Workers}:           {state.BeforeUpgrade, state.BeforeWorkers},
		{ControlPlane, ControlPlane}: {state.AfterControlPlane, state.BeforeControlPlane},
		{ControlPlane, Workers}:      {state.AfterControlPlane, state.BeforeWorkers},
		{ControlPlane, nothing}:      {state.AfterControlPlane},
		{ControlPlane, noMoreSteps}:  {state.AfterControlPlane, state.AfterUpgrade},
		{Workers, ControlPlane}:      {state.AfterWorkers, state.BeforeControlPlane},
		{Workers, Workers}:           {state.AfterWorkers, state.BeforeWorkers},
		{Workers, nothing}:           {state.AfterWorkers},
		{Workers, noMoreSteps}:       {state.AfterWorkers, state.AfterUpgrade},
	}
}

// holdPoints returns the hold points before the step of an index. A rollout that is
// under way has passed its own already.
func (p Plan) holdPoints(next int, begun bool) []state.HoldPoint {
	if next < len(p.Steps) && p.Steps[next].changesVersion() && p.Steps[next].UnderWay {
		return nil
	}
	return holdPoints()[moment{p.kindBefore(next, begun), p.kindOf(next)}]
}

// kindBefore returns the kind of the last step before an index that changes versions,
// or, where an upgrade is continued, of the last one of the run before.
func (p Plan) kindBefore(next int, begun bool) Kind {
	before := next - 1
	for before >= 0 && !p.Steps[before].changesVersion() {
		before--
	}
	arrived := func(version v1alpha1.Version) bool { return version == p.From.ControlPlane }
	switch {
	case before >= 0:
		return p.Steps[before].Kind
	case !begun:
		return nothing
	case slices.ContainsFunc(slices.Collect(maps.Values(p.From.WorkerNodeGroups)), arrived):
		return Workers
	}
	return ControlPlane
}

func (p Plan) kindOf(next int) Kind {
	switch {
	case next == len(p.Steps):
		return noMoreSteps
	case !p.Steps[next].changesVersion():
		return nothing
	}
	return p.Steps[next].Kind
}

// changesVersion reports whether the step gives machines another version.
func (s Step) changesVersion() bool {
	return !s.Concurrent && (s.Kind == ControlPlane || s.Kind == Workers)
}

// HeldNotes returns at which step of the plan each hold is met first; begun is as in Held.
func (p Plan) HeldNotes(begun bool, holds []state.Hold) []string {
	var notes []string
	for _, hold := range holds {
		for next := range len(p.Steps) + 1 {
			held := p.Held(next, begun, []state.Hold{hold})
			if held == nil {
				continue
			}
			where := "the end of the upgrade"
			if next < len(p.Steps) {
				where = fmt.Sprintf("step %d", next+1)
			}
			notes = append(notes, fmt.Sprintf("%s waits: %s", where, hold))
			break
		}
	}
	return notes
}

// ChangesVersions reports whether the plan gives machines another version.
func (p Plan) ChangesVersions() bool { return slices.ContainsFunc(p.Steps, Step.changesVersion) }

// EndsDetached reports whether the last step by which machines get another version is
// about groups that are not in the topology of their cluster.
func (p Plan) EndsDetached() bool {
	for _, step := range slices.Backward(p.Steps) {
		if step.changesVersion() {
			return step.Detached
		}
	}
	return false
}
