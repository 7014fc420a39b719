package plan

import (
	"fmt"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// CheckStep refuses the number of a step that the plan does not have.
func (p Plan) CheckStep(step int) error {
	if step < 1 || step > len(p.Steps) {
		return fmt.Errorf("the plan has no step %d: it has %d", step, len(p.Steps))
	}
	return nil
}

// HasReached reports whether a cluster has come to the end of a step of the plan, or is beyond
// it, whoever takes the steps.
func (p Plan) HasReached(step int, c state.Cluster) bool {
	after := p.Versions(step)
	if !p.partReached(step, c.ControlPlane, after.ControlPlane) {
		return false
	}
	for name := range p.From.WorkerNodeGroups {
		_, exists := c.Group(name)
		if _, stays := after.WorkerNodeGroups[name]; !stays && exists {
			return false
		}
	}
	for name, version := range after.WorkerNodeGroups {
		part, exists := c.Group(name)
		if _, goes := p.To.WorkerNodeGroups[name]; !exists && !goes {
			continue // a later step removed it
		}
		if !exists || !p.partReached(step, part, version) {
			return false
		}
	}
	return true
}

// partReached reports whether a part has come to a version. Where a step replaces its machines at
// the version that they have, its object has changed since the plan was made.
func (p Plan) partReached(step int, part state.Part, version v1alpha1.Version) bool {
	if part.Version.After(version) {
		return true
	}
	for _, taken := range p.Steps[:step] {
		planned := p.Metadata.Generations[part.Object]
		if taken.Kind == Template && taken.Moves(part.Name) && planned != AnyGeneration && part.Generation <= planned {
			return false
		}
	}
	return part.Version == version && part.Done()
}
