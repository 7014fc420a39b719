package plan

import "fmt"

// Removed returns the worker node groups that the plan removes. A removal under way is
// none of them: it was decided on before.
func (p Plan) Removed() []Group {
	return p.groupsOf(RemoveWorkers)
}

// Created returns the worker node groups that the plan creates.
func (p Plan) Created() []Group { return p.groupsOf(CreateWorkers) }

// groupsOf returns the groups of the steps of a kind that are not under way.
func (p Plan) groupsOf(kind Kind) []Group {
	var groups []Group
	for _, step := range p.Steps {
		if step.Kind != kind || step.UnderWay {
			continue
		}
		for _, group := range step.WorkerNodeGroups {
			if !group.UnderWay {
				groups = append(groups, group)
			}
		}
	}
	return groups
}

// RenameNotes returns a note for each removed group that looks renamed: one new group,
// and no other, has as many machines.
func (p Plan) RenameNotes() []string {
	removed, created := p.Removed(), p.Created()
	var notes []string
	for _, old := range removed {
		alike := 0
		var other Group
		for _, group := range created {
			if group.MachinesAdded == old.MachinesRemoved {
				alike, other = alike+1, group
			}
		}
		for _, group := range removed {
			if group.Name != old.Name && group.MachinesRemoved == old.MachinesRemoved {
				alike++
			}
		}
		if alike == 1 && other.Name != "" {
			notes = append(notes, fmt.Sprintf(
				"group %s is removed, and group %s is new with as many machines; a group cannot be renamed: keep the name %s to keep its machines", old.Name, other.Name, old.Name))
		}
	}
	return notes
}
