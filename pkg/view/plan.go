package view

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// Plan writes a plan, a line for each move, with the reason of each step and
// the machines that it takes.
func (s Style) Plan(w io.Writer, p plan.Plan) error {
	var b strings.Builder
	name := strings.TrimPrefix(p.Metadata.Namespace+"/"+p.Metadata.Name, "/")
	if p.Empty() {
		fmt.Fprintf(&b, "cluster %s %s; nothing to do\n", name, p.Reached())
		notes(&b, p)
		_, err := io.WriteString(w, b.String())
		return err
	}
	fmt.Fprintf(&b, "Plan for cluster %s, %s:\n", name, Counted(len(p.Steps), "step"))
	whoWidth, whatWidth := widths(p.Steps)
	for i, step := range p.Steps {
		for j, move := range moves(step) {
			number := ""
			if j == 0 {
				number = fmt.Sprintf("%d.", i+1)
			}
			line := fmt.Sprintf("%3s %-*s  %-*s  %s", number, whoWidth, move.who, whatWidth, move.what, move.machines)
			if step.Kind == plan.RemoveWorkers {
				line = s.colored(red, line)
			}
			fmt.Fprintln(&b, line)
		}
		fmt.Fprintf(&b, "      %s\n", reason(step))
		for _, image := range images(step) {
			fmt.Fprintf(&b, "      %s\n", image)
		}
		for _, change := range stepChanges(step) {
			fmt.Fprintf(&b, "      %s\n", change)
		}
	}
	fmt.Fprintf(&b, "In all: %s.\n", total(p))
	if removed := removed(p); removed != "" {
		fmt.Fprintln(&b, s.colored(red, removed))
	}
	if len(p.Findings) > 0 {
		fmt.Fprintln(&b, s.colored(red, refusedNow))
		for _, finding := range p.Findings {
			fmt.Fprintf(&b, "  %s: %s\n", finding.Check, finding.Reason)
		}
	}
	notes(&b, p)
	_, err := io.WriteString(w, b.String())
	return err
}

// refusedNow comes before what an upgrade would be refused for.
const refusedNow = "In the current state of the cluster the upgrade would be refused:"

func notes(b *strings.Builder, p plan.Plan) {
	for _, note := range p.Notes {
		fmt.Fprintf(b, "Note: %s.\n", note)
	}
}

// images returns a line for what new machines of each part of a step are made from.
func images(step plan.Step) []string {
	var lines []string
	if step.Image != "" {
		lines = append(lines, "image: "+step.Image)
	}
	for _, group := range step.WorkerNodeGroups {
		if group.Image != "" {
			lines = append(lines, "image of "+group.Name+": "+group.Image)
		}
	}
	return lines
}

// move is what a step does to one part, in columns.
type move struct{ who, what, machines string }

// widths of the first two columns, over all steps.
func widths(steps []plan.Step) (who, what int) {
	for _, step := range steps {
		for _, move := range moves(step) {
			who, what = max(who, len(move.who)), max(what, len(move.what))
		}
	}
	return who, what
}

func moves(step plan.Step) []move {
	if len(step.WorkerNodeGroups) == 0 {
		who := "control plane"
		if step.Kind == plan.InPlace && step.MachinesAdded+step.MachinesRemoved == 0 {
			who = "cluster" // as a whole, the control plane among it
		}
		what := fromTo(step.Kind, step.From, step.To, step.Changes)
		return []move{{who, what, machines(plan.Group{
			MachinesReplaced: step.MachinesReplaced, MachinesAdded: step.MachinesAdded, MachinesRemoved: step.MachinesRemoved, UnderWay: step.UnderWay,
		})}}
	}
	all := make([]move, len(step.WorkerNodeGroups))
	for i, group := range step.WorkerNodeGroups {
		what := fromTo(step.Kind, group.From, group.To, group.Changes)
		group.UnderWay = group.UnderWay || step.UnderWay
		all[i] = move{group.Name, what, machines(group)}
	}
	return all
}

// fromTo says what becomes of a part; where no field changes, its count does.
func fromTo(kind plan.Kind, from, to v1alpha1.Version, changes plan.Changes) string {
	switch kind {
	case plan.ControlPlane, plan.Workers:
		return fmt.Sprintf("%s -> %s", from, to)
	case plan.CreateWorkers:
		return "new at " + to.String()
	case plan.RemoveWorkers:
		return "removed"
	case plan.Template:
		return "stays at " + to.String()
	case plan.Detach:
		return "detached at " + to.String()
	case plan.Return:
		return "returned at " + to.String()
	default:
		if len(changeLines(changes)) == 0 {
			return "scaled"
		}
		return "changed in place"
	}
}

// machines returns the number of machines in the move of a group; for a move under way,
// the remaining ones.
func machines(g plan.Group) string {
	still := ""
	if g.UnderWay {
		still = "still to be "
	}
	var parts []string
	for _, count := range []struct {
		n    int
		what string
	}{{g.MachinesReplaced, "replaced"}, {g.MachinesAdded, "added"}, {g.MachinesRemoved, "removed"}} {
		if count.n > 0 {
			parts = append(parts, Counted(count.n, "machine")+" "+still+count.what)
		}
	}
	text := cmp.Or(strings.Join(parts, ", "), "no machine replaced")
	if g.Approximate {
		text += " (now; an autoscaler decides)"
	}
	return text
}

// Counted says how many things there are, as "1 object" and "2 objects".
func Counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func reason(step plan.Step) string {
	if step.Concurrent {
		return step.Reason + "; started at once, concurrent with the other steps"
	}
	return step.Reason
}

// removed says which worker node groups a plan removes; it is empty where it removes none.
func removed(p plan.Plan) string {
	var names []string
	for _, group := range p.Removed() {
		names = append(names, fmt.Sprintf("%s (%s)", group.Name, Counted(group.MachinesRemoved, "machine")))
	}
	if len(names) == 0 {
		return ""
	}
	return "Worker node groups removed with all their machines: " + strings.Join(names, ", ") + "."
}

// total are the machines of all steps together.
func total(p plan.Plan) string {
	var sentences []string
	for _, count := range []struct {
		plan.Machines
		what string
	}{{p.MachinesReplaced, "replaced"}, {p.MachinesAdded, "added"}, {p.MachinesRemoved, "removed"}} {
		var parts []string
		if count.ControlPlane > 0 {
			parts = append(parts, Counted(count.ControlPlane, "control plane machine"))
		}
		if count.Workers > 0 {
			parts = append(parts, Counted(count.Workers, "worker machine"))
		}
		if len(parts) > 0 {
			sentences = append(sentences, strings.Join(parts, " and ")+" "+count.what)
		}
	}
	return cmp.Or(strings.Join(sentences, "; "), "no machine is replaced, added or removed")
}
