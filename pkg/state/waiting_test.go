package state_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

func since(hour int) time.Time { return time.Date(2026, 1, 2, hour, 0, 0, 0, time.UTC) }

// goes changes a machine to one that was told to go in that hour.
func goes(hour int) func(*state.Machine) {
	return func(m *state.Machine) {
		m.Phase, m.Deleting, m.Since, m.Reason = "Deleting", true, since(hour), "draining"
	}
}

// comes changes a machine to one that was made in that hour.
func comes(hour int) func(*state.Machine) {
	return func(m *state.Machine) {
		m.Phase, m.Ready, m.Since, m.Reason = "Provisioning", false, since(hour), "no image"
	}
}

// old changes a machine to one of the version before.
func old(m *state.Machine) { m.Version, m.Kubelet = version("v1.33.7"), version("v1.33.7") }

// sick changes a machine to an old one that is not well.
func sick(m *state.Machine) {
	old(m)
	m.Ready, m.Reason = false, "no answer"
}

// TestWaitingInARollout: three machines are wanted, and while one is replaced
// there are four. The one reason why nothing moves is told.
func TestWaitingInARollout(t *testing.T) {
	t.Parallel()
	const progress = "md-0: 0 of 3 machines ready at v1.34.2; "
	a, b, c := machine("a", old), machine("b", old), machine("c", old)
	machines := func(machines ...state.Machine) func(*state.Part) {
		return func(p *state.Part) { p.Machines = machines }
	}
	reason := func(p *state.Part) { p.Reason = "2 available replicas, at least 3 required" }
	blocked := func(p *state.Part) { p.Reason, p.Blocked = "MachineSet/x makes no machine: preflight", true }
	paused := func(p *state.Part) { p.Paused = true }
	tests := map[string]struct {
		changes []func(*state.Part)
		want    string
	}{
		"nothing has begun":                     {[]func(*state.Part){machines(a, b, c)}, progress + "machine a is Running at v1.33.7 and is to be replaced"},
		"an old machine that is not well":       {[]func(*state.Part){machines(a, machine("b", sick), c)}, progress + "machine b is Running at v1.33.7 and is to be replaced: no answer"},
		"what is not there":                     {[]func(*state.Part){machines(a, b, c), reason}, progress + "2 available replicas, at least 3 required"},
		"an old one not well, before the rest":  {[]func(*state.Part){machines(a, machine("b", sick), c), reason}, progress + "machine b is Running at v1.33.7 and is to be replaced: no answer"},
		"no machine is made":                    {[]func(*state.Part){machines(a, b, c), blocked}, progress + "MachineSet/x makes no machine: preflight"},
		"no machine is made, before a sick one": {[]func(*state.Part){machines(a, machine("b", sick), c), blocked}, progress + "MachineSet/x makes no machine: preflight"},
		"paused":                                {[]func(*state.Part){machines(a, b, c), paused}, progress + "MachineDeployment/md-0 is paused; Cluster API does nothing about it until it is not"},
		"paused, and no machine is made":        {[]func(*state.Part){machines(a, b, c), blocked, paused}, progress + "MachineDeployment/md-0 is paused; Cluster API does nothing about it until it is not"},
		"one comes":                             {[]func(*state.Part){machines(a, b, c, machine("d", comes(1)))}, progress + "machine d is Provisioning: no image"},
		"one comes, and no other one is made":   {[]func(*state.Part){machines(a, b, c, machine("d", comes(1))), blocked}, progress + "machine d is Provisioning: no image"},
		"one comes, while an old one is sick":   {[]func(*state.Part){machines(a, machine("b", sick), c, machine("d", comes(1)))}, progress + "machine d is Provisioning: no image"},
		"two come":                              {[]func(*state.Part){machines(a, machine("d", comes(2)), machine("e", comes(1)))}, progress + "machine e is Provisioning: no image"},
		"one goes": {
			[]func(*state.Part){machines(a, b, machine("c", func(m *state.Machine) { old(m); goes(1)(m) }), machine("d", as)), reason, blocked},
			"md-0: 1 of 3 machines ready at v1.34.2; machine c is Deleting: draining",
		},
		"one goes, and one comes": {[]func(*state.Part){machines(machine("d", comes(1)), machine("e", goes(2)))}, progress + "machine e is Deleting: draining"},
		"two go":                  {[]func(*state.Part){machines(machine("d", goes(2)), machine("e", goes(1)))}, progress + "machine e is Deleting: draining"},
		"one is ready, and the next has not begun": {
			[]func(*state.Part){machines(a, b, c, machine("d", as))}, "md-0: 1 of 3 machines ready at v1.34.2; machine a is Running at v1.33.7 and is to be replaced",
		},
		"of templates, nothing has begun": {
			[]func(*state.Part){machines(machine("d", as), machine("e", func(m *state.Machine) { m.Outdated = true }), machine("f", as))},
			"md-0: 2 of 3 machines ready at v1.34.2; machine e is Running and is to be replaced",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := part("md-0", func(p *state.Part) {
				p.Object, p.Replicas = "MachineDeployment/md-0", 3
				for _, change := range test.changes {
					change(p)
				}
			})
			if diff := cmp.Diff(test.want, p.Waiting()); diff != "" {
				t.Errorf("waiting (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRolloutOfAPart(t *testing.T) {
	t.Parallel()
	type seen struct {
		Ready     int
		ToReplace int
		Oldest    v1alpha1.Version
	}
	tests := map[string]struct {
		change func(*state.Part)
		want   seen
	}{
		"as wanted":   {func(*state.Part) {}, seen{2, 0, version("v1.34.2")}},
		"no machines": {func(p *state.Part) { p.Machines = nil }, seen{0, 0, version("v1.34.2")}},
		"no machines, and no version": {
			func(p *state.Part) { *p = state.Part{} }, seen{},
		},
		"machines, and no version": {
			func(p *state.Part) { p.Version = v1alpha1.Version{} }, seen{0, 2, version("v1.34.2")},
		},
		"nothing has begun": {func(p *state.Part) { p.Version = version("v1.35.1") }, seen{0, 2, version("v1.34.2")}},
		"an old machine":    {second(old), seen{1, 1, version("v1.33.7")}},
		"an old machine that goes": {
			second(func(m *state.Machine) { old(m); goes(1)(m) }), seen{1, 1, version("v1.33.7")},
		},
		"a machine that comes": {second(comes(1)), seen{1, 0, version("v1.34.2")}},
		"a machine of other templates": {
			second(func(m *state.Machine) { m.Outdated = true }), seen{1, 1, version("v1.34.2")},
		},
		"an old kubelet":           {second(func(m *state.Machine) { m.Kubelet = version("v1.32.0") }), seen{1, 0, version("v1.32.0")}},
		"a kubelet without answer": {second(func(m *state.Machine) { m.Kubelet = v1alpha1.Version{} }), seen{1, 0, version("v1.34.2")}},
		"a newer machine": {
			second(func(m *state.Machine) { m.Version, m.Kubelet = version("v1.35.1"), version("v1.35.1") }), seen{1, 1, version("v1.34.2")},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := part("md-0", test.change)
			got := seen{Ready: p.Ready(), ToReplace: p.ToReplace(), Oldest: p.Oldest()}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateComparable(v1alpha1.Version{})); diff != "" {
				t.Errorf("part (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPartsByName(t *testing.T) {
	t.Parallel()
	c := cluster(func(c *state.Cluster) {
		foreign := part("md-1", func(p *state.Part) { p.Foreign, p.Object = true, "MachineDeployment/md-1" })
		c.WorkerNodeGroups = append([]state.Part{foreign}, c.WorkerNodeGroups...)
		c.WorkerNodeGroups = append(c.WorkerNodeGroups, part("theirs", func(p *state.Part) { p.Foreign = true }))
	})
	type found struct {
		Part    state.Part
		IsPart  bool
		Group   state.Part
		IsGroup bool
	}
	done := func(*state.Part) {}
	tests := map[string]found{
		v1alpha1.ControlPlaneName: {Part: part(v1alpha1.ControlPlaneName, done), IsPart: true},
		"md-0":                    {part("md-0", done), true, part("md-0", done), true},
		"md-1":                    {part("md-1", done), true, part("md-1", done), true},
		"theirs":                  {},
		"none":                    {},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got found
			got.Part, got.IsPart = c.Part(name)
			got.Group, got.IsGroup = c.Group(name)
			if diff := cmp.Diff(want, got, cmpopts.EquateComparable(v1alpha1.Version{})); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
		})
	}
}
