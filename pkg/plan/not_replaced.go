package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// withoutReplacing returns the steps with no machines to replace where a part gets another
// version in place, unless another change replaces them.
func (p *planner) withoutReplacing(steps []Step) []Step {
	for i := range steps {
		step := &steps[i]
		if step.Kind == ControlPlane && p.in.Start.ControlPlane.InPlace && !step.Changes.replacing().changeAnything() {
			step.MachinesReplaced = 0
		}
		if step.Kind != Workers {
			continue
		}
		for j := range step.WorkerNodeGroups {
			group := &step.WorkerNodeGroups[j]
			if p.in.Start.WorkerNodeGroups[group.Name].InPlace && !group.Changes.replacing().changeAnything() {
				group.MachinesReplaced = 0
			}
		}
	}
	return steps
}

// inPlaceNotes says which parts get another version without new machines.
func (p *planner) inPlaceNotes() []string {
	var notes []string
	if part := p.in.Start.ControlPlane; part.InPlace && part.Machines > 0 && p.moves(v1alpha1.ControlPlaneName) {
		notes = append(notes, "the machines of the control plane get their version in place: none is replaced")
	}
	for _, name := range slices.Sorted(maps.Keys(p.in.Start.WorkerNodeGroups)) {
		if part := p.in.Start.WorkerNodeGroups[name]; part.InPlace && part.Machines > 0 && p.moves(name) {
			notes = append(notes, fmt.Sprintf("the machines of %s get their version in place: none is replaced", name))
		}
	}
	return notes
}
