package plan_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// randomInput is a cluster in any state, and what somebody wants of it. What is
// likely to be impossible is rare.
func randomInput(r *rand.Rand) plan.Input {
	in := plan.Input{Start: plan.Start{WorkerNodeGroups: map[string]plan.Part{}}}
	rarely := func() bool { return r.IntN(25) == 0 }
	in.Policy.MaxLag = []uint64{0, 0, 0, 0, 1, 2, 2, 3, 5}[r.IntN(9)]
	first := 20 + r.IntN(16)
	far := r.IntN(7)
	patches := map[int]int{} // the newest of each minor
	for minor := first - 6; minor <= first+8; minor++ {
		patches[minor] = r.IntN(3)
		for patch := range patches[minor] + 1 {
			in.Releases = append(in.Releases, versionOf(minor*100+patch))
		}
	}
	if rarely() {
		missing := (first + 1 + r.IntN(6)) * 100
		in.Releases = slices.DeleteFunc(in.Releases, func(v release) bool { return number(v)/100*100 == missing })
	}
	// Some version of a minor, between two of them.
	some := func(from, to int) int {
		if to < from {
			return from
		}
		minor := from/100 + r.IntN(to/100-from/100+1)
		return min(max(minor*100+r.IntN(patches[minor]+1), from), to)
	}
	controlPlane := some(first*100, first*100+99)
	target := some((first+far)*100, (first+far)*100+99)
	if target < controlPlane && !rarely() {
		target = controlPlane
	}
	in.Start.ControlPlane = randomPart(r, controlPlane, some, 3)
	in.Target.ControlPlane, in.Target.ControlPlaneMachines = versionOf(target), 3
	for i := range 1 + r.IntN(6) {
		name := string(rune('a' + i))
		start := some((first-r.IntN(4))*100, controlPlane)
		switch {
		case rarely():
			start = some((first-6)*100, controlPlane)
		case rarely():
			start = some(controlPlane, controlPlane+150)
		}
		group := plan.TargetGroup{Name: name, Version: versionOf(target), Machines: r.IntN(4)}
		if r.IntN(5) < 2 {
			group.Pinned, group.Version = true, versionOf(some(max(start, target-300), target))
		}
		if rarely() {
			group.Pinned, group.Version = true, versionOf(some((first-4)*100, target+100))
		}
		part := randomPart(r, start, some, group.Machines)
		if rarely() && part.Outdated > 0 {
			part.Fresh, group.Pinned, group.Version = 0, true, part.Oldest
		}
		kind := r.IntN(8)
		if kind > 0 {
			in.Start.WorkerNodeGroups[name] = part
		}
		if kind < 7 {
			in.Target.WorkerNodeGroups = append(in.Target.WorkerNodeGroups, group)
		}
	}
	if rarely() {
		in.Start.Unmanaged = []plan.Unmanaged{{Object: "Machine/other", Version: versionOf(some((first-3)*100, controlPlane+100))}}
	}
	return in
}

// randomPart is at a version, or on its way to it.
func randomPart(r *rand.Rand, at int, some func(from, to int) int, machines int) plan.Part {
	p := part(versionOf(at), machines)
	if machines > 0 && r.IntN(12) == 0 {
		p.Oldest, p.Outdated = versionOf(some((at/100-r.IntN(3))*100, at)), 1+r.IntN(machines)
		p.Fresh = r.IntN(machines - p.Outdated + 1)
	}
	return p
}

// scaled asks for other counts.
func scaled(r *rand.Rand, in plan.Input) plan.Input {
	in.Target.ControlPlaneMachines = 1 + 2*r.IntN(3)
	in.Target.WorkerNodeGroups = slices.Clone(in.Target.WorkerNodeGroups)
	for i := range in.Target.WorkerNodeGroups {
		in.Target.WorkerNodeGroups[i].Machines = r.IntN(5)
	}
	return in
}

// shuffled is the same input, put together in another order.
func shuffled(r *rand.Rand, in plan.Input) plan.Input {
	in.Releases = slices.Clone(in.Releases)
	r.Shuffle(len(in.Releases), func(i, j int) { in.Releases[i], in.Releases[j] = in.Releases[j], in.Releases[i] })
	names := slices.Sorted(maps.Keys(in.Start.WorkerNodeGroups))
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	groups := in.Start.WorkerNodeGroups
	in.Start.WorkerNodeGroups = map[string]plan.Part{}
	for _, name := range names {
		in.Start.WorkerNodeGroups[name] = groups[name]
	}
	return in
}

// after is the input when the first count steps of its plan are done.
func after(in plan.Input, p plan.Plan, count int) plan.Input {
	versions := p.Versions(count)
	groups := map[string]plan.Part{}
	machines := map[string]int{}
	for _, group := range in.Target.WorkerNodeGroups {
		machines[group.Name] = group.Machines
	}
	moved := map[string]bool{}
	for _, step := range p.Steps[:count] {
		for _, part := range step.Parts() {
			moved[part] = true
		}
	}
	for name, v := range versions.WorkerNodeGroups {
		start, exists := in.Start.WorkerNodeGroups[name]
		count, wanted := machines[name]
		if !wanted {
			count = start.Machines
		}
		groups[name] = part(v, count)
		if exists && !moved[name] && start.Outdated > 0 {
			start.Machines = count
			groups[name] = start
		}
	}
	controlPlane := part(versions.ControlPlane, in.Target.ControlPlaneMachines)
	if !moved[controlPlaneName] && in.Start.ControlPlane.Outdated > 0 {
		controlPlane = in.Start.ControlPlane
		controlPlane.Machines = in.Target.ControlPlaneMachines
	}
	in.Start.ControlPlane, in.Start.WorkerNodeGroups = controlPlane, groups
	in.Changes = nil
	return in
}

// describe is an input in a few lines.
func describe(in plan.Input) string {
	text := &strings.Builder{}
	write := func(name string, part plan.Part) {
		fmt.Fprintf(text, "%s %s (oldest %s, %d machines, %d outdated, %d fresh)", name, part.Version, part.Oldest, part.Machines, part.Outdated, part.Fresh)
	}
	write("control plane", in.Start.ControlPlane)
	fmt.Fprintf(text, " -> %s (%d), MaxLag %d, foreign %v\n", in.Target.ControlPlane, in.Target.ControlPlaneMachines, in.Policy.MaxLag, in.Start.Unmanaged)
	for _, group := range in.Target.WorkerNodeGroups {
		part, exists := in.Start.WorkerNodeGroups[group.Name]
		if exists {
			write(group.Name, part)
		} else {
			fmt.Fprintf(text, "%s new", group.Name)
		}
		fmt.Fprintf(text, " -> %s (%d), pinned %t\n", group.Version, group.Machines, group.Pinned)
	}
	for _, name := range slices.Sorted(maps.Keys(in.Start.WorkerNodeGroups)) {
		if !slices.ContainsFunc(in.Target.WorkerNodeGroups, func(g plan.TargetGroup) bool { return g.Name == name }) {
			write(name, in.Start.WorkerNodeGroups[name])
			fmt.Fprintf(text, " -> removed\n")
		}
	}
	fmt.Fprintf(text, "releases %v\n", in.Releases)
	return text.String()
}
