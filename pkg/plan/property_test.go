package plan_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

type release = v1alpha1.Version

const controlPlaneName = v1alpha1.ControlPlaneName

// TestRandom compares plans for random clusters with a brute force, takes their
// steps one by one, and goes on from each of them, and from the middle of each.
func TestRandom(t *testing.T) {
	t.Parallel()
	const shards, cases = 4, 2500
	var possible, steps, hopping atomic.Int64
	t.Run("shards", func(t *testing.T) {
		for shard := range shards {
			t.Run(fmt.Sprint(shard), func(t *testing.T) {
				t.Parallel()
				for i := range cases {
					r := rand.New(rand.NewPCG(uint64(shard), uint64(i)))
					in := randomInput(r)
					counts := r.IntN(5) == 0
					if counts {
						in = scaled(r, in)
					}
					got, wrong := random(r, in)
					if got.Kind != "" && len(wrong) == 0 && !counts {
						wrong = goesOnInside(r, in, got)
					}
					if len(wrong) > 0 {
						t.Fatalf("case %d:\n%s\n%s\n%s", i, describe(in), strings.Join(short(got), "\n"), strings.Join(wrong, "\n"))
					}
					if got.Kind != "" {
						possible.Add(1)
						steps.Add(int64(len(got.Steps)))
					}
					if slices.ContainsFunc(got.Steps, func(s plan.Step) bool { return s.Kind == plan.Workers && strings.HasPrefix(s.Reason, "before") }) {
						hopping.Add(1)
					}
				}
			})
		}
	})
	t.Logf("%d cases: %d possible, %d steps, %d with forced hops", shards*cases, possible.Load(), steps.Load(), hopping.Load())
	if possible.Load() < shards*cases/2 || hopping.Load() < shards*cases/5 {
		t.Errorf("the cases say little: %d of %d are possible, %d with forced hops", possible.Load(), shards*cases, hopping.Load())
	}
}

// difference is what cmp.Diff says, told quickly where there is none.
func difference(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got, cmp.AllowUnexported(best{}), cmp.Comparer(func(a, b release) bool { return a == b }))
}

// random returns the plan of an input, and all that is wrong with it.
func random(r *rand.Rand, in plan.Input) (plan.Plan, []string) {
	want, possible := bruteForce(in)
	got, err := plan.Compute(in)
	again, errAgain := plan.Compute(shuffled(r, in))
	if diff := difference(got, again); diff != "" || fmt.Sprint(err) != fmt.Sprint(errAgain) {
		return got, []string{"not the same when put together in another order: " + diff, fmt.Sprint(err), fmt.Sprint(errAgain)}
	}
	if err != nil {
		var impossible *plan.NoPlanError
		switch {
		case !errors.As(err, &impossible) || len(impossible.Reasons) == 0 || strings.Contains(err.Error(), "<nil>"):
			return got, []string{fmt.Sprintf("the error is %T: %v", err, err)}
		case possible:
			return got, []string{"there is a plan, and the error is " + err.Error()}
		}
		return got, nil
	}
	if !possible {
		return got, []string{"there is no plan that is legal"}
	}
	found, err := bestOf(in, got)
	if err != nil {
		return got, []string{err.Error()}
	}
	wrong := problems(in, got)
	if diff := difference(want, found); diff != "" {
		wrong = append(wrong, "not the best plan (-best +got):", diff)
	}
	if diff := difference(got.To, got.Versions(len(got.Steps))); diff != "" {
		wrong = append(wrong, "the versions of its end are not the target (-target +got):", diff)
	}
	return got, append(wrong, goesOn(in, got)...)
}

// goesOn compares what is left of a plan after each step with the plan from
// there.
func goesOn(in plan.Input, p plan.Plan) []string {
	lines := short(p)
	first := 1
	for first < len(p.Steps) && p.Steps[first].Concurrent {
		first++ // those that are begun at once are begun together
	}
	for count := first; count <= len(p.Steps); count++ {
		rest, err := plan.Compute(after(in, p, count))
		if err != nil {
			return []string{fmt.Sprintf("after step %d: %v", count, err)}
		}
		if diff := difference(lines[count:], short(rest)); diff != "" {
			return []string{fmt.Sprintf("the plan after step %d (-what was left +got):", count), diff}
		}
	}
	return nil
}

// goesOnInside does it in the middle of each step.
func goesOnInside(r *rand.Rand, in plan.Input, p plan.Plan) []string {
	for i, step := range p.Steps {
		middle, left := inside(r, after(in, p, i), step)
		if left.ControlPlane+left.Workers == 0 {
			continue
		}
		for _, later := range p.Steps[i+1:] {
			left.ControlPlane += later.MachinesReplaced
			for _, group := range later.WorkerNodeGroups {
				left.Workers += group.MachinesReplaced
			}
		}
		rest, err := plan.Compute(middle)
		wrong := func(reasons ...string) []string {
			return append([]string{fmt.Sprintf("in the middle of step %d, %s%s", i+1, describe(middle), strings.Join(short(rest), "\n"))}, reasons...)
		}
		if err != nil {
			return wrong(err.Error())
		}
		if broken := problems(middle, rest); len(broken) > 0 {
			return wrong(broken...)
		}
		first := plan.Step{Kind: step.Kind, UnderWay: true, Reason: "under way already"}
		if len(step.WorkerNodeGroups) == 0 {
			first.From, first.To, first.MachinesReplaced = step.From, step.To, middle.Start.ControlPlane.Outdated
		}
		for _, group := range step.WorkerNodeGroups {
			if outdated := middle.Start.WorkerNodeGroups[group.Name].Outdated; outdated > 0 {
				first.WorkerNodeGroups = append(first.WorkerNodeGroups, plan.Group{Name: group.Name, From: group.From, To: group.To, MachinesReplaced: outdated})
			}
		}
		if diff := difference(first, rest.Steps[0]); diff != "" {
			return wrong("the first step (-want +got):", diff)
		}
		if diff := difference(left, rest.MachinesReplaced); diff != "" {
			return wrong("machines to replace (-what was left +got):", diff)
		}
	}
	return nil
}

// inside is the input when the step is half done, and how many of its machines
// are left to do. Some of its groups are done, some have not begun.
func inside(r *rand.Rand, in plan.Input, step plan.Step) (plan.Input, plan.Machines) {
	var left plan.Machines
	if step.UnderWay || step.Kind != plan.ControlPlane && step.Kind != plan.Workers {
		return in, left
	}
	half := func(p plan.Part, to release) plan.Part {
		p.Outdated = 1 + r.IntN(p.Machines)
		p.Version, p.Fresh = to, p.Machines-p.Outdated
		return p
	}
	if step.Kind == plan.ControlPlane {
		in.Start.ControlPlane = half(in.Start.ControlPlane, step.To)
		return in, plan.Machines{ControlPlane: in.Start.ControlPlane.Outdated}
	}
	half1 := r.IntN(len(step.WorkerNodeGroups))
	begun := false
	for i, group := range step.WorkerNodeGroups {
		start := in.Start.WorkerNodeGroups[group.Name]
		switch state := r.IntN(3); {
		case group.To.Before(group.From):
			return in, plan.Machines{}
		case start.Machines > 0 && (i == half1 || state == 0):
			start, begun = half(start, group.To), true
			left.Workers += start.Outdated
		case state == 1:
			start = part(group.To, start.Machines)
		default:
			left.Workers += start.Machines
		}
		in.Start.WorkerNodeGroups[group.Name] = start
	}
	if !begun {
		return in, plan.Machines{}
	}
	return in, left
}
