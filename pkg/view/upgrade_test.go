package view_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

var errFull = errors.New("no space left")

// full takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// anUpgrade takes a cluster like aCluster from v1.33.3 to v1.34.2.
func anUpgrade() plan.Plan {
	return aPlan(
		plan.Step{Kind: plan.ControlPlane, From: at("v1.33.3"), To: at("v1.34.2"), MachinesReplaced: 1},
		groupStep(plan.Workers, plan.Group{Name: "md-0", From: at("v1.33.3"), To: at("v1.34.2"), MachinesReplaced: 2}),
	)
}

// upgrading is the cluster with so many machines of each part at the new
// version, and the others at the old one.
func upgrading(controlPlane, workers int) state.Cluster {
	return aCluster(func(c *state.Cluster) {
		c.ControlPlane = upgradingPart(c.ControlPlane, 1, controlPlane)
		c.WorkerNodeGroups[0] = upgradingPart(c.WorkerNodeGroups[0], 2, workers)
	})
}

// awaitingHealth returns a cluster before a step that waits until parts of it are healthy.
func awaitingHealth(parts ...string) state.Cluster {
	c := upgrading(0, 1)
	c.HealthWait = &state.HealthWait{Parts: parts, Since: now, Until: now.Add(10 * time.Minute)}
	return c
}

func upgradingPart(part state.Part, replicas, fresh int) state.Part {
	part.Version, part.Reason, part.Settled, part.Replicas, part.Machines = at("v1.34.2"), "it goes on", true, replicas, nil
	for i := range replicas {
		version := at("v1.33.3")
		if i < fresh {
			version = at("v1.34.2")
		}
		part.Machines = append(part.Machines, state.Machine{Name: part.Name + "-" + string(rune('a'+i)), Phase: "Running", Version: version, Kubelet: version, Ready: true})
	}
	return part
}

// TestProgressUpgrade says each step when it begins, and what is waited for
// when nothing happens.
func TestProgressUpgrade(t *testing.T) {
	t.Parallel()
	type shown struct {
		after   time.Duration
		step    int
		cluster state.Cluster
	}
	tests := map[string]struct {
		shown []shown
		want  string
	}{
		"step by step": {
			[]shown{{0, 0, upgrading(0, 0)}, {time.Second, 1, upgrading(1, 0)}, {time.Second, 1, upgrading(1, 1)}, {time.Second, 1, upgrading(1, 1)}, {time.Second, 2, upgrading(1, 2)}},
			`   0s  control-plane v1.34.2: 0 of 1 machines updated, 1 serving
   0s  md-0 v1.34.2: 0 of 2 machines updated, 2 serving
   0s  step 1 of 2: the control plane from v1.33.3 to v1.34.2
   1s  control-plane v1.34.2: 1 of 1 machines ready
   1s  step 2 of 2: md-0 from v1.33.3 to v1.34.2
   2s  md-0 v1.34.2: 1 of 2 machines updated, 2 serving
   4s  md-0 v1.34.2: 2 of 2 machines ready
   4s  all steps are done
`,
		},
		// The step under way is waited for, and not what a later one does.
		"nothing happens": {
			[]shown{{0, 1, upgrading(0, 1)}, {65 * time.Second, 1, upgrading(0, 1)}},
			`   0s  control-plane v1.34.2: 0 of 1 machines updated, 1 serving
   0s  md-0 v1.34.2: 1 of 2 machines updated, 2 serving
   0s  step 2 of 2: md-0 from v1.33.3 to v1.34.2
  30s  waiting for md-0: 1 of 2 machines updated to v1.34.2, 2 serving; it goes on
 1m0s  waiting for md-0: 1 of 2 machines updated to v1.34.2, 2 serving; it goes on
`,
		},
		"a step waits until the cluster is healthy": {
			[]shown{{0, 1, awaitingHealth("md-0")}, {31 * time.Second, 1, upgrading(0, 1)}, {0, 1, awaitingHealth("control-plane", "md-0", "md-1")}, {0, 1, awaitingHealth()}},
			`   0s  control-plane v1.34.2: 0 of 1 machines updated, 1 serving
   0s  md-0 v1.34.2: 1 of 2 machines updated, 2 serving
   0s  step 2 of 2 waits at most 10m0s until md-0 is healthy: Cluster API creates no worker machines while the control plane rolls
  30s  waiting for md-0: 1 of 2 machines updated to v1.34.2, 2 serving; it goes on
  31s  step 2 of 2: md-0 from v1.33.3 to v1.34.2
  31s  step 2 of 2 waits at most 10m0s until control-plane, md-0 and md-1 are healthy: Cluster API creates no worker machines while the control plane rolls
  31s  step 2 of 2 waits at most 10m0s until the cluster is healthy: Cluster API creates no worker machines while the control plane rolls
`,
		},
		"steps beside the others go on": {
			[]shown{{0, 2, upgrading(1, 1)}, {31 * time.Second, 2, upgrading(1, 2)}},
			`   0s  control-plane v1.34.2: 1 of 1 machines ready
   0s  md-0 v1.34.2: 1 of 2 machines updated, 2 serving
   0s  every step was started
  30s  waiting for md-0: 1 of 2 machines updated to v1.34.2, 2 serving; it goes on
  31s  md-0 v1.34.2: 2 of 2 machines ready
  31s  all steps are done
`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var got strings.Builder
				p := view.NewProgress(&got, view.Lines, view.Style{})
				for _, s := range test.shown {
					time.Sleep(s.after) // passes at once in a bubble of synctest
					p.ShowUpgrade(anUpgrade(), s.step, s.cluster)
				}
				p.Close()
				if diff := cmp.Diff(test.want, got.String()); diff != "" {
					t.Errorf("lines (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestProgressLeft shows the steps that are left, with the first one of them.
func TestProgressLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got strings.Builder
		p := view.NewProgress(&got, view.Lines, view.Style{})
		left := anUpgrade()
		p.ShowLeft(left, upgrading(0, 0))
		left.Steps = left.Steps[1:]
		time.Sleep(time.Second)
		p.ShowLeft(left, upgrading(1, 0))
		time.Sleep(31 * time.Second)
		p.ShowLeft(plan.Plan{}, upgrading(1, 2))
		p.Close()
		const want = `   0s  control-plane v1.34.2: 0 of 1 machines updated, 1 serving
   0s  md-0 v1.34.2: 0 of 2 machines updated, 2 serving
   0s  2 steps left: the control plane from v1.33.3 to v1.34.2
   1s  control-plane v1.34.2: 1 of 1 machines ready
   1s  1 step left: md-0 from v1.33.3 to v1.34.2
  31s  waiting for md-0: 0 of 2 machines updated to v1.34.2, 2 serving; it goes on
  32s  md-0 v1.34.2: 2 of 2 machines ready
`
		if diff := cmp.Diff(want, got.String()); diff != "" {
			t.Errorf("lines (-want +got):\n%s", diff)
		}
	})
}

// TestProgressUpgradeTerminal draws the step above the parts, and the time each second.
func TestProgressUpgradeTerminal(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		show func(*view.Progress)
		want string
	}{
		"upgrade": {func(p *view.Progress) { p.ShowUpgrade(anUpgrade(), 1, upgrading(1, 1)) }, "█████░░░░░ step 2 of 2: md-0 from v1.33.3 to v1.34.2\n✓ control-plane v1.34.2: 1 of 1 machines ready\n… md-0 v1.34.2: 1 of 2 machines updated, 2 serving\n0s  waiting for md-0: 1 of 2 machines updated to v1.34.2, 2 serving; it goes on\n"},
		"done":    {func(p *view.Progress) { p.ShowUpgrade(anUpgrade(), 2, upgrading(1, 2)) }, "██████████ all steps are done\n✓ control-plane v1.34.2: 1 of 1 machines ready\n✓ md-0 v1.34.2: 2 of 2 machines ready\n"},
		"a step is done": {func(p *view.Progress) {
			p.ShowUpgrade(anUpgrade(), 0, upgrading(0, 0))
			time.Sleep(1500 * time.Millisecond) // passes at once in a bubble of synctest
			p.ShowUpgrade(anUpgrade(), 1, upgrading(1, 0))
		}, "░░░░░░░░░░ step 1 of 2: the control plane from v1.33.3 to v1.34.2\n… control-plane v1.34.2: 0 of 1 machines updated, 1 serving\n… md-0 v1.34.2: 0 of 2 machines updated, 2 serving\n0s  waiting for control-plane: 0 of 1 machines updated to v1.34.2, 1 serving; it goes on\n" +
			"\r\x1b[4A\x1b[J░░░░░░░░░░ step 1 of 2: the control plane from v1.33.3 to v1.34.2\n… control-plane v1.34.2: 0 of 1 machines updated, 1 serving\n… md-0 v1.34.2: 0 of 2 machines updated, 2 serving\n1s  waiting for control-plane: 0 of 1 machines updated to v1.34.2, 1 serving; it goes on\n" +
			"\r\x1b[4A\x1b[J✓ step 1 of 2: the control plane from v1.33.3 to v1.34.2, 2s\n█████░░░░░ step 2 of 2: md-0 from v1.33.3 to v1.34.2\n✓ control-plane v1.34.2: 1 of 1 machines ready\n… md-0 v1.34.2: 0 of 2 machines updated, 2 serving\n2s  waiting for md-0: 0 of 2 machines updated to v1.34.2, 2 serving; it goes on\n"},
		"left": {func(p *view.Progress) { p.ShowLeft(anUpgrade(), upgrading(1, 2)) }, "2 steps left: the control plane from v1.33.3 to v1.34.2\n✓ control-plane v1.34.2: 1 of 1 machines ready\n✓ md-0 v1.34.2: 2 of 2 machines ready\n"},
		"none": {func(p *view.Progress) { p.ShowLeft(plan.Plan{}, upgrading(1, 2)) }, "✓ control-plane v1.34.2: 1 of 1 machines ready\n✓ md-0 v1.34.2: 2 of 2 machines ready\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var got strings.Builder
				p := view.NewProgress(&got, view.Terminal, view.Style{})
				test.show(p)
				p.Close()
				if diff := cmp.Diff(test.want, got.String()); diff != "" {
					t.Errorf("drawn (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestProgressUpgradeJSON has a line for each change, with the step under way;
// it is done when nothing is waited for any more.
func TestProgressUpgradeJSON(t *testing.T) {
	t.Parallel()
	type event struct {
		Kind        string
		Step, Steps int
		Done        bool
		Waiting     string
	}
	waiting := func(ready string) string {
		return "md-0: " + ready + " of 2 machines updated to v1.34.2, 2 serving; it goes on"
	}
	tests := map[string]struct {
		show func(*view.Progress)
		want []event
	}{
		"upgrade": {
			func(p *view.Progress) {
				p.ShowUpgrade(anUpgrade(), 0, upgrading(0, 0))
				p.ShowUpgrade(anUpgrade(), 1, upgrading(1, 1))
				p.ShowUpgrade(anUpgrade(), 1, upgrading(1, 1))
				p.ShowUpgrade(anUpgrade(), 2, upgrading(1, 2))
			},
			[]event{
				{"ClusterEvent", 1, 2, false, "control-plane: 0 of 1 machines updated to v1.34.2, 1 serving; it goes on"},
				{"ClusterEvent", 2, 2, false, waiting("1")}, {"ClusterEvent", 2, 2, true, ""},
			},
		},
		"steps beside the others go on": {
			func(p *view.Progress) {
				p.ShowUpgrade(anUpgrade(), 2, upgrading(1, 1))
				p.ShowUpgrade(anUpgrade(), 2, upgrading(1, 2))
			},
			[]event{{"ClusterEvent", 2, 2, false, waiting("1")}, {"ClusterEvent", 2, 2, true, ""}},
		},
		"left": {
			func(p *view.Progress) {
				p.ShowLeft(anUpgrade(), upgrading(1, 0))
				p.ShowLeft(plan.Plan{}, upgrading(1, 2))
			},
			[]event{{"ClusterEvent", 1, 2, false, waiting("0")}, {"ClusterEvent", 0, 0, true, ""}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var written strings.Builder
			p := view.NewProgress(&written, view.JSON, view.Style{})
			test.show(p)
			p.Close()
			var got []event
			for line := range strings.Lines(written.String()) {
				var e event
				if err := json.Unmarshal([]byte(line), &e); err != nil {
					t.Fatal(err)
				}
				got = append(got, e)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}
