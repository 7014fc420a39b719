package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestUnwell: of the parts that are not as wanted those count that nothing is at work on.
func TestUnwell(t *testing.T) {
	t.Parallel()
	never := func(state.Part) bool { return false }
	same := func(kind plan.Kind) plan.Step { return enginetest.Step(kind, "v1.32.1", "v1.32.1", "md-0") }
	partOfMany := enginetest.Step(plan.Workers, "v1.32.1", "v1.33.1", "md-0", "md-1")
	partOfMany.WorkerNodeGroups[0].UnderWay = true
	unseen := func(c *state.Cluster) {
		c.Pause = &state.Pause{}
		for i := range c.WorkerNodeGroups {
			c.WorkerNodeGroups[i].Unseen, c.WorkerNodeGroups[i].Settled = true, false
		}
	}
	tests := map[string]struct {
		steps     []plan.Step
		groups    []string
		change    func(*state.Cluster)
		tolerated func(state.Part) bool
		want      []string
	}{
		"no step":                    {nil, nil, nil, never, []string{"md-0", "md-1"}},
		"all are well enough":        {nil, nil, nil, func(state.Part) bool { return true }, nil},
		"one is well enough":         {nil, nil, nil, func(p state.Part) bool { return p.Name == "md-0" }, []string{"md-1"}},
		"about one group":            {nil, []string{"md-1"}, nil, never, []string{"md-1"}},
		"about another group":        {nil, []string{"md-2"}, nil, never, nil},
		"about one, and the control": {nil, []string{"md-1"}, func(c *state.Cluster) { without(&c.ControlPlane) }, never, []string{"control-plane", "md-1"}},
		"of others":                  {nil, nil, func(c *state.Cluster) { c.WorkerNodeGroups[0].Unmanaged = true }, never, []string{"md-1"}},
		"its version comes":          {[]plan.Step{enginetest.Step(plan.Workers, "v1.32.1", "v1.33.1", "md-0")}, nil, nil, never, []string{"md-0", "md-1"}},
		"it goes back":               {[]plan.Step{enginetest.Step(plan.Workers, "v1.33.1", "v1.32.1", "md-0")}, nil, nil, never, []string{"md-1"}},
		"it is removed":              {[]plan.Step{same(plan.RemoveWorkers)}, nil, nil, never, []string{"md-1"}},
		"its machines are replaced":  {[]plan.Step{same(plan.Template)}, nil, nil, never, []string{"md-1"}},
		"it changes in place":        {[]plan.Step{same(plan.InPlace)}, nil, nil, never, []string{"md-0", "md-1"}},
		"a step is under way":        {[]plan.Step{enginetest.UnderWay(enginetest.Step(plan.Workers, "v1.31.1", "v1.32.1", "md-0"))}, nil, nil, never, []string{"md-1"}},
		"one of a step is under way": {[]plan.Step{partOfMany}, nil, nil, never, []string{"md-1"}},
		"paused, and complete": {nil, nil, func(c *state.Cluster) {
			*c = enginetest.NewWorld(enginetest.Versions("v1.32.1", "md-0", "v1.32.1")).Cluster()
			unseen(c)
		}, never, nil},
		"unseen without a pause": {nil, nil, func(c *state.Cluster) {
			*c = enginetest.NewWorld(enginetest.Versions("v1.32.1", "md-0", "v1.32.1")).Cluster()
			unseen(c)
			c.Pause = nil
		}, never, []string{"md-0"}},
		"paused, and a machine is missing": {nil, nil, unseen, never, []string{"md-0", "md-1"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			versions := enginetest.Versions("v1.32.1", "md-0", "v1.32.1", "md-1", "v1.32.1")
			cluster := enginetest.NewWorld(versions).Cluster()
			for i := range cluster.WorkerNodeGroups {
				without(&cluster.WorkerNodeGroups[i])
			}
			if test.change != nil {
				test.change(&cluster)
			}
			var got []string
			for _, part := range Unwell(cluster, enginetest.Plan(versions, versions, test.steps...), test.groups, test.tolerated) {
				got = append(got, part.Name)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("unwell (-want +got):\n%s", diff)
			}
		})
	}
}

// TestHoldIsRecorded: that an upgrade waits is recorded until it is recorded, and taken
// back by a run on the whole cluster alone.
func TestHoldIsRecorded(t *testing.T) {
	t.Parallel()
	hold := state.Hold{Point: state.BeforeControlPlane, Reason: "later"}
	tests := map[string]struct {
		holds    []state.Hold
		recorded bool
		groups   []string
		want     []*state.Hold
	}{
		"no hold":                                {nil, false, nil, nil},
		"a hold":                                 {[]state.Hold{hold}, false, nil, []*state.Hold{&hold}},
		"a hold, recorded":                       {[]state.Hold{hold}, true, nil, []*state.Hold{&hold}},
		"no hold any more":                       {nil, true, nil, []*state.Hold{nil}},
		"no hold any more, for a run on a group": {nil, true, []string{"md-0"}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, enginetest.Versions("v1.33.1", "md-0", "v1.32.1"))
			r := w.run(enginetest.Plan(enginetest.Versions("v1.32.1", "md-0", "v1.32.1"), enginetest.Versions("v1.34.1", "md-0", "v1.32.1"), twoMinors()...), 1, nil)
			r.Groups = test.groups
			r.at(1)
			w.seen.Holds, w.seen.ToldHeld = test.holds, test.recorded
			for range 2 {
				if _, err := r.advance(); err != nil {
					t.Fatal(err)
				}
				w.seen.ToldHeld = len(test.holds) > 0 || test.recorded && len(test.groups) > 0
			}
			if diff := cmp.Diff(test.want, w.holds); diff != "" {
				t.Errorf("holds that were recorded (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnattached: machines of others, and those of groups that are out of the topology,
// are what Cluster API does not look at.
func TestUnattached(t *testing.T) {
	t.Parallel()
	var got []string
	for _, part := range unattached(state.Cluster{WorkerNodeGroups: []state.Part{
		{Name: "in the topology"}, {Name: "of others", Unmanaged: true}, {Name: "out of it", Detached: true},
	}}).WorkerNodeGroups {
		got = append(got, part.Name)
	}
	if diff := cmp.Diff([]string{"of others", "out of it"}, got); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}
