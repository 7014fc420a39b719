package state_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

func version(text string) v1alpha1.Version { return v1alpha1.MustParseVersion(text) }

// machine is ready at v1.34.2, but for the change.
func machine(name string, change func(*state.Machine)) state.Machine {
	m := state.Machine{Name: name, Phase: "Running", Version: version("v1.34.2"), Node: name, Kubelet: version("v1.34.2"), Ready: true}
	change(&m)
	return m
}

func as(*state.Machine) {}

// part has two machines as wanted, but for the change.
func part(name string, change func(*state.Part)) state.Part {
	p := state.Part{Name: name, Version: version("v1.34.2"), Replicas: 2, Machines: []state.Machine{machine("a", as), machine("b", as)}, Settled: true}
	change(&p)
	return p
}

// second changes the second machine of a part.
func second(change func(*state.Machine)) func(*state.Part) {
	return func(p *state.Part) { change(&p.Machines[1]) }
}

// cluster has a control plane and two groups as wanted, but for the change.
func cluster(change func(*state.Cluster)) state.Cluster {
	done := func(*state.Part) {}
	c := state.Cluster{
		Name:             "prod",
		ControlPlane:     part(v1alpha1.ControlPlaneName, done),
		WorkerNodeGroups: []state.Part{part("md-0", done), part("md-1", done)},
	}
	change(&c)
	return c
}

// TestPart looks at one worker node group, whose cluster is done but for it.
func TestPart(t *testing.T) {
	t.Parallel()
	type seen struct {
		Ready       int
		Done        bool
		ClusterDone bool
		Waiting     string
	}
	waiting := func(ready int, text string) seen { return seen{Ready: ready, Waiting: text} }
	tests := map[string]struct {
		change func(*state.Part)
		want   seen
	}{
		"as wanted":             {func(*state.Part) {}, seen{2, true, true, ""}},
		"as wanted, of nothing": {func(p *state.Part) { p.Replicas, p.Machines = 0, nil }, seen{0, true, true, ""}},
		"as wanted, with a reason left": {
			func(p *state.Part) { p.Reason = "scaling" }, seen{2, true, true, ""},
		},
		"not settled": {
			func(p *state.Part) { p.Settled = false },
			waiting(2, "md-0: 2 of 2 machines ready at v1.34.2; Cluster API does not report it as available yet"),
		},
		"not settled, with a reason": {
			func(p *state.Part) { p.Settled, p.Reason = false, "NotEnoughReplicas" },
			waiting(2, "md-0: 2 of 2 machines ready at v1.34.2; NotEnoughReplicas"),
		},
		"not settled, of nothing": {
			func(p *state.Part) { p.Settled, p.Replicas, p.Machines = false, 0, nil },
			waiting(0, "md-0: 0 of 0 machines ready at v1.34.2; Cluster API does not report it as available yet"),
		},
		"does not exist yet": {
			func(p *state.Part) {
				*p = state.Part{Name: "md-0", Reason: "MachineDeployment/md-0 does not exist yet"}
			},
			waiting(0, "md-0: 0 of 0 machines ready; MachineDeployment/md-0 does not exist yet"),
		},
		"machine missing": {
			func(p *state.Part) { p.Machines = p.Machines[:1] },
			waiting(1, "md-0: 1 of 2 machines ready at v1.34.2"),
		},
		"machine missing, with a reason": {
			func(p *state.Part) { p.Machines, p.Reason = p.Machines[:1], "waits for the control plane" },
			waiting(1, "md-0: 1 of 2 machines ready at v1.34.2; waits for the control plane"),
		},
		"surplus machine": {
			func(p *state.Part) { p.Machines = append(p.Machines, machine("c", as)) },
			waiting(3, "md-0: 2 of 2 machines ready at v1.34.2, 1 machine still to be removed"),
		},
		"surplus machine, with a reason": {
			func(p *state.Part) { p.Machines, p.Reason = append(p.Machines, machine("c", as)), "scaling down" },
			waiting(3, "md-0: 2 of 2 machines ready at v1.34.2, 1 machine still to be removed; scaling down"),
		},
		"surplus machine of the old version": {
			func(p *state.Part) {
				p.Machines = append(p.Machines, machine("c", func(m *state.Machine) { m.Version, m.Kubelet = version("v1.33.7"), version("v1.33.7") }))
			},
			waiting(2, "md-0: 2 of 2 machines updated to v1.34.2, 3 serving, 1 old machine still to be removed; machine c is Running at v1.33.7 and will be replaced"),
		},
		"machine not ready": {
			second(func(m *state.Machine) { m.Ready, m.Phase = false, "Provisioning" }),
			waiting(1, "md-0: 1 of 2 machines ready at v1.34.2; machine b is Provisioning"),
		},
		"machine not ready, with a reason": {
			second(func(m *state.Machine) { m.Ready, m.Phase, m.Reason = false, "Provisioned", "waits for a node" }),
			waiting(1, "md-0: 1 of 2 machines ready at v1.34.2; machine b is Provisioned: waits for a node"),
		},
		"machine with reasons of machine and part": {
			func(p *state.Part) {
				p.Reason = "scaling up"
				p.Machines[1].Ready, p.Machines[1].Reason = false, "waits for a node"
			},
			waiting(1, "md-0: 1 of 2 machines ready at v1.34.2; machine b is Running: waits for a node"),
		},
		"machine deleting": {
			second(func(m *state.Machine) { m.Deleting, m.Phase, m.Reason = true, "Deleting", "draining" }),
			waiting(1, "md-0: 1 of 2 machines ready at v1.34.2; machine b is Deleting: draining"),
		},
		"machine at another version": {
			second(func(m *state.Machine) { m.Version = version("v1.33.7") }),
			waiting(1, "md-0: 1 of 2 machines updated to v1.34.2, 2 serving; machine b is Running at v1.33.7 and will be replaced"),
		},
		"machine of other templates": {
			second(func(m *state.Machine) { m.Outdated = true }),
			waiting(1, "md-0: 1 of 2 machines updated to v1.34.2, 2 serving; machine b is Running and will be replaced"),
		},
		"machine not ready, and nobody says why": {
			second(func(m *state.Machine) { m.Ready = false }),
			waiting(1, "md-0: 1 of 2 machines ready at v1.34.2; machine b is Running and not ready yet"),
		},
		"machine whose version is not known": {
			second(func(m *state.Machine) { m.Version = v1alpha1.Version{} }),
			waiting(1, "md-0: 1 of 2 machines updated to v1.34.2, 2 serving; machine b is Running and will be replaced"),
		},
		"machine newer by a patch": {
			second(func(m *state.Machine) { m.Version, m.Kubelet = version("v1.34.3"), version("v1.34.3") }),
			waiting(1, "md-0: 1 of 2 machines updated to v1.34.2, 2 serving; machine b is Running at v1.34.3 and will be replaced"),
		},
		"kubelet at another version": {
			second(func(m *state.Machine) { m.Kubelet = version("v1.33.7") }),
			waiting(1, "md-0: 1 of 2 machines ready at v1.34.2; machine b is Running with its kubelet at v1.33.7"),
		},
		"kubelet of another build": {
			second(func(m *state.Machine) { m.Kubelet = version("v1.34.2+vendor.1") }),
			waiting(1, "md-0: 1 of 2 machines ready at v1.34.2; machine b is Running with its kubelet at v1.34.2+vendor.1"),
		},
		"kubelet that has not reported": {
			second(func(m *state.Machine) { m.Kubelet = v1alpha1.Version{} }),
			waiting(1, "md-0: 1 of 2 machines ready at v1.34.2; machine b is Running, and its node does not report its version yet"),
		},
		"new version, nothing replaced yet": {
			func(p *state.Part) { p.Version = version("v1.35.1") },
			waiting(0, "md-0: 0 of 2 machines updated to v1.35.1, 2 serving; machine a is Running at v1.34.2 and will be replaced"),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := part("md-0", test.change)
			c := cluster(func(c *state.Cluster) { c.WorkerNodeGroups[0] = p })
			got := seen{Ready: p.Ready(), Done: p.Done(), ClusterDone: c.Done(), Waiting: c.Waiting()}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("part (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCluster(t *testing.T) {
	t.Parallel()
	type seen struct {
		Done    bool
		Waiting string
	}
	const paused = "the cluster is paused (spec.paused); Cluster API does nothing until it is resumed"
	unsettled := func(p *state.Part) { p.Settled = false }
	tests := map[string]struct {
		change func(*state.Cluster)
		want   seen
	}{
		"done":            {func(*state.Cluster) {}, seen{true, ""}},
		"done, no groups": {func(c *state.Cluster) { c.WorkerNodeGroups = nil }, seen{true, ""}},
		"nothing there":   {func(c *state.Cluster) { *c = state.Cluster{ControlPlane: state.Part{Name: v1alpha1.ControlPlaneName}} }, seen{false, "control-plane: 0 of 0 machines ready; Cluster API does not report it as available yet"}},
		"a group of others beside ours": {
			func(c *state.Cluster) {
				c.WorkerNodeGroups = append(c.WorkerNodeGroups, part("theirs", func(p *state.Part) { p.Unmanaged, p.Replicas = true, 4 }))
			},
			seen{true, ""},
		},
		"a group of a cluster of others": {
			func(c *state.Cluster) {
				c.Unmanaged = true
				c.WorkerNodeGroups = []state.Part{part("theirs", func(p *state.Part) { p.Unmanaged, p.Replicas = true, 4 })}
			},
			seen{false, "theirs: 2 of 4 machines ready at v1.34.2"},
		},
		"infrastructure missing": {
			func(c *state.Cluster) { c.Infrastructure = "not provisioned yet" },
			seen{false, "infrastructure: not provisioned yet"},
		},
		"infrastructure before parts": {
			func(c *state.Cluster) {
				c.Infrastructure, c.ControlPlane = "not provisioned yet", part(v1alpha1.ControlPlaneName, unsettled)
			},
			seen{false, "infrastructure: not provisioned yet"},
		},
		"paused before infrastructure": {
			func(c *state.Cluster) { c.Paused, c.Infrastructure = true, "not provisioned yet" },
			seen{false, paused},
		},
		"paused before parts": {
			func(c *state.Cluster) { c.Paused, c.WorkerNodeGroups[1] = true, part("md-1", unsettled) },
			seen{false, paused},
		},
		"paused, and nothing left to do": {func(c *state.Cluster) { c.Paused = true }, seen{true, ""}},
		"deleting": {
			func(c *state.Cluster) { c.Deleting = true },
			seen{false, "md-1: machines left: 2; machine a is Running"},
		},
		"deleting, and paused": {func(c *state.Cluster) { c.Deleting, c.Paused = true, true }, seen{false, paused}},
		"deleting, without infrastructure": {
			func(c *state.Cluster) {
				c.Deleting, c.Infrastructure = true, "not provisioned yet"
				c.WorkerNodeGroups[0].Machines[0].Phase, c.WorkerNodeGroups[0].Machines[0].Reason = "Deleting", "draining"
				c.WorkerNodeGroups[1].Machines = nil
			},
			seen{false, "md-0: machines left: 2; machine a is Deleting: draining"},
		},
		"deleting, only the control plane left": {
			func(c *state.Cluster) { c.Deleting, c.WorkerNodeGroups = true, nil },
			seen{false, "control-plane: machines left: 2; machine a is Running"},
		},
		"deleting, no machines left": {
			func(c *state.Cluster) { c.Deleting, c.WorkerNodeGroups, c.ControlPlane.Machines = true, nil, nil },
			seen{false, "Cluster API to remove the cluster's last objects"},
		},
		"deleting, machines of others left": {
			func(c *state.Cluster) {
				c.Deleting, c.WorkerNodeGroups, c.ControlPlane.Machines = true, nil, nil
				c.Others = []state.Other{{Object: "MachinePool/a"}, {Object: "Machine/b"}}
			},
			seen{false, "objects left that clusterctl-x did not make: 2; the first is MachinePool/a"},
		},
		"deleting, the machine that has gone for the longest": {
			func(c *state.Cluster) {
				c.Deleting = true
				c.WorkerNodeGroups[1].Machines = append(c.WorkerNodeGroups[1].Machines, machine("c", goes(2)), machine("d", goes(1)))
			},
			seen{false, "md-1: machines left: 4; machine d is Deleting: draining"},
		},
		"control plane before groups": {
			func(c *state.Cluster) {
				c.ControlPlane, c.WorkerNodeGroups[0] = part(v1alpha1.ControlPlaneName, unsettled), part("md-0", unsettled)
			},
			seen{false, "control-plane: 2 of 2 machines ready at v1.34.2; Cluster API does not report it as available yet"},
		},
		"add-ons applied": {
			func(c *state.Cluster) {
				c.AddOns = []state.AddOn{{Name: "cni", Applied: true}, {Name: "b", Applied: true, Reason: "an old one"}}
			},
			seen{true, ""},
		},
		"add-on not applied": {
			func(c *state.Cluster) { c.AddOns = []state.AddOn{{Name: "cni", Applied: true}, {Name: "b"}} },
			seen{false, "add-on b: not applied yet"},
		},
		"the first of the add-ons that are not applied, with its reason": {
			func(c *state.Cluster) {
				c.AddOns = []state.AddOn{{Name: "a", Applied: true}, {Name: "b", Reason: "no such ConfigMap"}, {Name: "c", Reason: "other"}}
			},
			seen{false, "add-on b: no such ConfigMap"},
		},
		"parts before add-ons": {
			func(c *state.Cluster) {
				c.AddOns, c.WorkerNodeGroups[1] = []state.AddOn{{Name: "cni"}}, part("md-1", unsettled)
			},
			seen{false, "md-1: 2 of 2 machines ready at v1.34.2; Cluster API does not report it as available yet"},
		},
		"paused before add-ons": {
			func(c *state.Cluster) { c.Paused, c.AddOns = true, []state.AddOn{{Name: "cni"}} },
			seen{false, paused},
		},
		"deleting, with an add-on that is not applied": {
			func(c *state.Cluster) {
				c.Deleting, c.AddOns, c.WorkerNodeGroups, c.ControlPlane.Machines = true, []state.AddOn{{Name: "cni"}}, nil, nil
			},
			seen{false, "Cluster API to remove the cluster's last objects"},
		},
		"what is waited for before a step": {
			func(c *state.Cluster) {
				c.WorkerNodeGroups[0], c.WorkerNodeGroups[1] = part("md-0", unsettled), part("md-1", unsettled)
				c.HealthWait = &state.HealthWait{Parts: []string{"md-1"}}
			},
			seen{false, "md-1: 2 of 2 machines ready at v1.34.2; Cluster API does not report it as available yet"},
		},
		"last group": {
			func(c *state.Cluster) { c.WorkerNodeGroups[1] = part("md-1", unsettled) },
			seen{false, "md-1: 2 of 2 machines ready at v1.34.2; Cluster API does not report it as available yet"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := cluster(test.change)
			got := seen{Done: c.Done(), Waiting: c.Waiting()}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("cluster (-want +got):\n%s", diff)
			}
			if got.Done != (got.Waiting == "") {
				t.Errorf("done is %t and it waits for %q", got.Done, got.Waiting)
			}
		})
	}
}

func TestPartsAndVersions(t *testing.T) {
	t.Parallel()
	c := cluster(func(c *state.Cluster) { c.WorkerNodeGroups[1].Version = version("v1.33.7") })
	var names []string
	for _, p := range c.Parts() {
		names = append(names, p.Name)
	}
	if diff := cmp.Diff([]string{v1alpha1.ControlPlaneName, "md-0", "md-1"}, names); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	want := v1alpha1.ClusterVersions{
		ControlPlane:     version("v1.34.2"),
		WorkerNodeGroups: map[string]v1alpha1.Version{"md-0": version("v1.34.2"), "md-1": version("v1.33.7")},
	}
	if diff := cmp.Diff(want, c.Versions(), cmpopts.EquateComparable(v1alpha1.Version{})); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
}

// TestComesUp: a part whose machines are on their way is not unwell.
func TestComesUp(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*state.Part)
		want   bool
	}{
		"as wanted":       {func(*state.Part) {}, true},
		"machine missing": {func(p *state.Part) { p.Machines = p.Machines[:1] }, true},
		"machine that comes up": {second(func(m *state.Machine) {
			m.Ready, m.Phase, m.Node, m.Kubelet = false, "Provisioning", "", v1alpha1.Version{}
		}), true},
		"machine that is unwell":   {second(func(m *state.Machine) { m.Ready = false }), false},
		"wanted machine that goes": {second(func(m *state.Machine) { m.Deleting = true }), false},
		"surplus machine that goes": {func(p *state.Part) {
			p.Machines = append(p.Machines, machine("c", func(m *state.Machine) { m.Deleting = true }))
		}, true},
		"blocked": {func(p *state.Part) { p.Machines, p.Blocked = nil, true }, false},
		"paused":  {func(p *state.Part) { p.Machines, p.Paused = nil, true }, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := part("md-0", test.change).ComesUp(); got != test.want {
				t.Errorf("ComesUp is %t, want %t", got, test.want)
			}
		})
	}
}
