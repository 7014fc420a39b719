package plan

import "github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"

// Released reports whether the machines of a part may be replaced once so many
// steps were begun, so that it is written as a whole; before that it keeps the
// templates that it has. Concurrent steps are begun with them all,
// and a rollout that goes on already needs nothing. A control plane that no step
// moves has nothing to wait for.
func (p Plan) Released(part string, begun int) bool {
	moves := false
	for i, step := range p.Steps {
		if step.UnderWay || step.Group(part).UnderWay || !step.Moves(part) {
			continue
		}
		if i < begun || step.Concurrent {
			return true
		}
		moves = true
	}
	return part == v1alpha1.ControlPlaneName && !moves
}
