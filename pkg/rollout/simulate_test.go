package rollout

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout/rollouttest"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// simulation is a cluster that goes to a target, whatever ends the runs that take it there.
type simulation struct {
	*world
	target    plan.Target
	rendering rollouttest.Rendering
	// topology is Cluster API's controller of a cluster from a ClusterClass; nil without
	// one.
	topology *controller
	// replaced counts, by part, how often its machines were replaced.
	replaced map[string]int
	// actions counts those that were done, of all runs; at kill the run ends.
	actions, kill int
	// runs counts how often it was planned.
	runs int
	// postponed is true where Cluster API did not take the last write.
	postponed bool
}

// maxLooks is how often a simulation looks at the cluster before it is taken to be stuck.
const maxLooks = 200

// carryOut plans and carries out runs until one comes to its end.
func (s *simulation) carryOut() {
	s.t.Helper()
	for looks := 0; ; {
		s.runs++
		program := s.plan()
		r := s.runOf(program)
		actions, p := r.Begin(r.w.seen)
		r.p = p
		alive := s.doUntilKilled(r, actions)
		for ; alive && looks < maxLooks; looks++ {
			s.tick()
			done, on := s.look(r)
			if done {
				return
			}
			alive = on
		}
		if looks == maxLooks {
			s.t.Fatalf("kill %d, run %d is stuck in step %d of %v at %+v", s.kill, s.runs, r.p.step, program.Plan.Steps, s.seen)
		}
	}
}

// look lets the run go on. It reports whether the run is done, and else whether it is
// still alive.
func (s *simulation) look(r *run) (done, alive bool) {
	s.t.Helper()
	for {
		turn, err := r.Next(s.seen, s.at, r.p)
		if err != nil {
			s.t.Fatalf("kill %d, run %d: %v", s.kill, s.runs, err)
		}
		r.p = turn.Progress
		if !s.doUntilKilled(r, turn.Actions) {
			return false, false
		}
		if !turn.Again || s.postponed {
			return turn.Done, true
		}
	}
}

// doUntilKilled does actions, and is false where the run ends after one of them.
func (s *simulation) doUntilKilled(r *run, actions []Action) bool {
	s.postponed = false
	for _, action := range actions {
		s.actions++
		if s.topology == nil || !s.topology.do(s, r, action) {
			s.postponed = r.do([]Action{action}) || s.postponed
		}
		if s.actions == s.kill {
			return false
		}
	}
	return true
}

// tick is a moment in which Cluster API carries out what is specified.
func (s *simulation) tick() {
	s.t.Helper()
	if s.topology != nil {
		s.topology.act(s)
	}
	for _, part := range s.world.Cluster().Parts() {
		if part.Settled || s.topology != nil && s.topology.paused {
			continue
		}
		if part.ToReplace() > 0 {
			s.replaced[part.Name]++
		}
		s.Roll(part.Name)
	}
	s.seen = s.cluster()
	s.checkSkew()
}

// cluster is the cluster as it is seen now.
func (s *simulation) cluster() state.Cluster {
	c := s.world.Cluster()
	if s.topology != nil {
		s.topology.describe(s, &c)
	}
	return c
}

// checkSkew looks for nodes that are newer than the control plane, or more than three
// minors older.
func (s *simulation) checkSkew() {
	s.t.Helper()
	controlPlane := s.seen.ControlPlane.Version
	for _, group := range s.seen.WorkerNodeGroups {
		for _, m := range group.Machines {
			if m.Kubelet.After(controlPlane) || controlPlane.Minor().Minor > m.Kubelet.Minor().Minor+3 {
				s.t.Errorf("kill %d: %s is at %s beside a control plane at %s", s.kill, group.Name, m.Kubelet, controlPlane)
			}
		}
	}
}

// plan is the program from where the cluster is.
func (s *simulation) plan() Program {
	s.t.Helper()
	s.seen = s.cluster()
	in := plan.Input{Start: plan.StartOf(s.seen), Target: s.target, Releases: releases(), Concurrency: 2, Changes: s.changes()}
	if s.topology != nil {
		in.TopologyPath = s.topology.path(s.seen, s.target)
	}
	p, err := plan.Compute(in)
	if err != nil {
		s.t.Fatalf("kill %d, run %d: %v", s.kill, s.runs, err)
	}
	program := Program{Plan: p, Concurrency: 2}
	if s.topology != nil {
		program.Topology, program.Desired = true, s.topology.desired(s, in, p)
		return program
	}
	for i := range len(p.Steps) + 1 {
		program.Desired = append(program.Desired, desiredAt(p.Versions(i), &s.rendering))
	}
	return program
}

// releases are those that there are.
func releases() []v1alpha1.Version {
	var all []v1alpha1.Version
	for _, text := range []string{"v1.31.1", "v1.32.1", "v1.33.1", "v1.34.1"} {
		all = append(all, v1alpha1.MustParseVersion(text))
	}
	return all
}

// changes are what differs beside versions and counts: templates of another name, and a
// pause that a run left behind.
func (s *simulation) changes() map[string]plan.Changes {
	found := map[string]plan.Changes{}
	if s.seen.Paused {
		found[wholeCluster] = plan.Changes{InPlace: []string{"the pause"}}
	}
	wanted := desiredAt(s.seen.Versions(), &s.rendering)
	for part, objects := range wanted.Parts {
		for _, object := range objects {
			live, there := s.Objects[changes.ObjectName(object)]
			if !there || changes.IsTemplate(object.GetKind()) || part != v1alpha1.ControlPlaneName && !s.clusterctlxHas(part) {
				continue
			}
			if rollouttest.TemplateOf(live) != rollouttest.TemplateOf(object) {
				found[part] = plan.Changes{Rolling: []string{"another template"}}
			}
		}
	}
	return found
}

// clusterctlxHas reports whether clusterctl-x writes the objects of a group.
func (s *simulation) clusterctlxHas(group string) bool {
	return s.topology == nil || !s.topology.owned[group]
}

// arrived compares the cluster with what was asked for.
func (s *simulation) arrived() {
	s.t.Helper()
	got := s.cluster()
	want := v1alpha1.ClusterVersions{ControlPlane: s.target.ControlPlane, WorkerNodeGroups: map[string]v1alpha1.Version{}}
	for _, group := range s.target.WorkerNodeGroups {
		want.WorkerNodeGroups[group.Name] = group.Version
	}
	if diff := cmp.Diff(want, got.Versions(), cmp.Comparer(func(a, b v1alpha1.Version) bool { return a == b })); diff != "" {
		s.t.Errorf("kill %d: versions at the end (-want +got):\n%s", s.kill, diff)
	}
	if !got.Done() {
		s.t.Errorf("kill %d: the cluster is not done: %s", s.kill, got.Waiting())
	}
	s.seen = got
	if left := s.changes(); len(left) > 0 {
		s.t.Errorf("kill %d: changes that are left: %v", s.kill, left)
	}
}

// group is one of a target.
func group(name, version string) plan.TargetGroup {
	return plan.TargetGroup{Name: name, Version: v1alpha1.MustParseVersion(version), Machines: 1}
}

func pinned(group plan.TargetGroup) plan.TargetGroup { group.Pinned = true; return group }

func targetOf(controlPlane string, groups ...plan.TargetGroup) plan.Target {
	return plan.Target{ControlPlane: v1alpha1.MustParseVersion(controlPlane), ControlPlaneMachines: 1, WorkerNodeGroups: groups}
}

// killedAnywhere simulates an upgrade without a kill, and then with one after each of its
// actions. A kill changes nothing of where the cluster arrives, and no machine is replaced
// more often for it.
func killedAnywhere(t *testing.T, begin func(t *testing.T) *simulation) {
	t.Helper()
	whole := begin(t)
	whole.carryOut()
	whole.arrived()
	if whole.actions < 5 {
		t.Fatalf("there are %d actions only", whole.actions)
	}
	for kill := 1; kill < whole.actions; kill++ {
		s := begin(t)
		s.kill = kill
		s.carryOut()
		s.arrived()
		if diff := cmp.Diff(whole.replaced, s.replaced); diff != "" {
			t.Errorf("kill %d: how often machines are replaced (-without +with):\n%s", kill, diff)
		}
		if s.runs != 2 {
			t.Errorf("kill %d: %d runs", kill, s.runs)
		}
	}
}

// TestKilledAnywhere: a run that ends after any of its actions is followed by one that goes
// on from there.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	from := rollouttest.Versions("v1.31.1", "a", "v1.31.1", "b", "v1.31.1", "c", "v1.31.1", "old", "v1.31.1")
	for name, test := range map[string]struct {
		target    plan.Target
		templates []string
	}{
		"minors":                 {targetOf("v1.34.1", group("a", "v1.34.1"), group("b", "v1.34.1"), group("c", "v1.34.1"), group("old", "v1.34.1")), nil},
		"a pinned group":         {targetOf("v1.34.1", group("a", "v1.34.1"), pinned(group("b", "v1.31.1")), group("c", "v1.33.1"), group("old", "v1.34.1")), nil},
		"new and removed groups": {targetOf("v1.33.1", group("a", "v1.33.1"), group("new", "v1.33.1")), nil},
		"other templates":        {targetOf("v1.31.1", group("a", "v1.31.1"), group("b", "v1.31.1"), group("c", "v1.31.1"), group("old", "v1.31.1")), []string{v1alpha1.ControlPlaneName, "a", "b", "c"}},
		"templates and versions": {targetOf("v1.33.1", group("a", "v1.33.1"), pinned(group("b", "v1.31.1")), pinned(group("c", "v1.31.1")), pinned(group("old", "v1.31.1"))), []string{v1alpha1.ControlPlaneName, "a", "b", "c", "old"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killedAnywhere(t, func(t *testing.T) *simulation {
				t.Helper()
				s := &simulation{world: newWorld(t, from), target: test.target, replaced: map[string]int{}, rendering: rollouttest.Rendering{Templates: map[string]string{}}}
				for _, part := range test.templates {
					s.rendering.Templates[part] = "-new"
				}
				return s
			})
		})
	}
}
