package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// long writes each step with its machines and changes, and all machines last.
func long(p plan.Plan) []string {
	lines := []string{}
	for _, step := range p.Steps {
		parts := []string{}
		if len(step.WorkerNodeGroups) == 0 {
			parts = append(parts, machines(move(step.From, step.To), plan.Group{
				MachinesReplaced: step.MachinesReplaced, MachinesAdded: step.MachinesAdded, MachinesRemoved: step.MachinesRemoved, Changes: step.Changes,
			}))
		}
		for _, g := range step.WorkerNodeGroups {
			parts = append(parts, machines(g.Name+" "+move(g.From, g.To), g))
		}
		lines = append(lines, kind(step)+": "+strings.Join(parts, "; "))
	}
	return append(lines, fmt.Sprintf("all: control plane +%d -%d ~%d, workers +%d -%d ~%d",
		p.MachinesAdded.ControlPlane, p.MachinesRemoved.ControlPlane, p.MachinesReplaced.ControlPlane,
		p.MachinesAdded.Workers, p.MachinesRemoved.Workers, p.MachinesReplaced.Workers))
}

func machines(text string, g plan.Group) string {
	for _, count := range []struct {
		verb  string
		count int
	}{{"replaces", g.MachinesReplaced}, {"adds", g.MachinesAdded}, {"removes", g.MachinesRemoved}} {
		if count.count > 0 {
			text += fmt.Sprintf(" %s %d", count.verb, count.count)
		}
	}
	if g.Approximate {
		text += " about"
	}
	var found []string
	for _, change := range g.Fields {
		found = append(found, change.Path)
	}
	if g.Templates != nil {
		found = append(found, fmt.Sprintf("%v -> %v", g.Templates.Old, g.Templates.New))
	}
	if g.Unknown != nil {
		found = append(found, fmt.Sprintf("unknown for %s", g.Unknown.Reason))
	}
	if len(found) > 0 {
		text += fmt.Sprintf(" %v", found)
	}
	return text
}

// fieldsOf are changes of fields that machines are replaced for, and of some that they
// are not replaced for.
func fieldsOf(replacing, inPlace []string) plan.Changes {
	var c plan.Changes
	for _, path := range replacing {
		c.Fields = append(c.Fields, changes.Change{Object: "Kind/name", Path: path, Action: changes.Changed, Old: "1", New: "2", ReplacesMachines: true})
	}
	for _, path := range inPlace {
		c.Fields = append(c.Fields, changes.Change{Object: "Kind/name", Path: path, Action: changes.Added, New: "2"})
	}
	return c
}

// changed gives a part changes that machines are replaced for, and some that they are
// not replaced for.
func changed(name, replacing, inPlace string) func(*plan.Input) {
	return func(in *plan.Input) {
		if in.Changes == nil {
			in.Changes = map[string]plan.Changes{}
		}
		in.Changes[name] = fieldsOf(strings.Fields(replacing), strings.Fields(inPlace))
	}
}

// counts asks for so many machines; without a name of the control plane.
func counts(name string, count int) func(*plan.Input) {
	return func(in *plan.Input) {
		if name == "" {
			in.Target.ControlPlaneMachines = count
		}
		for i, group := range in.Target.WorkerNodeGroups {
			if group.Name == name {
				in.Target.WorkerNodeGroups[i].Machines = count
			}
		}
	}
}

// autoscaled lets an autoscaler decide about a group, which has so many machines
// now; the file asks for another count.
func autoscaled(name string, now, asked int) func(*plan.Input) {
	return func(in *plan.Input) {
		if p, exists := in.Start.WorkerNodeGroups[name]; exists {
			p.Machines, p.Fresh = now, now-p.Outdated
			in.Start.WorkerNodeGroups[name] = p
		}
		for i, group := range in.Target.WorkerNodeGroups {
			if group.Name == name {
				in.Target.WorkerNodeGroups[i].Machines, in.Target.WorkerNodeGroups[i].Autoscaled = asked, true
			}
		}
	}
}

// TestTemplatesTogether: the plan says how many groups get other machines at the same time,
// where that is not all of them, or not for the policy of the cluster to say.
func TestTemplatesTogether(t *testing.T) {
	t.Parallel()
	const reason = "same version; machines are replaced for these changes"
	reasons := func(p plan.Plan) []string {
		lines := []string{}
		for _, step := range p.Steps {
			names := []string{}
			for _, group := range step.WorkerNodeGroups {
				names = append(names, group.Name)
			}
			lines = append(lines, strings.Join(names, " ")+": "+step.Reason)
		}
		return lines
	}
	three := func(more ...func(*plan.Input)) plan.Input {
		in := input("1.31", "1.31", "a 1.31 1.31", "b 1.31 1.31", "c 1.31 1.31")
		return with(in, append(more, changed("a", "x", ""), changed("b", "x", ""), changed("c", "x", ""))...)
	}
	most := func(count int) func(*plan.Input) { return func(in *plan.Input) { in.Concurrency = count } }
	outside := func(names ...string) func(*plan.Input) {
		return func(in *plan.Input) {
			for _, name := range names {
				part := in.Start.WorkerNodeGroups[name]
				part.Detached = true
				in.Start.WorkerNodeGroups[name] = part
			}
			for i, group := range in.Target.WorkerNodeGroups {
				in.Target.WorkerNodeGroups[i].Pinned = slices.Contains(names, group.Name)
			}
		}
	}
	testPossible(t, reasons, map[string]possible{
		"one at a time":    {three(), []string{"a b c: " + reason + "; one group after the other"}},
		"two":              {three(most(2)), []string{"a b c: " + reason + "; at most 2 groups at the same time"}},
		"all":              {three(most(3)), []string{"a b c: " + reason}},
		"one group":        {with(input("1.31", "1.31", "a 1.31 1.31", "b 1.31 1.31"), changed("a", "x", "")), []string{"a: " + reason}},
		"with a class":     {three(chain()), []string{"a b c: " + reason + "; Cluster API starts all of these groups at the same time"}},
		"outside of it":    {three(chain(), outside("b", "c")), []string{"b c: " + reason + "; one group after the other", "a: " + reason}},
		"outside, and two": {three(chain(), outside("b", "c"), most(2)), []string{"b c: " + reason, "a: " + reason}},
	})
}

func TestCounts(t *testing.T) {
	t.Parallel()
	testPossible(t, long, map[string]possible{
		"a group grows": {with(input("1.31", "1.31", "a 1.31 1.31", "b 1.31 1.31"), counts("a", 5)), []string{
			"InPlace (beside): a -->- adds 2", "all: control plane +0 -0 ~0, workers +2 -0 ~0",
		}},
		"a group shrinks": {with(input("1.31", "1.31", "a 1.31 1.31", "b 1.31 1.31"), counts("b", 1)), []string{
			"InPlace (beside): b -->- removes 2", "all: control plane +0 -0 ~0, workers +0 -2 ~0",
		}},
		"groups grow at once, and the new count is replaced": {with(input("1.31", "1.32", "a 1.31 1.32", "b 1.31 1.31"), counts("a", 5), counts("b", 0)), []string{
			"InPlace (beside): a -->- adds 2; b -->- removes 3",
			"ControlPlane: 1.31->1.32 replaces 3",
			"Workers: a 1.31->1.32 replaces 5",
			"all: control plane +0 -0 ~3, workers +2 -3 ~5",
		}},
		"the control plane grows": {with(input("1.31", "1.31", "a 1.31 1.31"), counts("", 5)), []string{
			"InPlace (beside): -->- adds 2", "all: control plane +2 -0 ~0, workers +0 -0 ~0",
		}},
		"the control plane shrinks": {with(input("1.31", "1.31"), counts("", 1)), []string{
			"InPlace (beside): -->- removes 2", "all: control plane +0 -2 ~0, workers +0 -0 ~0",
		}},
		"the control plane grows with its first step": {with(input("1.31", "1.33"), counts("", 5)), []string{
			"ControlPlane: 1.31->1.32 replaces 3 adds 2",
			"ControlPlane: 1.32->1.33 replaces 5",
			"all: control plane +2 -0 ~8, workers +0 -0 ~0",
		}},
		"the control plane shrinks with its first step": {with(input("1.31", "1.33"), counts("", 1)), []string{
			"ControlPlane: 1.31->1.32 replaces 1 removes 2",
			"ControlPlane: 1.32->1.33 replaces 1",
			"all: control plane +0 -2 ~2, workers +0 -0 ~0",
		}},
		"groups come and go": {with(input("1.31", "1.31", "a - 1.31", "b 1.31 -"), counts("a", 4)), []string{
			"CreateWorkers: a -->1.31 adds 4", "RemoveWorkers: b 1.31->- removes 3", "all: control plane +0 -0 ~0, workers +4 -3 ~0",
		}},
		"a group without machines": {with(input("1.31", "1.35", "a 1.31 1.35"), autoscaled("a", 0, 0), func(in *plan.Input) { in.Target.WorkerNodeGroups[0].Autoscaled = false }), []string{
			"ControlPlane: 1.31->1.32 replaces 3", "ControlPlane: 1.32->1.33 replaces 3", "ControlPlane: 1.33->1.34 replaces 3", "Workers: a 1.31->1.34",
			"ControlPlane: 1.34->1.35 replaces 3", "Workers: a 1.34->1.35", "all: control plane +0 -0 ~12, workers +0 -0 ~0",
		}},
	})
}

// TestAutoscaled: the machines of the moment count, and nothing scales them.
func TestAutoscaled(t *testing.T) {
	t.Parallel()
	testPossible(t, long, map[string]possible{
		"not scaled": {with(input("1.31", "1.31", "a 1.31 1.31"), autoscaled("a", 7, 3)), []string{"all: control plane +0 -0 ~0, workers +0 -0 ~0"}},
		"another version": {with(input("1.31", "1.32", "a 1.31 1.32", "b 1.31 1.32"), autoscaled("a", 7, 3)), []string{
			"ControlPlane: 1.31->1.32 replaces 3",
			"Workers: a 1.31->1.32 replaces 7 about; b 1.31->1.32 replaces 3",
			"all: control plane +0 -0 ~3, workers +0 -0 ~10",
		}},
		"under way": {with(input("1.32", "1.32", "a 1.32 1.32"), underWay("a", "1.31", 2, 1), autoscaled("a", 7, 3)), []string{
			"Workers (under way): a 1.31->1.32 replaces 2 about", "all: control plane +0 -0 ~0, workers +0 -0 ~2",
		}},
		"new": {with(input("1.31", "1.31", "a - 1.31"), autoscaled("a", 0, 2)), []string{
			"CreateWorkers: a -->1.31 adds 2 about", "all: control plane +0 -0 ~0, workers +2 -0 ~0",
		}},
		"other templates": {with(input("1.31", "1.31", "a 1.31 1.31"), autoscaled("a", 7, 3), changed("a", "labels", "")), []string{
			"Template (beside): a 1.31->1.31 replaces 7 about [labels]", "all: control plane +0 -0 ~0, workers +0 -0 ~7",
		}},
	})
}

// TestUnknownChanges: where changes cannot be computed, the machines of a part may be
// replaced, and the cluster as a whole gets a step.
func TestUnknownChanges(t *testing.T) {
	t.Parallel()
	unknown := func(names ...string) func(*plan.Input) {
		return func(in *plan.Input) {
			in.Changes = map[string]plan.Changes{}
			for _, name := range names {
				in.Changes[name] = plan.Changes{Unknown: &plan.Unknown{ClusterClass: "own", Reason: plan.ExternalPatches}}
			}
		}
	}
	testPossible(t, long, map[string]possible{
		"of the cluster": {with(input("1.31", "1.31", "a 1.31 1.31"), unknown("")), []string{
			"InPlace (beside): -->- [unknown for ExternalPatches]", "all: control plane +0 -0 ~0, workers +0 -0 ~0",
		}},
		"of the parts": {with(input("1.31", "1.31", "a 1.31 1.31"), unknown(controlPlaneName, "a")), []string{
			"Template (beside): a 1.31->1.31 replaces 3 [unknown for ExternalPatches]", "Template: 1.31->1.31 replaces 3 [unknown for ExternalPatches]",
			"all: control plane +0 -0 ~3, workers +0 -0 ~3",
		}},
		"of a group, with its version": {with(input("1.31", "1.32", "a 1.31 1.32"), unknown("a")), []string{
			"ControlPlane: 1.31->1.32 replaces 3", "Workers: a 1.31->1.32 replaces 3 [unknown for ExternalPatches]",
			"all: control plane +0 -0 ~3, workers +0 -0 ~3",
		}},
	})
}

// TestChanges: those besides versions.
func TestChanges(t *testing.T) {
	t.Parallel()
	testPossible(t, long, map[string]possible{
		"of a group, in place": {with(input("1.31", "1.31", "a 1.31 1.31"), changed("a", "", "taints")), []string{
			"InPlace (beside): a -->- [taints]", "all: control plane +0 -0 ~0, workers +0 -0 ~0",
		}},
		"of a group, rolling": {with(input("1.31", "1.31", "a 1.31 1.31", "b 1.31 1.31"), changed("a", "labels files", "")), []string{
			"Template (beside): a 1.31->1.31 replaces 3 [labels files]", "all: control plane +0 -0 ~0, workers +0 -0 ~3",
		}},
		"of a group that stays, beside the steps of others": {with(input("1.31", "1.32", "a 1.31 1.31", "b 1.31 1.32"), changed("a", "labels", "taints"), counts("a", 4)), []string{
			"InPlace (beside): a -->- adds 1 [taints]",
			"Template (beside): a 1.31->1.31 replaces 4 [labels]",
			"ControlPlane: 1.31->1.32 replaces 3",
			"Workers: b 1.31->1.32 replaces 3",
			"all: control plane +0 -0 ~3, workers +1 -0 ~7",
		}},
		"of a group, with its first version": {with(input("1.31", "1.35", "a 1.31 1.35"), changed("a", "labels", "taints")), []string{
			"InPlace (beside): a -->- [taints]",
			"ControlPlane: 1.31->1.32 replaces 3", "ControlPlane: 1.32->1.33 replaces 3", "ControlPlane: 1.33->1.34 replaces 3",
			"Workers: a 1.31->1.34 replaces 3 [labels]",
			"ControlPlane: 1.34->1.35 replaces 3",
			"Workers: a 1.34->1.35 replaces 3",
			"all: control plane +0 -0 ~12, workers +0 -0 ~6",
		}},
		"of a group, after its rollout; of another one at once": {with(input("1.31", "1.31", "a 1.31 1.31", "b 1.31 1.31"), changed("a", "labels", ""), changed("b", "files", ""), underWay("a", "1.30", 2, 1)), []string{
			"Template (beside): b 1.31->1.31 replaces 3 [files]",
			"Workers (under way): a 1.30->1.31 replaces 2",
			"Template: a 1.31->1.31 replaces 3 [labels]",
			"all: control plane +0 -0 ~0, workers +0 -0 ~8",
		}},
		"of the control plane, in place": {with(input("1.31", "1.31", "a 1.31 1.31"), changed(controlPlaneName, "", "timeouts")), []string{
			"InPlace (beside): -->- [timeouts]", "all: control plane +0 -0 ~0, workers +0 -0 ~0",
		}},
		"of the control plane, rolling, before what waits for it": {with(input("1.31", "1.31", "a 1.30 1.31"), changed(controlPlaneName, "audit", "timeouts"), counts("", 5)), []string{
			"Template: 1.31->1.31 replaces 3 adds 2 [audit timeouts]",
			"Workers: a 1.30->1.31 replaces 3",
			"all: control plane +2 -0 ~3, workers +0 -0 ~3",
		}},
		"of the control plane, with its first version": {with(input("1.31", "1.33"), changed(controlPlaneName, "audit", "timeouts")), []string{
			"ControlPlane: 1.31->1.32 replaces 3 [audit timeouts]",
			"ControlPlane: 1.32->1.33 replaces 3",
			"all: control plane +0 -0 ~6, workers +0 -0 ~0",
		}},
		"of the control plane, after its rollout": {with(input("1.32", "1.32"), changed(controlPlaneName, "audit", ""), underWay("", "1.31", 2, 1)), []string{
			"ControlPlane (under way): 1.31->1.32 replaces 2",
			"Template: 1.32->1.32 replaces 3 [audit]",
			"all: control plane +0 -0 ~5, workers +0 -0 ~0",
		}},
		"of the cluster": {with(input("1.31", "1.32"), changed("", "", "endpoint"), changed(controlPlaneName, "", "timeouts")), []string{
			"InPlace (beside): -->- [endpoint]",
			"ControlPlane: 1.31->1.32 replaces 3 [timeouts]",
			"all: control plane +0 -0 ~3, workers +0 -0 ~0",
		}},
		"of the cluster and of a control plane that stays": {with(input("1.31", "1.31"), changed("", "", "endpoint"), changed(controlPlaneName, "", "timeouts"), counts("", 1)), []string{
			"InPlace (beside): -->- removes 2 [endpoint timeouts]", "all: control plane +0 -2 ~0, workers +0 -0 ~0",
		}},
		"of groups that are not there": {with(input("1.31", "1.31", "a - 1.31", "b 1.31 -"), changed("a", "labels", "taints"), changed("b", "labels", "taints")), []string{
			"CreateWorkers: a -->1.31 adds 3", "RemoveWorkers: b 1.31->- removes 3", "all: control plane +0 -0 ~0, workers +3 -3 ~0",
		}},
	})
}

// TestScaleByOne: one machine more or less is a change.
func TestScaleByOne(t *testing.T) {
	t.Parallel()
	testPossible(t, long, map[string]possible{
		"control plane": {with(input("1.31", "1.31"), counts("", 4)), []string{"InPlace (beside): -->- adds 1", "all: control plane +1 -0 ~0, workers +0 -0 ~0"}},
		"a group":       {with(input("1.31", "1.31", "a 1.31 1.31"), counts("a", 2)), []string{"InPlace (beside): a -->- removes 1", "all: control plane +0 -0 ~0, workers +0 -1 ~0"}},
	})
}
