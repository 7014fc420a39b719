package upgradeplan

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/cluster-api/exp/topology/desiredstate"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

func versions(texts ...string) []v1alpha1.Version {
	var all []v1alpha1.Version
	for _, text := range texts {
		all = append(all, v1alpha1.MustParseVersion(text))
	}
	return all
}

func texts(versions []v1alpha1.Version) []string {
	var all []string
	for _, version := range versions {
		all = append(all, version.String())
	}
	return all
}

func known() []v1alpha1.Version {
	return versions("v1.34.4", "v1.30.14", "v1.31.14", "v1.31.13", "v1.32.13", "v1.33.13", "v1.33.12", "v1.34.3", "v1.35.4", "v1.36.3+b", "v1.36.3+a", "v1.36.0-rc.1")
}

func TestGenerate(t *testing.T) {
	t.Parallel()
	type result struct {
		ControlPlane, Workers []string
		Err                   string
	}
	tests := map[string]struct {
		from, workers, to string
		settings          map[string]string
		want              result
	}{
		"newest patch of each minor, workers left to Cluster API": {
			"v1.30.14", "v1.30.14", "v1.34.4", nil,
			result{ControlPlane: []string{"v1.31.14", "v1.32.13", "v1.33.13", "v1.34.4"}},
		},
		"to the target exactly":                                          {"v1.32.13", "v1.32.13", "v1.34.3", nil, result{ControlPlane: []string{"v1.33.13", "v1.34.3"}}},
		"a minor that no bundle has":                                     {"v1.36.3+a", "", "v1.37.0", nil, result{Err: "no versions bundle has v1.37.0: ask for a version that one has, or give the server a file that has it with --bundles"}},
		"a patch that no bundle has":                                     {"v1.33.13", "v1.33.13", "v1.34.99", nil, result{Err: "no versions bundle has v1.34.99: ask for a version that one has, or give the server a file that has it with --bundles"}},
		"workers follow a control plane at a version that no bundle has": {"v1.35.99", "v1.34.4", "v1.35.99", nil, result{}},
		"to a pre-release":                                               {"v1.35.4", "", "v1.36.0-rc.1", nil, result{ControlPlane: []string{"v1.36.0-rc.1"}}},
		"a patch":                                                        {"v1.31.13", "v1.31.13", "v1.31.14", nil, result{ControlPlane: []string{"v1.31.14"}}},
		"every patch": {
			"v1.31.12", "", "v1.34.4", map[string]string{"patches": "every"},
			result{ControlPlane: []string{"v1.31.13", "v1.31.14", "v1.32.13", "v1.33.12", "v1.33.13", "v1.34.3", "v1.34.4"}},
		},
		"another build":       {"v1.36.3+a", "", "v1.36.3+b", nil, result{ControlPlane: []string{"v1.36.3+b"}}},
		"another build, back": {"v1.36.3+b", "", "v1.36.3+a", nil, result{ControlPlane: []string{"v1.36.3+a"}}},
		"another build, with workers": {
			"v1.36.3+a", "v1.36.3+a", "v1.36.3+b", nil,
			result{Err: "Cluster API sees no order between the builds v1.36.3+a and v1.36.3+b, and upgrades no workers from one to the other: go through another patch"},
		},
		"every build, with workers": {
			"v1.35.4", "v1.35.4", "v1.36.3+b", map[string]string{"patches": "every", "workers": "every-version"},
			result{Err: "Cluster API sees no order between the builds v1.36.3+a and v1.36.3+b, and upgrades no workers from one to the other: go through another patch"},
		},
		"every build": {
			"v1.35.4", "", "v1.36.3+b", map[string]string{"patches": "every"},
			result{ControlPlane: []string{"v1.36.3+a", "v1.36.3+b"}},
		},
		"an older build": {"v1.30.9+vendor.2", "", "v1.30.9+vendor.1", nil, result{Err: "the control plane is at v1.30.9+vendor.2 and cannot be downgraded to v1.30.9+vendor.1"}},
		"workers in each minor": {
			"v1.30.14", "v1.30.14", "v1.32.13", map[string]string{"workers": "every-minor", "patches": "every"},
			result{ControlPlane: []string{"v1.31.13", "v1.31.14", "v1.32.13"}, Workers: []string{"v1.31.14", "v1.32.13"}},
		},
		"workers to each version": {
			"v1.30.14", "v1.30.14", "v1.32.13", map[string]string{"workers": "every-version", "patches": "every"},
			result{ControlPlane: []string{"v1.31.13", "v1.31.14", "v1.32.13"}, Workers: []string{"v1.31.13", "v1.31.14", "v1.32.13"}},
		},
		"workers forced through a minor": {
			"v1.30.14", "v1.30.14", "v1.34.4", map[string]string{"workersThrough": "1.31"},
			result{ControlPlane: []string{"v1.31.14", "v1.32.13", "v1.33.13", "v1.34.4"}, Workers: []string{"v1.31.14", "v1.34.4"}},
		},
		"workers forced, and stopped where the policy needs it": {
			"v1.30.14", "v1.30.14", "v1.36.3+b", map[string]string{"workersThrough": "1.31 1.36"},
			result{ControlPlane: []string{"v1.31.14", "v1.32.13", "v1.33.13", "v1.34.4", "v1.35.4", "v1.36.3+b"}, Workers: []string{"v1.31.14", "v1.34.4", "v1.36.3+b"}},
		},
		"what is left of it in the middle": {
			"v1.31.14", "v1.30.14", "v1.34.4", map[string]string{"workersThrough": "1.31"},
			result{ControlPlane: []string{"v1.32.13", "v1.33.13", "v1.34.4"}, Workers: []string{"v1.31.14", "v1.34.4"}},
		},
		"workers forced through a minor that they have behind them": {
			"v1.31.14", "v1.31.14", "v1.33.13", map[string]string{"workersThrough": "1.31"},
			result{ControlPlane: []string{"v1.32.13", "v1.33.13"}},
		},
		"workers alone": {"v1.34.4", "v1.31.14", "v1.34.4", nil, result{}},
		"workers alone, to each version": {
			"v1.34.4", "v1.31.14", "v1.34.4", map[string]string{"workers": "every-version"}, result{Workers: []string{"v1.34.4"}},
		},
		"nothing to do": {"v1.34.4", "v1.34.4", "v1.34.4", map[string]string{"workers": "every-version"}, result{}},
		"a version to avoid": {
			"v1.30.14", "", "v1.32.13", map[string]string{"avoid": "v1.31.14"},
			result{ControlPlane: []string{"v1.31.13", "v1.32.13"}},
		},
		"all of a minor to avoid": {
			"v1.30.14", "", "v1.32.13", map[string]string{"avoid": "v1.31.14,1.31.13"},
			result{Err: "there is no release of 1.31 on the way from v1.30.14 to v1.32.13 without v1.31.14, v1.31.13 (setting avoid): use bundles that have one"},
		},
		"the target is to be avoided": {"v1.33.13", "", "v1.34.4", map[string]string{"avoid": "1.34.4"}, result{Err: "v1.34.4 is to be avoided (setting avoid): ask for another version"}},
		"a minor is missing":          {"v1.28.1", "", "v1.31.14", nil, result{Err: "there is no release of 1.29 on the way from v1.28.1 to v1.31.14: use bundles that have one"}},
		"down":                        {"v1.34.4", "", "v1.33.13", nil, result{Err: "the control plane is at v1.34.4 and cannot be downgraded to v1.33.13"}},
		"workers ahead":               {"v1.33.13", "v1.34.4", "v1.34.4", nil, result{Err: "workers are at v1.34.4, which is newer than the control plane at v1.33.13"}},
		"workers too far behind": {
			"v1.34.4", "v1.30.14", "v1.34.4", nil,
			result{Err: "workers are at v1.30.14, and Cluster API upgrades none by more than 3 minors to v1.34.4, where the control plane is: replace these worker groups with new ones"},
		},
		"wrong settings": {
			"v1.33.13", "", "v1.34.4", map[string]string{"patches": "all", "workers": "some", "workersThrough": "1", "avoid": "1.34", "colour": "red"},
			result{Err: `setting avoid is "1.34": "1.34" is not a version of Kubernetes such as v1.34.2; there is no setting colour: use avoid, patches, provider, workers, workersThrough; setting patches is "all": must be newest or every; setting workers is "some": must be efficient, every-minor or every-version; setting workersThrough is "1": "1" is not a minor version of Kubernetes such as 1.34`},
		},
		"no version": {"v1.33", "", "v1.34.4", nil, result{Err: `fromControlPlaneKubernetesVersion: "v1.33" is not a version of Kubernetes such as v1.34.2`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got result
			plan, err := generate(test.from, test.workers, test.to, known(), test.settings)
			if err != nil {
				got.Err = err.Error()
			}
			if err == nil {
				got.ControlPlane, got.Workers = texts(plan.ControlPlane), texts(plan.Workers)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

func generate(from, workers, to string, releases []v1alpha1.Version, settings map[string]string) (Plan, error) {
	policy, err := ParsePolicy(settings)
	if err != nil {
		return Plan{}, err
	}
	request, err := ParseRequest(from, workers, to)
	if err != nil {
		return Plan{}, err
	}
	offered := slices.DeleteFunc(slices.Clone(releases), v1alpha1.Version.IsPreRelease)
	return Generate(request, Releases{Known: releases, Offered: offered}, policy)
}

// TestGenerateIsAccepted asks for plans at random, follows each of them as Cluster
// API does, with a new plan after each step, and holds every plan against Cluster
// API's own check and against ours.
func TestGenerateIsAccepted(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	releases := releasesBetween(22, 36)
	steps := 0
	for range 4000 {
		settings := map[string]string{
			"patches": pick(random, "newest", "every"),
			"workers": pick(random, "efficient", "every-minor", "every-version"),
		}
		if random.IntN(2) == 0 {
			settings["workersThrough"] = pick(random, "1.28", "1.30,1.31", "1.35")
		}
		from := releases[random.IntN(len(releases))]
		to := releases[random.IntN(len(releases))]
		workers := releases[random.IntN(len(releases))]
		request := Request{ControlPlane: from, Target: to}
		if random.IntN(5) > 0 {
			request.Workers = workers
		}
		steps += follow(t, request, releases, settings)
	}
	if steps < 1000 {
		t.Errorf("only %d steps were taken", steps)
	}
}

// follow takes a cluster along its plan and returns how many steps were taken.
func follow(t *testing.T, request Request, releases []v1alpha1.Version, settings map[string]string) int {
	t.Helper()
	for steps := 0; ; steps++ {
		if request.ControlPlane == request.Target && (request.Workers.IsZero() || request.Workers == request.Target) {
			return steps
		}
		workersFrom := request.Workers.String()
		plan, err := generate(request.ControlPlane.String(), workersFrom, request.Target.String(), releases, settings)
		if err != nil {
			if steps > 0 {
				t.Fatalf("no plan in the middle, from %+v with %v: %v", request, settings, err)
			}
			return 0
		}
		controlPlane, workers := texts(plan.ControlPlane), texts(plan.Workers)
		if problems := Check(Exchange{request.ControlPlane.String(), workersFrom, request.Target.String(), controlPlane, workers}); len(problems) > 0 {
			t.Fatalf("our check of %v from %+v: %v", plan, request, problems.ToAggregate())
		}
		behind, err := desiredstate.DefaultAndValidateUpgradePlans(request.Target.String(), request.ControlPlane.String(), workersFrom, controlPlane, workers)
		if err != nil {
			t.Fatalf("Cluster API's check of %v from %+v: %v", plan, request, err)
		}
		lagging := !request.Workers.IsZero() && len(behind) > 0 && behind[0] == request.ControlPlane.String()
		switch {
		case lagging:
			request.Workers = request.ControlPlane
		case len(controlPlane) > 0:
			request.ControlPlane = plan.ControlPlane[0]
		default:
			t.Fatalf("nothing is left to do from %+v: %v", request, plan)
		}
	}
}

func releasesBetween(first, last uint64) []v1alpha1.Version {
	var all []v1alpha1.Version
	for minor := first; minor <= last; minor++ {
		prefix := "v" + v1alpha1.Minor{Major: 1, Minor: minor}.String()
		all = append(all, versions(prefix+".1", prefix+".9")...)
	}
	return append(all, versions("v1.30.9+vendor.1", "v1.30.9+vendor.2", "v1.31.9+f00", "v1.31.9+ba4")...)
}

func pick(random *rand.Rand, choices ...string) string { return choices[random.IntN(len(choices))] }

// TestGenerateGoesClusterAPIsWay holds the way of the control plane against the one that
// Cluster API takes for a class with the same versions.
func TestGenerateGoesClusterAPIsWay(t *testing.T) {
	t.Parallel()
	releases := releasesBetween(25, 36)
	class := desiredstate.GetUpgradePlanFromClusterClassVersions(texts(sorted(releases)))
	for _, from := range releases {
		for _, to := range releases {
			if !from.Before(to) || strings.Contains(from.String()+to.String(), "+") {
				continue
			}
			want, _, err := class(context.Background(), to.String(), from.String(), "")
			if err != nil {
				t.Fatal(err)
			}
			got, err := Generate(Request{ControlPlane: from, Target: to}, Releases{Known: releases, Offered: releases}, Policy{Workers: Efficient})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, texts(got.ControlPlane)); diff != "" {
				t.Errorf("from %s to %s (-Cluster API +ours):\n%s", from, to, diff)
			}
		}
	}
}
