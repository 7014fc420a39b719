package view

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestLeft: a run that ends before its plan says what goes on, and what waits.
func TestLeft(t *testing.T) {
	t.Parallel()
	from, to := v1alpha1.MustParseVersion("v1.33.1"), v1alpha1.MustParseVersion("v1.34.1")
	group := func(name string) plan.Group { return plan.Group{Name: name, From: from, To: from} }
	steps := []plan.Step{
		{Kind: plan.Template, Concurrent: true, WorkerNodeGroups: []plan.Group{group("a"), group("b"), group("c")}},
		{Kind: plan.ControlPlane, From: from, To: to},
	}
	const again = ": run the same command again to continue"
	tests := map[string]struct {
		progress engine.Status
		want     string
	}{
		"nothing was begun": {
			engine.Status{},
			"nothing was started; still to do: step 1 (new machines for a at v1.33.1, new machines for b at v1.33.1, new machines for c at v1.33.1), step 2 (the control plane from v1.33.1 to v1.34.1)" + again,
		},
		"the next step waits": {
			engine.Status{Step: 1},
			"nothing is under way; still to do: step 2 (the control plane from v1.33.1 to v1.34.1)" + again,
		},
		"nothing is queued": {
			engine.Status{Step: 1, Begun: []string{v1alpha1.ControlPlaneName}},
			"Cluster API continues with step 2 (the control plane from v1.33.1 to v1.34.1)" + again,
		},
		"groups are queued": {
			engine.Status{Step: 1, Queued: []string{"b", "c"}},
			"Cluster API continues with the changes that wait for no step; still to do: new machines for b, c, step 2 (the control plane from v1.33.1 to v1.34.1)" + again,
		},
		"groups are queued after the last step": {
			engine.Status{Step: 2, Queued: []string{"c"}},
			"Cluster API continues with what was started; still to be replaced are the machines of c" + again,
		},
		"everything was begun": {engine.Status{Step: 2}, "every step was started, and Cluster API continues with them" + again},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.progress.Plan = plan.Plan{Steps: steps}
			if diff := cmp.Diff(test.want, Left(test.progress)); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNotWaitedFor: a run that does not wait says what keeps the next step from beginning.
func TestNotWaitedFor(t *testing.T) {
	t.Parallel()
	from, to := v1alpha1.MustParseVersion("v1.33.1"), v1alpha1.MustParseVersion("v1.34.1")
	steps := []plan.Step{{Kind: plan.ControlPlane, From: from, To: to}}
	const left = "nothing was started; still to do: step 1 (the control plane from v1.33.1 to v1.34.1): run the same command again to continue"
	for name, test := range map[string]struct {
		cluster state.Cluster
		want    string
	}{
		"nothing keeps it":  {state.Cluster{Name: "c"}, left},
		"a hold":            {state.Cluster{Name: "c", Held: &state.Hold{Point: state.BeforeUpgrade, By: "ops", Annotation: "hold"}}, "waiting for the hold to be lifted: held before upgrade by ops; removing the annotation hold lifts it; " + left},
		"an unhealthy part": {state.Cluster{Name: "c", HealthWait: &state.HealthWait{Parts: []string{"a"}}}, "waiting for : 0 of 0 machines ready; Cluster API does not report it as available yet; " + left},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := NotWaitedFor(engine.Status{Plan: plan.Plan{Steps: steps}, Cluster: test.cluster})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEndOfUpgrade(t *testing.T) {
	t.Parallel()
	from, to := v1alpha1.MustParseVersion("v1.33.1"), v1alpha1.MustParseVersion("v1.34.1")
	p := plan.Plan{To: v1alpha1.ClusterVersions{ControlPlane: to}, Steps: []plan.Step{{Kind: plan.Workers, WorkerNodeGroups: []plan.Group{{Name: "a", From: from, To: to}}}}}
	for name, test := range map[string]struct {
		done, whole bool
		want        string
	}{
		"all of the cluster": {true, true, " is at v1.34.1 after 3s"},
		"a part":             {true, false, ": done after 3s: " + Steps(p.Steps)},
		"not waited for":     {false, true, ": " + NotWaitedFor(engine.Status{Plan: p})},
	} {
		if diff := cmp.Diff(test.want, EndOfUpgrade(p, engine.Status{Plan: p, Done: test.done}, test.whole, 3*time.Second)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
