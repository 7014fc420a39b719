package plan_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/cluster-api/exp/topology/desiredstate"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// clusterAPI is the plan that Cluster API makes for a managed topology: the
// versions of the control plane, and those that all worker node groups go
// through, which it counts from the oldest of them.
func clusterAPI(ctx context.Context, in plan.Input, oldest release) (upgrades, error) {
	listed := slices.Clone(in.Releases)
	slices.SortFunc(listed, release.Compare)
	texts := make([]string, len(listed))
	for i, v := range listed {
		texts[i] = v.String()
	}
	from, to := in.Start.ControlPlane.Version.String(), in.Target.ControlPlane.String()
	controlPlane, workers, err := desiredstate.GetUpgradePlanFromClusterClassVersions(texts)(ctx, to, from, oldest.String())
	if err != nil {
		return upgrades{}, err
	}
	workers, err = desiredstate.DefaultAndValidateUpgradePlans(to, from, oldest.String(), controlPlane, workers)
	return upgrades{controlPlane, workers}, err
}

type upgrades struct{ ControlPlane, Workers []string }

// ours are the versions of the control plane, and those to which any group goes.
func ours(p plan.Plan) upgrades {
	var u upgrades
	for _, step := range p.Steps {
		if step.Kind == plan.ControlPlane {
			u.ControlPlane = append(u.ControlPlane, step.To.String())
		}
		for _, group := range step.WorkerNodeGroups {
			if to := group.To.String(); !slices.Contains(u.Workers, to) {
				u.Workers = append(u.Workers, to)
			}
		}
	}
	return u
}

// randomTopology is a cluster that is within the policy, all groups of which
// follow. From 1.25 on: Cluster API lets older nodes lag by three minors too,
// Kubernetes by two. Each minor has up to three patches; groups are at one
// version, or between two.
func randomTopology(r *rand.Rand) plan.Input {
	first := 28 + r.IntN(10)
	last := first + r.IntN(9)
	in := plan.Input{Start: plan.Start{WorkerNodeGroups: map[string]plan.Part{}}}
	patches := map[int]int{}
	for minor := first - 3; minor <= last+1; minor++ {
		patches[minor] = r.IntN(3)
		for patch := range patches[minor] + 1 {
			in.Releases = append(in.Releases, versionOf(minor*100+patch))
		}
	}
	some := func(minor int) int { return minor*100 + r.IntN(patches[minor]+1) }
	from := some(first)
	to := max(from, some(last))
	in.Start.ControlPlane, in.Target.ControlPlane, in.Target.ControlPlaneMachines = part(versionOf(from), 3), versionOf(to), 3
	for i := range 1 + r.IntN(4) {
		at := min(from, some(first-r.IntN(4)))
		name := string(rune('a' + i))
		in.Start.WorkerNodeGroups[name] = part(versionOf(at), 3)
		in.Target.WorkerNodeGroups = append(in.Target.WorkerNodeGroups, plan.TargetGroup{Name: name, Version: versionOf(to), Machines: 3})
	}
	return in
}

// uniform has all groups at the version of the first one.
func uniform(in plan.Input) plan.Input {
	for name := range in.Start.WorkerNodeGroups {
		in.Start.WorkerNodeGroups[name] = in.Start.WorkerNodeGroups["a"]
	}
	return in
}

func oldestGroup(in plan.Input) release {
	var oldest release
	for _, group := range in.Start.WorkerNodeGroups {
		if oldest.IsZero() || group.Version.Before(oldest) {
			oldest = group.Version
		}
	}
	return oldest
}

// TestClusterAPI: for groups at one version the plan is Cluster API's.
func TestClusterAPI(t *testing.T) {
	t.Parallel()
	empty, hops := 0, 0
	const cases = 10000
	for i := range cases {
		in := uniform(randomTopology(rand.New(rand.NewPCG(7, uint64(i)))))
		want, err := clusterAPI(t.Context(), in, oldestGroup(in))
		if err != nil {
			t.Fatalf("case %d: %v\n%s", i, err, describe(in))
		}
		p, err := plan.Compute(in)
		if err != nil {
			t.Fatalf("case %d: %v\n%s", i, err, describe(in))
		}
		if diff := cmp.Diff(want, ours(p), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("case %d (-Cluster API +ours):\n%s\n%s", i, diff, describe(in))
		}
		if p.Empty() {
			empty++
		}
		if len(want.Workers) > 1 {
			hops++
		}
	}
	t.Logf("%d cases: %d have nothing to do, %d have hops", cases, empty, hops)
	if empty > cases/10 || hops < cases/4 {
		t.Errorf("the cases say little: of %d %d have nothing to do, and %d have hops", cases, empty, hops)
	}
}

// TestClusterAPIRange: Cluster API has all groups stop every three minors from
// where the oldest of them is. That is our plan as well, unless it costs a newer
// group a rollout more than it needs alone: Cluster API makes that one, and our
// plan does not (as few rollouts as possible of each group come first).
func TestClusterAPIRange(t *testing.T) {
	t.Parallel()
	equal, different := 0, 0
	const cases = 10000
	for i := range cases {
		in := randomTopology(rand.New(rand.NewPCG(8, uint64(i))))
		oldest := oldestGroup(in)
		theirs, err := clusterAPI(t.Context(), in, oldest)
		if err != nil {
			t.Fatalf("case %d: %v\n%s", i, err, describe(in))
		}
		p, err := plan.Compute(in)
		if err != nil {
			t.Fatalf("case %d: %v\n%s", i, err, describe(in))
		}
		got := ours(p)
		same := true
		for _, group := range in.Start.WorkerNodeGroups {
			same = same && rolloutsOnTheirStops(group.Version, oldest, in.Target.ControlPlane) == rolloutsAlone(group.Version, in.Target.ControlPlane)
		}
		if same {
			equal++
			if diff := cmp.Diff(theirs, got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("case %d (-Cluster API +ours):\n%s\n%s", i, diff, describe(in))
			}
			continue
		}
		different++
		if diff := cmp.Diff(theirs.ControlPlane, got.ControlPlane, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("case %d: the control plane (-Cluster API +ours):\n%s\n%s", i, diff, describe(in))
		}
		if fmt.Sprint(theirs.Workers) == fmt.Sprint(got.Workers) || len(got.Workers) < len(theirs.Workers) {
			t.Fatalf("case %d: Cluster API %v, ours %v\n%s", i, theirs.Workers, got.Workers, describe(in))
		}
		for name, group := range in.Start.WorkerNodeGroups {
			rollouts := 0
			for _, step := range p.Steps {
				if step.Kind == plan.Workers && step.Moves(name) {
					rollouts++
				}
			}
			if rollouts != rolloutsAlone(group.Version, in.Target.ControlPlane) || rollouts > rolloutsOnTheirStops(group.Version, oldest, in.Target.ControlPlane) {
				t.Fatalf("case %d: %s has %d rollouts\n%s", i, name, rollouts, describe(in))
			}
		}
	}
	t.Logf("%d cases: %d as Cluster API's, %d with fewer rollouts", cases, equal, different)
	if equal < cases/4 || different < cases/10 {
		t.Errorf("the cases say little: %d equal, %d different", equal, different)
	}
}

// rolloutsAlone are as few as a group needs that may lag by three minors.
func rolloutsAlone(from, to release) int {
	if from == to {
		return 0
	}
	return max(1, (number(to)/100-number(from)/100+2)/3)
}

// rolloutsOnTheirStops are as few as it needs when groups stop only each three
// minors from the oldest group, and at the end.
func rolloutsOnTheirStops(from, oldest, to release) int {
	at, end := number(from)/100, number(to)/100
	if end <= at+3 {
		return rolloutsAlone(from, to)
	}
	behind := at - number(oldest)/100
	next := at + 3 - behind%3
	return 1 + (end-next+2)/3
}

// TestClusterAPIDiffers: where Cluster API's plan is not legal, or there is none.
func TestClusterAPIDiffers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in           plan.Input
		theirs, ours upgrades
		problem      string
	}{
		"the policy for nodes older than 1.25": {
			in:     input("1.23", "1.26", "a 1.23 1.26"),
			theirs: upgrades{[]string{"v1.24.0", "v1.25.0", "v1.26.0"}, []string{"v1.26.0"}},
			ours:   upgrades{[]string{"v1.24.0", "v1.25.0", "v1.26.0"}, []string{"v1.25.0", "v1.26.0"}},
		},
		"the policy of the cluster": {
			in:     with(input("1.31", "1.33", "a 1.31 1.33"), maxLag(1)),
			theirs: upgrades{[]string{"v1.32.0", "v1.33.0"}, []string{"v1.33.0"}},
			ours:   upgrades{[]string{"v1.32.0", "v1.33.0"}, []string{"v1.32.0", "v1.33.0"}},
		},
		"groups at several versions": {
			in:     input("1.31", "1.35", "a 1.28 1.35", "b 1.30 1.35"),
			theirs: upgrades{[]string{"v1.32.0", "v1.33.0", "v1.34.0", "v1.35.0"}, []string{"v1.31.0", "v1.34.0", "v1.35.0"}},
			ours:   upgrades{[]string{"v1.32.0", "v1.33.0", "v1.34.0", "v1.35.0"}, []string{"v1.31.0", "v1.33.0", "v1.35.0"}},
		},
		// They return neither a plan nor an error.
		"groups that are too old already": {
			in:     input("1.35", "1.35", "a 1.31 1.35"),
			theirs: upgrades{},
			ours:   upgrades{nil, []string{"v1.35.0"}},
		},
		"only the build is another": {
			in:      with(input("1.31.2+a.1", "1.31.2+a.2", "a 1.31.2+a.1 1.31.2+a.2"), bundles("1.31.2+a.1", "1.31.2+a.2")),
			ours:    upgrades{[]string{"v1.31.2+a.2"}, []string{"v1.31.2+a.2"}},
			problem: "invalid ControlPlane upgrade plan: control plane upgrade plan must end with version v1.31.2+a.2, ends with v1.31.2+a.1 instead",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			theirs, err := clusterAPI(t.Context(), test.in, oldestGroup(test.in))
			problem := ""
			if err != nil {
				theirs, problem = upgrades{}, err.Error()
			}
			p, err := plan.Compute(test.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]any{test.theirs, test.problem, test.ours}, []any{theirs, problem, ours(p)}, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("Cluster API's plan, its error, our plan (-want +got):\n%s", diff)
			}
		})
	}
}
