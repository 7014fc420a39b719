package plan_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// This file takes a plan's steps one after the other, and knows nothing of how
// they were found. Its versions are numbers: 3105 is v1.31.5.

func number(v v1alpha1.Version) int {
	text := v.String()
	patch, err := strconv.Atoi(text[strings.LastIndex(text, ".")+1:])
	if minor := v.Minor(); err == nil && minor.Major == 1 && patch < 100 {
		return int(minor.Minor)*100 + patch
	}
	panic(fmt.Sprintf("%q is no number: %v", text, err))
}

// versionOf is the reverse of number.
func versionOf(number int) v1alpha1.Version {
	return version(fmt.Sprintf("1.%d.%d", number/100, number%100))
}

// lag is by how many minors a node is too old for a control plane.
func lag(maxLag uint64, controlPlane, node int) int {
	allowed := 3
	if node/100 < 25 {
		allowed = 2
	}
	if maxLag > 0 && int(maxLag) < allowed {
		allowed = int(maxLag)
	}
	return max(0, controlPlane/100-node/100-allowed)
}

// world is which versions run at one moment.
type world struct {
	maxLag       uint64
	controlPlane []int
	nodes        map[string][]int // groups, and the machines of others
}

func worldOf(in plan.Input) world {
	w := world{maxLag: in.Policy.MaxLag, controlPlane: running(in.Start.ControlPlane), nodes: map[string][]int{}}
	for name, part := range in.Start.WorkerNodeGroups {
		w.nodes[name] = running(part)
	}
	for _, foreign := range in.Start.Unmanaged {
		w.nodes[foreign.Object] = []int{number(foreign.Version)}
	}
	return w
}

func running(part plan.Part) []int {
	if part.Outdated == 0 {
		return []int{number(part.Version)}
	}
	return []int{number(part.Oldest), number(part.Version)}
}

func (w world) clone() world {
	w.nodes = maps.Clone(w.nodes)
	return w
}

// breach is by how much nodes break the policy: by being too old, by being
// ahead of an API server.
type breach struct{ old, ahead int }

func (b breach) within(other breach) bool { return b.old <= other.old && b.ahead <= other.ahead }

func (w world) breach(nodes []int) (b breach) {
	for _, controlPlane := range w.controlPlane {
		for _, node := range nodes {
			b.old, b.ahead = max(b.old, lag(w.maxLag, controlPlane, node)), max(b.ahead, node-controlPlane)
		}
	}
	return b
}

// worse are the nodes that break the policy more than they did before.
func (w world) worse(before world, when string) []string {
	var problems []string
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		was, is := before.breach(before.nodes[name]), w.breach(w.nodes[name])
		if !is.within(was) {
			problems = append(problems, fmt.Sprintf("%s: %s: %v beside %v breaks the policy by %+v, before by %+v", when, name, w.nodes[name], w.controlPlane, is, was))
		}
	}
	return problems
}

// problems are what is wrong with a plan: a step that does not begin where the
// one before it ended, goes down or too far, or breaks the policy; or an end
// that is not the target.
func problems(in plan.Input, p plan.Plan) []string {
	var wrong []string
	w, underWay := worldOf(in), true
	for i, step := range p.Steps {
		when := fmt.Sprintf("step %d, %s", i+1, step.Kind)
		if !step.Concurrent && !step.UnderWay {
			underWay = false
		}
		if step.UnderWay && !underWay {
			wrong = append(wrong, when+": under way, and after another one")
		}
		during, after := w.clone(), w.clone()
		if len(step.WorkerNodeGroups) == 0 {
			wrong = append(wrong, takeControlPlane(in, step, w, &during, &after, when)...)
		}
		for _, group := range step.WorkerNodeGroups {
			wrong = append(wrong, takeGroup(in, step, group, w, during, after, when)...)
		}
		wrong = append(wrong, during.worse(w, when)...)
		wrong = append(wrong, after.worse(w, when+", over")...)
		w = after
	}
	return append(wrong, notThere(in, w)...)
}

// notThere is where the target is not reached.
func notThere(in plan.Input, w world) []string {
	var wrong []string
	want := world{controlPlane: []int{number(in.Target.ControlPlane)}, nodes: map[string][]int{}}
	for _, group := range in.Target.WorkerNodeGroups {
		want.nodes[group.Name] = []int{number(group.Version)}
	}
	for _, foreign := range in.Start.Unmanaged {
		want.nodes[foreign.Object] = []int{number(foreign.Version)}
	}
	if !slices.Equal(want.controlPlane, w.controlPlane) {
		wrong = append(wrong, fmt.Sprintf("in the end the control plane is at %v, not %v", w.controlPlane, want.controlPlane))
	}
	if !maps.EqualFunc(want.nodes, w.nodes, slices.Equal) {
		wrong = append(wrong, fmt.Sprintf("in the end the nodes are %v, not %v", w.nodes, want.nodes))
	}
	return wrong
}

func takeControlPlane(in plan.Input, step plan.Step, w world, during, after *world, when string) []string {
	var wrong []string
	if step.Kind == plan.InPlace {
		return nil
	}
	from, to := number(step.From), number(step.To)
	switch {
	case step.UnderWay:
		if step.From != in.Start.ControlPlane.Oldest || step.To != in.Start.ControlPlane.Version {
			wrong = append(wrong, when+": is not what is under way")
		}
	case len(w.controlPlane) != 1 || w.controlPlane[0] != from:
		wrong = append(wrong, fmt.Sprintf("%s: from %d, and it is at %v", when, from, w.controlPlane))
	case step.Kind == plan.ControlPlane && (to <= from || to/100 > from/100+1):
		wrong = append(wrong, fmt.Sprintf("%s: from %d to %d", when, from, to))
	case step.Kind == plan.Template && to != from:
		wrong = append(wrong, fmt.Sprintf("%s: from %d to %d", when, from, to))
	}
	if !step.UnderWay && to > from {
		// Whatever was wrong before: no step makes a control plane newer while a
		// node is too old for it.
		for name, nodes := range w.nodes {
			for _, node := range nodes {
				if lag(w.maxLag, to, node) > 0 {
					wrong = append(wrong, fmt.Sprintf("%s: to %d, and %s is at %d", when, to, name, node))
				}
			}
		}
	}
	during.controlPlane = append(slices.Clone(w.controlPlane), to)
	after.controlPlane = []int{to}
	return wrong
}

func takeGroup(in plan.Input, step plan.Step, group plan.Group, w, during, after world, when string) []string {
	when += " " + group.Name
	nodes, exists := w.nodes[group.Name]
	is := func(v v1alpha1.Version) bool { return len(nodes) == 1 && nodes[0] == number(v) }
	start := in.Start.WorkerNodeGroups[group.Name]
	switch step.Kind {
	case plan.CreateWorkers:
		after.nodes[group.Name] = []int{number(group.To)}
		during.nodes[group.Name] = after.nodes[group.Name]
		if exists {
			return []string{when + ": is there already"}
		}
		return nil
	case plan.RemoveWorkers:
		delete(after.nodes, group.Name)
		if !exists {
			return []string{when + ": is not there"}
		}
		return nil
	case plan.InPlace:
		if !exists {
			return []string{when + ": is not there"}
		}
		return nil
	case plan.Detach, plan.Return:
		if !exists || group.From != group.To || !slices.Contains(nodes, number(group.To)) {
			return []string{fmt.Sprintf("%s: from %s to %s, and it is at %v", when, group.From, group.To, nodes)}
		}
		return nil
	case plan.Workers, plan.Template, plan.ControlPlane:
	}
	from, to := number(group.From), number(group.To)
	during.nodes[group.Name] = append(slices.Clone(nodes), to)
	after.nodes[group.Name] = []int{to}
	back := group.To == start.Oldest && start.Outdated > 0 && start.Fresh == 0 && slices.Contains(nodes, to)
	switch {
	case step.UnderWay:
		if group.From != start.Oldest || group.To != start.Version {
			return []string{when + ": is not what is under way"}
		}
	case step.Kind == plan.Template && step.Concurrent:
		after.nodes[group.Name] = nodes // begun, and waited for by nobody
		if from != to || group.To != start.Version {
			return []string{fmt.Sprintf("%s: from %d to %d", when, from, to)}
		}
	case step.Kind == plan.Template:
		if from != to || !is(group.From) {
			return []string{fmt.Sprintf("%s: from %d to %d, and it is at %v", when, from, to, nodes)}
		}
	case to < from && back:
	case to <= from || !is(group.From):
		return []string{fmt.Sprintf("%s: from %d to %d, and it is at %v", when, from, to, nodes)}
	}
	return nil
}
