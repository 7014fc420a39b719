package topology_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// TestPathKeepsThePolicy takes random clusters with groups that are pinned, were
// pinned or follow along their plans: no state breaks the policy, nothing moves
// down, no group outside of the topology moves in the middle of a segment,
// and all arrive, those that follow given back.
func TestPathKeepsThePolicy(t *testing.T) {
	t.Parallel()
	const cases = 5000
	planned, halted := 0, 0
	for i := range cases {
		r := rand.New(rand.NewPCG(12, uint64(i)))
		finder, in := randomPins(r)
		path, err := finder.Path(t.Context(), in, nil)
		if err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
		in.TopologyPath = path
		p, err := plan.Compute(in)
		if impossible := (*plan.NoPlanError)(nil); errors.As(err, &impossible) {
			continue // a pin that is too old for the target
		}
		if err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
		planned++
		if len(path.Segments) > 1 && len(finder.Versions) > 0 {
			halted++
		}
		if wrong := newTraveller(in).take(p); wrong != "" {
			t.Fatalf("case %d: %s:\n%s", i, wrong, strings.Join(stepsOf(p), "\n"))
		}
	}
	t.Logf("%d plans, %d of them with a halt", planned, halted)
	if planned < cases/2 || halted < cases/50 {
		t.Errorf("only %d plans, %d of them with a halt", planned, halted)
	}
}

// randomPins is a cluster with some groups, each of which may be detached and may be
// pinned.
func randomPins(r *rand.Rand) (topology.PathFinder, plan.Input) {
	first, minors := 28+r.IntN(4), r.IntN(6)
	finder := topology.PathFinder{}
	for minor := first - 3; minor <= first+minors; minor++ {
		finder.Releases = append(finder.Releases, version(fmt.Sprintf("1.%d.%d", minor, r.IntN(3))))
	}
	if r.IntN(4) > 0 {
		finder.Versions = finder.Releases
	}
	at := func(minor int) v1alpha1.Version { return finder.Releases[minor-first+3] }
	finder.From = at(first)
	in := plan.Input{
		Start:    plan.Start{ControlPlane: plan.Part{Version: at(first), Oldest: at(first), Machines: 1}, WorkerNodeGroups: map[string]plan.Part{}},
		Target:   plan.Target{ControlPlane: at(first + minors), ControlPlaneMachines: 1},
		Releases: finder.Releases,
	}
	for i := range 1 + r.IntN(4) {
		name, minor := fmt.Sprint("g", i), first
		detached := r.IntN(2) == 0
		if detached {
			minor -= r.IntN(4)
		}
		if r.IntN(5) > 0 {
			in.Start.WorkerNodeGroups[name] = plan.Part{Version: at(minor), Oldest: at(minor), Machines: 1, Detached: detached}
		}
		group := plan.TargetGroup{Name: name, Version: in.Target.ControlPlane, Machines: 1}
		if r.IntN(2) == 0 {
			group.Pinned, group.Version = true, at(max(minor, first+minors-r.IntN(4)))
		}
		if r.IntN(8) > 0 {
			in.Target.WorkerNodeGroups = append(in.Target.WorkerNodeGroups, group)
		}
	}
	return finder, in
}

// traveller is a cluster on its way along a plan.
type traveller struct {
	in                     plan.Input
	controlPlane, topology v1alpha1.Version
	groups                 map[string]v1alpha1.Version
	out                    map[string]bool // of the topology
}

func newTraveller(in plan.Input) *traveller {
	c := &traveller{in: in, controlPlane: in.Start.ControlPlane.Version, topology: in.TopologyPath.From, groups: map[string]v1alpha1.Version{}, out: map[string]bool{}}
	for name, part := range in.Start.WorkerNodeGroups {
		c.groups[name], c.out[name] = part.Version, part.Detached
	}
	return c
}

// take goes along all steps, and says what is wrong on the way.
func (c *traveller) take(p plan.Plan) string {
	for _, step := range p.Steps {
		if step.Kind == plan.ControlPlane {
			if c.controlPlane != step.From || step.To.Minor().Minor > step.From.Minor().Minor+1 || !step.To.After(step.From) {
				return fmt.Sprintf("control plane from %s to %s, and it is at %s", step.From, step.To, c.controlPlane)
			}
			c.controlPlane, c.topology = step.To, c.in.TopologyPath.Target(step.To)
		}
		for _, group := range step.WorkerNodeGroups {
			if wrong := c.move(step, group); wrong != "" {
				return fmt.Sprintf("%s: %s", step, wrong)
			}
		}
		for name, version := range c.groups {
			if err := c.in.Policy.Check(c.controlPlane, version); err != nil {
				return fmt.Sprintf("after %s: %s at %s: %v", step, name, version, err)
			}
		}
	}
	return c.arrived()
}

// move takes one group through a step.
func (c *traveller) move(step plan.Step, group plan.Group) string {
	is, out := c.groups[group.Name], c.out[group.Name]
	here := fmt.Sprintf("it is at %s, out of the topology %t", is, out)
	if step.Detached && c.controlPlane != c.topology {
		return "in the middle of a segment to " + c.topology.String()
	}
	switch step.Kind {
	case plan.Detach, plan.Return:
		if is != group.To || out == (step.Kind == plan.Detach) {
			return here
		}
		c.out[group.Name] = step.Kind == plan.Detach
	case plan.CreateWorkers:
		c.groups[group.Name], c.out[group.Name] = group.To, step.Detached
	case plan.RemoveWorkers:
		delete(c.groups, group.Name)
	default:
		if is != group.From || !group.To.After(group.From) || out != step.Detached {
			return here
		}
		c.groups[group.Name] = group.To
	}
	return ""
}

// arrived says what is otherwise than in the target.
func (c *traveller) arrived() string {
	for _, group := range c.in.Target.WorkerNodeGroups {
		if c.groups[group.Name] != group.Version || c.out[group.Name] != group.Pinned {
			return fmt.Sprintf("in the end %s is at %s, out of the topology %t", group.Name, c.groups[group.Name], c.out[group.Name])
		}
	}
	if len(c.groups) > len(c.in.Target.WorkerNodeGroups) || c.controlPlane != c.in.Target.ControlPlane {
		return fmt.Sprintf("in the end there is %v, and the control plane is at %s", c.groups, c.controlPlane)
	}
	return ""
}

func stepsOf(p plan.Plan) []string {
	steps := make([]string, len(p.Steps))
	for i, step := range p.Steps {
		steps[i] = step.String()
	}
	return steps
}
