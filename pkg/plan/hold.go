package plan

import (
	"fmt"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Held is the hold that a cluster is at before it begins the step of an index, or
// after the last of the steps where the index is their number; nil where there is
// none. begun tells that an upgrade is continued, so that it is not held up where it
// would begin.
func (p Plan) Held(next int, begun bool, holds []state.Hold) *state.Hold {
	points := p.holdPoints(next, begun)
	for _, hold := range holds {
		if slices.Contains(points, hold.Point) {
			return &hold
		}
	}
	return nil
}

// holdPoints are the places that lie between the step before and one.
func (p Plan) holdPoints(next int, begun bool) []state.HoldPoint {
	var points []state.HoldPoint
	before := -1
	for i, step := range p.Steps[:next] {
		if step.changesVersion() {
			before = i
		}
	}
	switch {
	case before >= 0:
		points = append(points, after(p.Steps[before].Kind))
	case begun:
		points = append(points, after(p.kindBefore()))
	}
	switch {
	case next == len(p.Steps) && (before >= 0 || begun):
		points = append(points, state.AfterUpgrade)
	case next == len(p.Steps) || !p.Steps[next].changesVersion():
		// Nothing of an upgrade is next.
	case p.Steps[next].UnderWay:
		return nil
	case before < 0 && !begun:
		points = append(points, state.BeforeUpgrade, ahead(p.Steps[next].Kind))
	default:
		points = append(points, ahead(p.Steps[next].Kind))
	}
	return points
}

// kindBefore is the kind of the step that an earlier run took last, of an upgrade that
// is continued: workers go to where the control plane is.
func (p Plan) kindBefore() Kind {
	for _, version := range p.From.WorkerNodeGroups {
		if version == p.From.ControlPlane {
			return Workers
		}
	}
	return ControlPlane
}

// changesVersion tells whether machines get another version by the step.
func (s Step) changesVersion() bool {
	return !s.Beside && (s.Kind == ControlPlane || s.Kind == Workers)
}

func ahead(kind Kind) state.HoldPoint {
	if kind == ControlPlane {
		return state.BeforeControlPlane
	}
	return state.BeforeWorkers
}

func after(kind Kind) state.HoldPoint {
	if kind == ControlPlane {
		return state.AfterControlPlane
	}
	return state.AfterWorkers
}

// HeldNotes say at which step of the plan each hold is met first; begun as in Held.
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

// ChangesVersions tells whether machines get another version by the plan.
func (p Plan) ChangesVersions() bool { return slices.ContainsFunc(p.Steps, Step.changesVersion) }

// EndsDetached tells whether the last step by which machines get another version is
// about groups that are not in the topology of their cluster.
func (p Plan) EndsDetached() bool {
	for _, step := range slices.Backward(p.Steps) {
		if step.changesVersion() {
			return step.Detached
		}
	}
	return false
}
