package view_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// at is a version; empty is none.
func at(text string) v1alpha1.Version {
	if text == "" {
		return v1alpha1.Version{}
	}
	return v1alpha1.MustParseVersion(text)
}

// aPlan has steps, with the machines of all of them.
func aPlan(steps ...plan.Step) plan.Plan {
	p := plan.Plan{Metadata: plan.Metadata{Name: "prod", Namespace: "team"}, Steps: steps}
	for _, step := range steps {
		p.MachinesReplaced.ControlPlane += step.MachinesReplaced
		p.MachinesAdded.ControlPlane += step.MachinesAdded
		p.MachinesRemoved.ControlPlane += step.MachinesRemoved
		for _, group := range step.WorkerNodeGroups {
			p.MachinesReplaced.Workers += group.MachinesReplaced
			p.MachinesAdded.Workers += group.MachinesAdded
			p.MachinesRemoved.Workers += group.MachinesRemoved
		}
	}
	return p
}

func groupStep(kind plan.Kind, groups ...plan.Group) plan.Step {
	return plan.Step{Kind: kind, WorkerNodeGroups: groups, Reason: "because"}
}

// TestPlan: each kind of step, in columns, with its reason and its fields.
func TestPlan(t *testing.T) {
	t.Parallel()
	manyFields := func(count int) plan.Changes {
		var c plan.Changes
		for i := range count {
			c.Fields = append(c.Fields, changes.Change{
				Object: "KubeadmControlPlane/prod", Path: fmt.Sprintf("spec.field%d", i), Action: changes.Changed, Old: "0", New: "1", ReplacesMachines: true,
			})
		}
		return c
	}
	shown := func(count int) (lines string) {
		for i := range count {
			lines += fmt.Sprintf("      spec.field%d: 0 -> 1\n", i)
		}
		return lines
	}
	tests := map[string]struct {
		plan plan.Plan
		want string
	}{
		"nothing to do":                      {aPlan(), "cluster team/prod matches the file; nothing to do\n"},
		"nothing to do, without a namespace": {plan.Plan{Metadata: plan.Metadata{Name: "prod"}}, "cluster prod matches the file; nothing to do\n"},
		"nothing to do, with something to know": {
			plan.Plan{Metadata: plan.Metadata{Name: "prod"}, Notes: []string{"md-0 is pinned"}},
			"cluster prod matches the file; nothing to do\nNote: md-0 is pinned.\n",
		},
		"ControlPlane": {aPlan(plan.Step{Kind: plan.ControlPlane, From: at("v1.33.3"), To: at("v1.34.2"), MachinesReplaced: 3, Reason: "because"}), `Plan for cluster team/prod, 1 step:
 1. control plane  v1.33.3 -> v1.34.2  3 machines replaced
      because
In all: 3 control plane machines replaced.
`},
		"ControlPlane, under way": {aPlan(plan.Step{Kind: plan.ControlPlane, From: at("v1.33.3"), To: at("v1.34.2"), MachinesReplaced: 1, UnderWay: true, Reason: "because"}), `Plan for cluster team/prod, 1 step:
 1. control plane  v1.33.3 -> v1.34.2  1 machine still to be replaced
      because
In all: 1 control plane machine replaced.
`},
		"ControlPlane, with fields and a count": {
			aPlan(plan.Step{Kind: plan.ControlPlane, From: at("v1.33.3"), To: at("v1.34.2"), MachinesReplaced: 1, MachinesAdded: 2, Changes: manyFields(2), Reason: "because"}),
			`Plan for cluster team/prod, 1 step:
 1. control plane  v1.33.3 -> v1.34.2  1 machine replaced, 2 machines added
      because
` + shown(2) + `In all: 1 control plane machine replaced; 2 control plane machines added.
`,
		},
		"Workers": {aPlan(groupStep(plan.Workers,
			plan.Group{Name: "md-0", From: at("v1.33.3"), To: at("v1.34.2"), MachinesReplaced: 1},
			plan.Group{Name: "a-long-name", From: at("v1.31.14"), To: at("v1.33.3"), MachinesReplaced: 12, Approximate: true})), `Plan for cluster team/prod, 1 step:
 1. md-0         v1.33.3 -> v1.34.2   1 machine replaced
    a-long-name  v1.31.14 -> v1.33.3  12 machines replaced (now; an autoscaler decides)
      because
In all: 13 worker machines replaced.
`},
		"Workers, one goes back": {aPlan(groupStep(plan.Workers, plan.Group{Name: "md-0", From: at("v1.34.2"), To: at("v1.33.3")})), `Plan for cluster team/prod, 1 step:
 1. md-0  v1.34.2 -> v1.33.3  no machine replaced
      because
In all: no machine is replaced, added or removed.
`},
		"CreateWorkers": {aPlan(groupStep(plan.CreateWorkers, plan.Group{Name: "md-0", To: at("v1.34.2"), MachinesAdded: 3}, plan.Group{Name: "md-1", To: at("v1.33.3")})), `Plan for cluster team/prod, 1 step:
 1. md-0  new at v1.34.2  3 machines added
    md-1  new at v1.33.3  no machine replaced
      because
In all: 3 worker machines added.
`},
		"RemoveWorkers": {aPlan(groupStep(plan.RemoveWorkers, plan.Group{Name: "md-0", From: at("v1.34.2"), MachinesRemoved: 1})), `Plan for cluster team/prod, 1 step:
 1. md-0  removed  1 machine removed
      because
In all: 1 worker machine removed.
Worker node groups removed with all their machines: md-0 (1 machine).
`},
		"Detach, and what it means": {
			func() plan.Plan {
				p := aPlan(groupStep(plan.Detach, plan.Group{Name: "md-0", From: at("v1.34.2"), To: at("v1.34.2")}), groupStep(plan.Return, plan.Group{Name: "md-1", From: at("v1.34.2"), To: at("v1.34.2")}))
				p.Notes = []string{"md-0 is pinned"}
				return p
			}(), `Plan for cluster team/prod, 2 steps:
 1. md-0  detached at v1.34.2  no machine replaced
      because
 2. md-1  returned at v1.34.2  no machine replaced
      because
In all: no machine is replaced, added or removed.
Note: md-0 is pinned.
`,
		},
		"Template of the control plane": {aPlan(plan.Step{Kind: plan.Template, From: at("v1.34.2"), To: at("v1.34.2"), MachinesReplaced: 3, Changes: manyFields(1), Reason: "because"}), `Plan for cluster team/prod, 1 step:
 1. control plane  stays at v1.34.2  3 machines replaced
      because
` + shown(1) + `In all: 3 control plane machines replaced.
`},
		"Template of groups, at once": {
			aPlan(plan.Step{Kind: plan.Template, Concurrent: true, Reason: "because", WorkerNodeGroups: []plan.Group{
				{Name: "md-0", From: at("v1.34.2"), To: at("v1.34.2"), MachinesReplaced: 3, Changes: manyFields(2)}, {Name: "md-1", From: at("v1.33.3"), To: at("v1.33.3"), MachinesReplaced: 1, Changes: manyFields(1)},
			}}),
			`Plan for cluster team/prod, 1 step:
 1. md-0  stays at v1.34.2  3 machines replaced
    md-1  stays at v1.33.3  1 machine replaced
      because; started at once, concurrent with the other steps
      md-0: spec.field0: 0 -> 1
      md-0: spec.field1: 0 -> 1
      md-1: spec.field0: 0 -> 1
In all: 4 worker machines replaced.
`,
		},
		"InPlace of the cluster": {aPlan(plan.Step{Kind: plan.InPlace, Concurrent: true, Changes: manyFields(1), Reason: "because"}), `Plan for cluster team/prod, 1 step:
 1. cluster  changed in place  no machine replaced
      because; started at once, concurrent with the other steps
` + shown(1) + `In all: no machine is replaced, added or removed.
`},
		"InPlace of the control plane's count": {aPlan(plan.Step{Kind: plan.InPlace, Concurrent: true, MachinesRemoved: 2, Reason: "because"}), `Plan for cluster team/prod, 1 step:
 1. control plane  scaled  2 machines removed
      because; started at once, concurrent with the other steps
In all: 2 control plane machines removed.
`},
		"InPlace of groups": {aPlan(groupStep(plan.InPlace, plan.Group{Name: "md-0", MachinesAdded: 2}, plan.Group{Name: "md-1", MachinesRemoved: 1, Changes: manyFields(1)}, plan.Group{Name: "md-2", Changes: manyFields(1)})), `Plan for cluster team/prod, 1 step:
 1. md-0  scaled            2 machines added
    md-1  changed in place  1 machine removed
    md-2  changed in place  no machine replaced
      because
      md-1: spec.field0: 0 -> 1
      md-2: spec.field0: 0 -> 1
In all: 2 worker machines added; 1 worker machine removed.
`},
		"as many fields as are shown": {aPlan(plan.Step{Kind: plan.InPlace, Changes: manyFields(10), Reason: "because"}), `Plan for cluster team/prod, 1 step:
 1. cluster  changed in place  no machine replaced
      because
` + shown(10) + `In all: no machine is replaced, added or removed.
`},
		"one field more": {aPlan(plan.Step{Kind: plan.InPlace, Changes: manyFields(11), Reason: "because"}), `Plan for cluster team/prod, 1 step:
 1. cluster  changed in place  no machine replaced
      because
` + shown(10) + `      and 1 more; -o json has all of them
In all: no machine is replaced, added or removed.
`},
		"changes of each sort": {
			aPlan(
				plan.Step{Kind: plan.InPlace, Reason: "because", Changes: plan.Changes{Fields: []changes.Change{
					{Object: "Cluster/prod", Path: "metadata.labels.a", Action: changes.Added, New: `"b"`}, {Object: "Cluster/prod", Path: "spec.a", Action: changes.Removed, Old: "true"},
					{Object: "MachineHealthCheck/prod", Action: changes.Added}, {Object: "ClusterResourceSet/prod-a", Action: changes.Removed}, {Object: "DevMachineTemplate/prod", Action: changes.Restored},
					{Object: "Secret/prod", Path: "data.a", Action: changes.Changed, Sensitive: true},
				}, Unknown: &plan.Unknown{ClusterClass: "own", Reason: plan.ExternalPatches}}},
				groupStep(plan.Workers, plan.Group{Name: "md-0", From: at("v1.34.2"), To: at("v1.33.3"), MachinesReplaced: 1, Changes: plan.Changes{
					Fields:    []changes.Change{{Object: "MachineDeployment/prod-md-0", Template: "DevMachineTemplate", Path: "spec.a", Action: changes.Changed, Old: "1", New: "2", ReplacesMachines: true}},
					Templates: &plan.TemplateChange{Old: []string{"a", "b"}, New: []string{"a", "c"}},
				}}, plan.Group{Name: "md-1", From: at("v1.34.2"), To: at("v1.33.3"), MachinesReplaced: 1, Changes: plan.Changes{
					Templates: &plan.TemplateChange{New: []string{"a", "c"}},
				}}),
				groupStep(plan.InPlace, plan.Group{Name: "md-0", Changes: plan.Changes{Unknown: &plan.Unknown{ClusterClass: "own", Reason: plan.NothingGenerated, Message: "no such variable"}}}),
			),
			`Plan for cluster team/prod, 3 steps:
 1. cluster  changed in place    no machine replaced
      because
      Cluster/prod metadata.labels.a: b (added)
      Cluster/prod spec.a: true (removed)
      MachineHealthCheck/prod (created)
      ClusterResourceSet/prod-a (deleted)
      DevMachineTemplate/prod (created again: it is missing, so that no new machine can be made)
      Secret/prod data.a: (sensitive value)
      ClusterClass own has patches from runtime extensions: it is not known in advance which machines are replaced by changes other than the version
 2. md-0     v1.34.2 -> v1.33.3  1 machine replaced
    md-1     v1.34.2 -> v1.33.3  1 machine replaced
      because
      md-0: DevMachineTemplate spec.a: 1 -> 2
      md-0: templates of the machines: a, b -> a, c
      md-1: templates of the machines: not known -> a, c
 3. md-0     changed in place    no machine replaced
      because
      md-0: Cluster API cannot generate the current cluster from ClusterClass own (no such variable): it is not known in advance which machines are replaced by changes other than the version
In all: 2 worker machines replaced.
`,
		},
		"several steps, in the same columns": {
			aPlan(
				plan.Step{Kind: plan.ControlPlane, From: at("v1.33.3"), To: at("v1.34.2"), MachinesReplaced: 3, Reason: "first"},
				groupStep(plan.Workers, plan.Group{Name: "md-0", From: at("v1.31.14"), To: at("v1.34.2"), MachinesReplaced: 2}),
				groupStep(plan.CreateWorkers, plan.Group{Name: "the-newest-group", To: at("v1.34.2"), MachinesAdded: 1}),
				groupStep(plan.RemoveWorkers, plan.Group{Name: "old", From: at("v1.33.3"), MachinesRemoved: 4}),
			),
			`Plan for cluster team/prod, 4 steps:
 1. control plane     v1.33.3 -> v1.34.2   3 machines replaced
      first
 2. md-0              v1.31.14 -> v1.34.2  2 machines replaced
      because
 3. the-newest-group  new at v1.34.2       1 machine added
      because
 4. old               removed              4 machines removed
      because
In all: 3 control plane machines and 2 worker machines replaced; 1 worker machine added; 4 worker machines removed.
Worker node groups removed with all their machines: old (4 machines).
`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inColor := strings.Builder{}
			for line := range strings.Lines(test.want) {
				if strings.HasSuffix(line, " removed\n") && strings.Contains(line, " removed ") || strings.HasPrefix(line, "Worker node groups removed") {
					line = "\x1b[31m" + strings.TrimSuffix(line, "\n") + "\x1b[0m\n"
				}
				inColor.WriteString(line)
			}
			for color, want := range map[bool]string{false: test.want, true: inColor.String()} {
				var got strings.Builder
				if err := (view.Style{Color: color}).Plan(&got, test.plan); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got.String()); diff != "" {
					t.Errorf("plan (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestPlanNumbersManySteps: numbers stand below each other, and no plan is
// changed by being shown.
func TestPlanNumbersManySteps(t *testing.T) {
	t.Parallel()
	changed := plan.Changes{Fields: []changes.Change{{Object: "MachineDeployment/a", Path: "spec.a", Action: changes.Removed, ReplacesMachines: true}}}
	before := slices.Clone(changed.Fields)
	var steps []plan.Step
	for range 100 {
		steps = append(steps, groupStep(plan.RemoveWorkers, plan.Group{Name: "a", Changes: changed}))
	}
	p := aPlan(steps...)
	var got strings.Builder
	if err := (view.Style{}).Plan(&got, p); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{" 9. a  removed  no machine replaced", "10. a  removed  no machine replaced", "100. a  removed  no machine replaced"} {
		if !strings.Contains(got.String(), "\n"+line+"\n") {
			t.Errorf("no line %q", line)
		}
	}
	if diff := cmp.Diff(before, changed.Fields); diff != "" {
		t.Errorf("the plan was changed (-want +got):\n%s", diff)
	}
}

// TestPlanIsNotWritten tells of it.
func TestPlanIsNotWritten(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]plan.Plan{"empty": aPlan(), "a step": aPlan(plan.Step{Kind: plan.InPlace})} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := (view.Style{}).Plan(full{}, p); !errors.Is(err, errFull) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
