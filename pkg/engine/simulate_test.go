package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// simulation is a cluster that goes to a target, whatever ends the runs that take it there.
type simulation struct {
	*world
	of *enginetest.Simulation
	// actions counts those that were done, of all runs; at kill the run ends.
	actions, kill int
	// leaves is true where each run ends as soon as it may leave.
	leaves bool
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
		if turn.Again && turn.MayLeave {
			s.t.Fatalf("kill %d, run %d: a turn with another one to come may be left", s.kill, s.runs)
		}
		if !s.doUntilKilled(r, turn.Actions) {
			return false, false
		}
		if !turn.Again || s.postponed {
			return turn.Done, !s.leave(turn)
		}
	}
}

// leave reports whether the run ends because it may leave. Nothing is half-way then.
func (s *simulation) leave(turn Turn) bool {
	s.t.Helper()
	if !s.leaves || !turn.MayLeave || s.postponed {
		return false
	}
	if now := s.of.Cluster(); now.Paused {
		s.t.Errorf("run %d leaves the cluster paused", s.runs)
	}
	return true
}

// doUntilKilled does actions, and is false where the run ends after one of them.
func (s *simulation) doUntilKilled(r *run, actions []Action) bool {
	s.postponed = false
	for _, action := range actions {
		s.actions++
		if s.of.Topology == nil || !s.doTransfer(r, action) {
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
	if err := s.of.Tick(); err != nil {
		s.t.Errorf("kill %d: %v", s.kill, err)
	}
	s.seen = s.of.Cluster()
}

// plan is the program from where the cluster is.
func (s *simulation) plan() Program {
	s.t.Helper()
	s.seen = s.of.Cluster()
	p, desired, err := s.of.Plan()
	if err != nil {
		s.t.Fatalf("kill %d, run %d: %v", s.kill, s.runs, err)
	}
	program := Program{Plan: p, Concurrency: 2, Topology: s.of.Topology != nil}
	for _, stage := range desired {
		program.Desired = append(program.Desired, Objects{Cluster: stage.Cluster, Parts: stage.Parts})
	}
	return program
}

// arrived compares the cluster with what was asked for.
func (s *simulation) arrived() {
	s.t.Helper()
	if err := s.of.Arrived(); err != nil {
		s.t.Errorf("kill %d: %v", s.kill, err)
	}
}

// simulationOf has the world of a simulation.
func simulationOf(t *testing.T, of *enginetest.Simulation) *simulation {
	t.Helper()
	s := &simulation{world: newWorld(t, enginetest.Versions("v1.31.1")), of: of}
	s.world.World = of.World
	if of.Topology != nil {
		s.world.takes = func() bool { return of.Topology.Takes(of) }
	}
	return s
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
		if diff := cmp.Diff(whole.of.Replaced, s.of.Replaced); diff != "" {
			t.Errorf("kill %d: how often machines are replaced (-without +with):\n%s", kill, diff)
		}
		if s.runs != 2 {
			t.Errorf("kill %d: %d runs", kill, s.runs)
		}
	}
}

// leftAnywhere simulates an upgrade in one run, and in runs that each end as soon as they
// may leave. They arrive at the same cluster, and replace the same machines.
func leftAnywhere(t *testing.T, begin func(t *testing.T) *simulation) {
	t.Helper()
	whole, s := begin(t), begin(t)
	whole.carryOut()
	s.leaves = true
	s.carryOut()
	s.arrived()
	if diff := cmp.Diff(whole.of.Replaced, s.of.Replaced); diff != "" {
		t.Errorf("how often machines are replaced (-in one run +in %d runs):\n%s", s.runs, diff)
	}
	if s.runs < 2 && len(s.of.Replaced) > 0 {
		t.Error("machines are replaced, and no run left before")
	}
}

// TestKilledAnywhere: a run that ends after any of its actions is followed by one that goes
// on from there.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	from := enginetest.Versions("v1.31.1", "a", "v1.31.1", "b", "v1.31.1", "c", "v1.31.1", "old", "v1.31.1")
	for name, test := range map[string]struct {
		target    plan.Target
		templates []string
	}{
		"minors":                 {enginetest.Target("v1.34.1", enginetest.TargetGroup("a", "v1.34.1"), enginetest.TargetGroup("b", "v1.34.1"), enginetest.TargetGroup("c", "v1.34.1"), enginetest.TargetGroup("old", "v1.34.1")), nil},
		"a pinned group":         {enginetest.Target("v1.34.1", enginetest.TargetGroup("a", "v1.34.1"), enginetest.PinnedGroup("b", "v1.31.1"), enginetest.TargetGroup("c", "v1.33.1"), enginetest.TargetGroup("old", "v1.34.1")), nil},
		"new and removed groups": {enginetest.Target("v1.33.1", enginetest.TargetGroup("a", "v1.33.1"), enginetest.TargetGroup("new", "v1.33.1")), nil},
		"other templates":        {enginetest.Target("v1.31.1", enginetest.TargetGroup("a", "v1.31.1"), enginetest.TargetGroup("b", "v1.31.1"), enginetest.TargetGroup("c", "v1.31.1"), enginetest.TargetGroup("old", "v1.31.1")), []string{v1alpha1.ControlPlaneName, "a", "b", "c"}},
		"templates and versions": {enginetest.Target("v1.33.1", enginetest.TargetGroup("a", "v1.33.1"), enginetest.PinnedGroup("b", "v1.31.1"), enginetest.PinnedGroup("c", "v1.31.1"), enginetest.PinnedGroup("old", "v1.31.1")), []string{v1alpha1.ControlPlaneName, "a", "b", "c", "old"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin := func(t *testing.T) *simulation {
				t.Helper()
				of := enginetest.NewSimulation(from, test.target)
				for _, part := range test.templates {
					of.Rendering.Templates[part] = "-new"
				}
				return simulationOf(t, of)
			}
			killedAnywhere(t, begin)
			leftAnywhere(t, begin)
		})
	}
}
