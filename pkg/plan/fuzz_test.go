package plan_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// FuzzCompute: whatever the input, there is a plan that is legal and leaves
// nothing to do, or an *NoPlanError that says why not.
func FuzzCompute(f *testing.F) {
	for length := range 12 {
		seed := make([]byte, length*16)
		for i := range seed {
			seed[i] = byte(i * 37 * length)
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in := (&bytesReader{data}).input()
		before := describe(in)
		p, err := plan.Compute(in)
		if now := describe(in); now != before {
			t.Fatalf("the input was\n%s\nand is\n%s", before, now)
		}
		if err != nil {
			var because *plan.NoPlanError
			if !errors.As(err, &because) || len(because.Reasons) == 0 || slices.Contains(because.Reasons, "") || strings.Contains(err.Error(), "<nil>") {
				t.Fatalf("%T: %v\n%s", err, err, before)
			}
			return
		}
		rest, err := plan.Compute(after(in, p, len(p.Steps)))
		if err != nil || !rest.Empty() {
			t.Errorf("when the plan is done: %v, %v", short(rest), err)
		}
		// What a plan is not about stays; its target is the plan's.
		in.Target = plan.Target{ControlPlane: p.To.ControlPlane}
		for name, v := range p.To.WorkerNodeGroups {
			in.Target.WorkerNodeGroups = append(in.Target.WorkerNodeGroups, plan.TargetGroup{Name: name, Version: v})
		}
		if wrong := problems(in, p); len(wrong) > 0 {
			t.Error(strings.Join(wrong, "\n"))
		}
		if t.Failed() {
			t.Fatalf("%s\n%s", before, strings.Join(short(p), "\n"))
		}
	})
}

// bytesReader makes an input of bytes; there are zeros after the last one.
type bytesReader struct{ data []byte }

func (r *bytesReader) below(limit int) int {
	if len(r.data) == 0 {
		return 0
	}
	first := r.data[0]
	r.data = r.data[1:]
	return int(first) % limit
}

// version is near a minor.
func (r *bytesReader) version(near int) release {
	return version(fmt.Sprintf("1.%d.%d", near-4+r.below(12), r.below(3)))
}

func (r *bytesReader) part(near int) plan.Part {
	p := plan.Part{Version: r.version(near), Machines: r.below(5), Outdated: max(0, r.below(8)-4)}
	p.Oldest = p.Version
	if p.Outdated > 0 && r.below(2) > 0 {
		p.Oldest = r.version(near - 4)
	}
	if p.Version.Before(p.Oldest) {
		p.Version, p.Oldest = p.Oldest, p.Version
	}
	p.Fresh = r.below(p.Machines + 1)
	return p
}

func (r *bytesReader) changes() plan.Changes {
	fields := []string{"x", "y", "z"}
	return fieldsOf(fields[:r.below(3)], fields[r.below(3):])
}

func (r *bytesReader) input() plan.Input {
	near := 15 + r.below(30)
	in := plan.Input{
		Start:    plan.Start{ControlPlane: r.part(near), WorkerNodeGroups: map[string]plan.Part{}},
		Target:   plan.Target{ControlPlane: r.version(near + 5), ControlPlaneMachines: r.below(6)},
		Releases: releases(),
		Changes:  map[string]plan.Changes{"": r.changes(), controlPlaneName: r.changes()},
	}
	in.Policy.MaxLag = uint64(r.below(5))
	for range r.below(20) {
		in.Releases = append(in.Releases, r.version(near))
	}
	for i := range r.below(7) {
		name := string(rune('a' + i))
		kind := r.below(8)
		if kind > 0 {
			in.Start.WorkerNodeGroups[name] = r.part(near)
		}
		group := plan.TargetGroup{Name: name, Version: in.Target.ControlPlane, Machines: r.below(5), Autoscaled: r.below(4) == 3}
		if r.below(3) == 2 {
			group.Pinned, group.Version = true, r.version(near+3)
		}
		if kind < 7 {
			in.Target.WorkerNodeGroups = append(in.Target.WorkerNodeGroups, group)
		}
		if r.below(3) == 2 {
			in.Changes[name] = r.changes()
		}
		if r.below(10) == 9 {
			in.Scope.Groups = append(in.Scope.Groups, name)
		}
	}
	in.Scope.ControlPlaneOnly = r.below(8) == 7
	if r.below(8) == 7 {
		in.Start.Unmanaged = append(in.Start.Unmanaged, plan.Unmanaged{Object: "Machine/other", Version: r.version(near)})
	}
	return in
}

// BenchmarkCompute plans for 1,000 groups at versions of their own, half of them
// pinned, over five minors.
func BenchmarkCompute(b *testing.B) {
	in := plan.Input{Start: plan.Start{ControlPlane: part(version("1.31.4"), 5), WorkerNodeGroups: map[string]plan.Part{}}}
	in.Target.ControlPlane, in.Target.ControlPlaneMachines = version("1.36.2"), 5
	for minor := 28; minor <= 36; minor++ {
		for patch := range 5 {
			in.Releases = append(in.Releases, versionOf(minor*100+patch))
		}
	}
	for i := range 1000 {
		name := fmt.Sprintf("group-%d", i)
		group := plan.TargetGroup{Name: name, Version: in.Target.ControlPlane, Machines: i % 10}
		if i%2 == 0 {
			group.Pinned, group.Version = true, versionOf((33+i/2%4)*100+i/8%3)
		}
		in.Start.WorkerNodeGroups[name] = part(versionOf((28+i%4)*100+i/4%5), i%10)
		if group.Version.Before(in.Start.WorkerNodeGroups[name].Version) {
			b.Fatal(name)
		}
		in.Target.WorkerNodeGroups = append(in.Target.WorkerNodeGroups, group)
	}
	for b.Loop() {
		if p, err := plan.Compute(in); err != nil || len(p.Steps) < 6 {
			b.Fatal(err)
		}
	}
}

// BenchmarkComputeFar plans over 20 minors, for groups that want different stops.
func BenchmarkComputeFar(b *testing.B) {
	in := input("1.20", "1.40", "a 1.20 1.40", "b 1.19 1.39", "c 1.20 1.38")
	for b.Loop() {
		if _, err := plan.Compute(in); err != nil {
			b.Fatal(err)
		}
	}
}
