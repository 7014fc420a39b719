package plan_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

func version(text string) v1alpha1.Version {
	if strings.Count(text, ".") == 1 {
		text += ".0"
	}
	return v1alpha1.MustParseVersion(text)
}

// releases are the first patch of each minor from 1.20 to 1.40.
func releases() []v1alpha1.Version {
	var all []v1alpha1.Version
	for minor := 20; minor <= 40; minor++ {
		all = append(all, version(fmt.Sprintf("1.%d", minor)))
	}
	return all
}

// input is a cluster with three control plane machines that goes from one
// version to another; a group is "name from to", with three machines. "-" is a
// group that is not there.
func input(from, to string, groups ...string) plan.Input {
	in := plan.Input{
		Start:    plan.Start{ControlPlane: part(version(from), 3), WorkerNodeGroups: map[string]plan.Part{}},
		Target:   plan.Target{ControlPlane: version(to), ControlPlaneMachines: 3},
		Releases: releases(),
	}
	for _, group := range groups {
		fields := strings.Fields(group)
		if fields[1] != "-" {
			in.Start.WorkerNodeGroups[fields[0]] = part(version(fields[1]), 3)
		}
		if fields[2] != "-" {
			in.Target.WorkerNodeGroups = append(in.Target.WorkerNodeGroups, plan.TargetGroup{Name: fields[0], Version: version(fields[2]), Machines: 3, Pinned: fields[2] != to})
		}
	}
	return in
}

func part(v v1alpha1.Version, machines int) plan.Part {
	return plan.Part{Version: v, Oldest: v, Machines: machines, Fresh: machines}
}

// with changes an input.
func with(in plan.Input, changes ...func(*plan.Input)) plan.Input {
	for _, change := range changes {
		change(&in)
	}
	return in
}

// underWay lets a part have machines that are still to be replaced; of its three
// machines so many are ready as specified. Without a name it is the control plane.
func underWay(name, oldest string, outdated, fresh int) func(*plan.Input) {
	return func(in *plan.Input) {
		if name == "" {
			in.Start.ControlPlane.Oldest, in.Start.ControlPlane.Outdated, in.Start.ControlPlane.Fresh = version(oldest), outdated, fresh
			return
		}
		p := in.Start.WorkerNodeGroups[name]
		p.Oldest, p.Outdated, p.Fresh = version(oldest), outdated, fresh
		in.Start.WorkerNodeGroups[name] = p
	}
}

// maxLag tightens the policy.
func maxLag(minors uint64) func(*plan.Input) {
	return func(in *plan.Input) { in.Policy.MaxLag = minors }
}

// bundles are the releases that there are.
func bundles(releases ...string) func(*plan.Input) {
	return func(in *plan.Input) {
		in.Releases = nil
		for _, release := range releases {
			in.Releases = append(in.Releases, version(release))
		}
	}
}

// foreign machines are of others.
func foreign(object, at string) func(*plan.Input) {
	return func(in *plan.Input) {
		in.Start.Unmanaged = append(in.Start.Unmanaged, plan.Unmanaged{Object: object, Version: version(at)})
	}
}

// short writes each step in a line: "ControlPlane: 1.31->1.32" or
// "Workers: a 1.31->1.34, b ...".
func short(p plan.Plan) []string {
	lines := []string{}
	for _, step := range p.Steps {
		var line []string
		if len(step.WorkerNodeGroups) == 0 {
			line = append(line, move(step.From, step.To))
		}
		for _, group := range step.WorkerNodeGroups {
			line = append(line, group.Name+" "+move(group.From, group.To))
		}
		lines = append(lines, kind(step)+": "+strings.Join(line, ", "))
	}
	return lines
}

// kind of a step, and when it is begun.
func kind(step plan.Step) string {
	text := string(step.Kind)
	if step.Concurrent {
		text += " (beside)"
	}
	if step.UnderWay {
		text += " (under way)"
	}
	return text
}

// move writes versions, without a patch of 0; "-" is none.
func move(from, to v1alpha1.Version) string {
	minor := func(v v1alpha1.Version) string {
		if v.IsZero() {
			return "-"
		}
		return strings.TrimSuffix(strings.TrimPrefix(v.String(), "v"), ".0")
	}
	return minor(from) + "->" + minor(to)
}

// reasons writes each step's kind and why it is taken.
func reasons(p plan.Plan) []string {
	lines := []string{}
	for _, step := range p.Steps {
		lines = append(lines, kind(step)+": "+step.Reason)
	}
	return lines
}

// possible is an input and the steps of its plan, as short or another function
// writes them.
type possible struct {
	in   plan.Input
	want []string
}

func testPossible(t *testing.T, written func(plan.Plan) []string, tests map[string]possible) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := plan.Compute(test.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, written(got)); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			if wrong := problems(test.in, got); len(wrong) > 0 {
				t.Error(strings.Join(wrong, "\n"))
			}
		})
	}
}

// impossible is an input and why it has no plan.
type impossible struct {
	in   plan.Input
	want []string
}

func testImpossible(t *testing.T, tests map[string]impossible) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := plan.Compute(test.in)
			var because *plan.NoPlanError
			if !errors.As(err, &because) {
				t.Fatalf("the error is %v, and the plan\n%s", err, strings.Join(short(got), "\n"))
			}
			if diff := cmp.Diff(test.want, because.Reasons); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(strings.Join(test.want, "\n"), err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCompute is the examples of the design.
func TestCompute(t *testing.T) {
	t.Parallel()
	testPossible(t, short, map[string]possible{
		"nothing to do": {input("1.31", "1.31", "a 1.31 1.31", "b 1.29 1.29"), []string{}},
		"everything follows over four minors": {input("1.31", "1.35", "a 1.31 1.35", "b 1.31 1.35"), []string{
			"ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33", "ControlPlane: 1.33->1.34", "Workers: a 1.31->1.34, b 1.31->1.34", "ControlPlane: 1.34->1.35", "Workers: a 1.34->1.35, b 1.34->1.35",
		}},
		"a pin far behind, and moved": {input("1.31", "1.35", "a 1.28 1.33"), []string{
			"Workers: a 1.28->1.31", "ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33", "ControlPlane: 1.33->1.34", "Workers: a 1.31->1.33", "ControlPlane: 1.34->1.35",
		}},
		"one follows, two pins are moved": {input("1.31", "1.35", "a 1.31 1.35", "b 1.30 1.32", "c 1.31 1.34"), []string{
			"ControlPlane: 1.31->1.32", "ControlPlane: 1.32->1.33", "Workers: b 1.30->1.32", "ControlPlane: 1.33->1.34", "Workers: a 1.31->1.34, c 1.31->1.34", "ControlPlane: 1.34->1.35", "Workers: a 1.34->1.35",
		}},
	})
}
