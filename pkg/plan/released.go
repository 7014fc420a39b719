package plan

import "github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"

// Released reports whether the machines of a part may be replaced after a number of
// steps, so that the whole part is written. Before that it keeps its templates.
// Concurrent steps start at once, and rollouts under way and control planes without a
// step are released.
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
