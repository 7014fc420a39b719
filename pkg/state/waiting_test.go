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
	const (
		progress  = "md-0: 0 of 3 machines updated to v1.34.2, 3 serving; "
		oneIsSick = "md-0: 0 of 3 machines updated to v1.34.2, 2 serving; "
		noneIsOld = "md-0: 0 of 3 machines ready at v1.34.2; "
	)
	a, b, c := machine("a", old), machine("b", old), machine("c", old)
	machines := func(machines ...state.Machine) func(*state.Part) {
		return func(p *state.Part) { p.Machines = machines }
	}
	reason := func(p *state.Part) { p.Reason = "2 available replicas, at least 3 required" }
	blocked := func(p *state.Part) { p.Reason, p.Blocked = "MachineSet/x creates no machines: preflight", true }
	paused := func(p *state.Part) { p.Paused = true }
	tests := map[string]struct {
		changes []func(*state.Part)
		want    string
	}{
		"nothing has begun":                     {[]func(*state.Part){machines(a, b, c)}, progress + "machine a is Running at v1.33.7 and will be replaced"},
		"an old machine that is not well":       {[]func(*state.Part){machines(a, machine("b", sick), c)}, oneIsSick + "machine b is Running at v1.33.7 and will be replaced: no answer"},
		"what is not there":                     {[]func(*state.Part){machines(a, b, c), reason}, progress + "2 available replicas, at least 3 required"},
		"an old one not well, before the rest":  {[]func(*state.Part){machines(a, machine("b", sick), c), reason}, oneIsSick + "machine b is Running at v1.33.7 and will be replaced: no answer"},
		"no machine is made":                    {[]func(*state.Part){machines(a, b, c), blocked}, progress + "MachineSet/x creates no machines: preflight"},
		"no machine is made, before a sick one": {[]func(*state.Part){machines(a, machine("b", sick), c), blocked}, oneIsSick + "MachineSet/x creates no machines: preflight"},
		"paused":                                {[]func(*state.Part){machines(a, b, c), paused}, progress + "MachineDeployment/md-0 is paused; Cluster API does nothing about it until it is resumed"},
		"paused, and no machine is made":        {[]func(*state.Part){machines(a, b, c), blocked, paused}, progress + "MachineDeployment/md-0 is paused; Cluster API does nothing about it until it is resumed"},
		"one comes":                             {[]func(*state.Part){machines(a, b, c, machine("d", comes(1)))}, progress + "machine d is Provisioning: no image"},
		"one comes, and no other one is made":   {[]func(*state.Part){machines(a, b, c, machine("d", comes(1))), blocked}, progress + "machine d is Provisioning: no image"},
		"one comes, while an old one is sick":   {[]func(*state.Part){machines(a, machine("b", sick), c, machine("d", comes(1)))}, oneIsSick + "machine d is Provisioning: no image"},
		"two come":                              {[]func(*state.Part){machines(a, machine("d", comes(2)), machine("e", comes(1)))}, "md-0: 0 of 3 machines updated to v1.34.2, 1 serving; machine e is Provisioning: no image"},
		"one goes": {
			[]func(*state.Part){machines(a, b, machine("c", func(m *state.Machine) { old(m); goes(1)(m) }), machine("d", as)), reason, blocked},
			"md-0: 1 of 3 machines updated to v1.34.2, 3 serving; machine c is Deleting: draining",
		},
		"one goes, and one comes": {[]func(*state.Part){machines(machine("d", comes(1)), machine("e", goes(2)))}, noneIsOld + "machine e is Deleting: draining"},
		"two go":                  {[]func(*state.Part){machines(machine("d", goes(2)), machine("e", goes(1)))}, noneIsOld + "machine e is Deleting: draining"},
		"one is ready, and the next has not begun": {
			[]func(*state.Part){machines(a, b, c, machine("d", as))}, "md-0: 1 of 3 machines updated to v1.34.2, 4 serving; machine a is Running at v1.33.7 and will be replaced",
		},
		"of templates, nothing has begun": {
			[]func(*state.Part){machines(machine("d", as), machine("e", func(m *state.Machine) { m.Outdated = true }), machine("f", as))},
			"md-0: 2 of 3 machines updated to v1.34.2, 3 serving; machine e is Running and will be replaced",
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
		foreign := part("md-1", func(p *state.Part) { p.Unmanaged, p.Object = true, "MachineDeployment/md-1" })
		c.WorkerNodeGroups = append([]state.Part{foreign}, c.WorkerNodeGroups...)
		c.WorkerNodeGroups = append(c.WorkerNodeGroups, part("theirs", func(p *state.Part) { p.Unmanaged = true }))
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

// TestCount: machines that serve, that are updated, and that are wanted are told apart.
func TestCount(t *testing.T) {
	t.Parallel()
	a, b, c := machine("a", old), machine("b", old), machine("c", old)
	d, e, f := machine("d", as), machine("e", as), machine("f", as)
	gone := machine("c", func(m *state.Machine) { old(m); goes(1)(m) })
	tests := map[string]struct {
		wanted   int
		machines []state.Machine
		want     string
	}{
		"nothing is there":               {3, nil, "0 of 3 machines ready"},
		"some are there":                 {3, []state.Machine{d, e}, "2 of 3 machines ready"},
		"all are there":                  {3, []state.Machine{d, e, f}, "3 of 3 machines ready"},
		"one too many":                   {2, []state.Machine{d, e, f}, "2 of 2 machines ready, 1 machine still to be removed"},
		"two too many":                   {1, []state.Machine{d, e, f}, "1 of 1 machines ready, 2 machines still to be removed"},
		"a rollout has not begun":        {3, []state.Machine{a, b, c}, "0 of 3 machines updated, 3 serving"},
		"the first one comes":            {3, []state.Machine{a, b, c, machine("d", comes(1))}, "0 of 3 machines updated, 3 serving"},
		"the first one is there":         {3, []state.Machine{a, b, c, d}, "1 of 3 machines updated, 4 serving"},
		"an old one goes":                {3, []state.Machine{a, b, gone, d}, "1 of 3 machines updated, 3 serving"},
		"an old one is sick":             {3, []state.Machine{a, machine("b", sick), c}, "0 of 3 machines updated, 2 serving"},
		"all are there, and an old one":  {1, []state.Machine{a, d}, "1 of 1 machines updated, 2 serving, 1 old machine still to be removed"},
		"all are there, and one goes":    {1, []state.Machine{gone, d}, "1 of 1 machines updated, 1 serving, 1 old machine still to be removed"},
		"all are there, and two old":     {1, []state.Machine{a, b, d}, "1 of 1 machines updated, 3 serving, 2 old machines still to be removed"},
		"more than wanted, and an old":   {1, []state.Machine{a, d, e}, "1 of 1 machines updated, 3 serving, 1 old machine still to be removed"},
		"none is wanted, and one is old": {0, []state.Machine{a}, "0 of 0 machines updated, 1 serving, 1 old machine still to be removed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := part("md-0", func(p *state.Part) { p.Replicas, p.Machines = test.wanted, test.machines })
			if diff := cmp.Diff(test.want, p.Count()); diff != "" {
				t.Errorf("count (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnwell: what starts, goes, or is to be replaced is under way.
func TestUnwell(t *testing.T) {
	t.Parallel()
	with := func(change func(*state.Machine)) state.Machine { return machine("a", change) }
	tests := map[string]struct {
		machine state.Machine
		want    bool
	}{
		"ready":                {with(as), false},
		"of another version":   {with(old), false},
		"of other templates":   {with(func(m *state.Machine) { m.Outdated = true }), false},
		"comes":                {with(func(m *state.Machine) { comes(1)(m); m.Node = "" }), false},
		"goes":                 {with(func(m *state.Machine) { goes(1)(m); m.Ready = false }), false},
		"was there":            {with(func(m *state.Machine) { m.Ready = false }), true},
		"failed":               {with(func(m *state.Machine) { comes(1)(m); m.Node, m.Phase = "", "Failed" }), true},
		"its bootstrap failed": {with(func(m *state.Machine) { comes(1)(m); m.Node, m.Failed = "", state.Failed }), true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := test.machine.Unwell(); got != test.want {
				t.Errorf("unwell is %t", got)
			}
		})
	}
}

// TestStuck: a cluster is stuck when machines failed for good, and nothing else goes on.
func TestStuck(t *testing.T) {
	t.Parallel()
	failed := machine("x", func(m *state.Machine) { comes(1)(m); m.Node, m.Failed = "", state.Failed })
	covered := machine("x", func(m *state.Machine) { comes(1)(m); m.Node, m.Failed = "", state.FailedRemediated })
	gone := machine("x", func(m *state.Machine) { goes(1)(m); m.Failed = state.Failed })
	well, fresh := machine("a", as), machine("b", func(m *state.Machine) { comes(1)(m); m.Node = "" })
	tests := map[string]struct {
		controlPlane, group, other []state.Machine
		change                     func(*state.Cluster)
		want                       []string
	}{
		"all is well":                            {[]state.Machine{well}, []state.Machine{well}, []state.Machine{well}, nil, nil},
		"a worker":                               {[]state.Machine{well}, []state.Machine{failed}, []state.Machine{well}, nil, []string{"x"}},
		"a worker with a health check":           {[]state.Machine{well}, []state.Machine{covered}, []state.Machine{well}, nil, nil},
		"a worker that goes":                     {[]state.Machine{well}, []state.Machine{gone}, []state.Machine{well}, nil, nil},
		"a worker, while another group comes up": {[]state.Machine{well}, []state.Machine{failed}, []state.Machine{fresh}, nil, nil},
		"a worker, while the control plane does": {[]state.Machine{fresh}, []state.Machine{failed}, []state.Machine{well}, nil, nil},
		"the first of the control plane":         {[]state.Machine{failed}, []state.Machine{fresh}, nil, nil, []string{"x"}},
		"a later one of the control plane":       {[]state.Machine{well, failed}, []state.Machine{fresh}, []state.Machine{well}, nil, nil},
		"a cluster that goes":                    {[]state.Machine{failed}, nil, nil, func(c *state.Cluster) { c.Deleting = true }, nil},
		"a cluster that is paused":               {[]state.Machine{failed}, nil, nil, func(c *state.Cluster) { c.Paused = true }, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			with := func(name string, machines []state.Machine) state.Part {
				return part(name, func(p *state.Part) { p.Machines, p.Replicas = machines, max(1, len(machines)) })
			}
			c := state.Cluster{ControlPlane: with(v1alpha1.ControlPlaneName, test.controlPlane), WorkerNodeGroups: []state.Part{with("md-0", test.group), with("md-1", test.other)}}
			if test.change != nil {
				test.change(&c)
			}
			if diff := cmp.Diff(test.want, c.Stuck()); diff != "" {
				t.Errorf("stuck (-want +got):\n%s", diff)
			}
		})
	}
}
