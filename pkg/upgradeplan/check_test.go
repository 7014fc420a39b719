package upgradeplan

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/cluster-api/exp/topology/desiredstate"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

func sorted(versions []v1alpha1.Version) []v1alpha1.Version {
	return slices.SortedFunc(slices.Values(versions), v1alpha1.Version.Compare)
}

// good is a plan without a mistake, with a step of the workers that nothing forces.
func good() Exchange {
	return Exchange{
		FromControlPlane: "v1.30.0", FromWorkers: "v1.29.0", To: "v1.34.0",
		ControlPlane: []string{"v1.31.0", "v1.32.0+a", "v1.32.0+b", "v1.33.1", "v1.34.0"},
		Workers:      []string{"v1.30.0", "v1.32.0+a", "v1.32.0+b", "v1.34.0"},
	}
}

// TestCheck breaks each rule of the book's list once, and nothing else.
func TestCheck(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		broken func(e *Exchange)
		want   string
	}{
		"nothing":                         {func(*Exchange) {}, ""},
		"workers left to Cluster API":     {func(e *Exchange) { e.Workers = nil }, ""},
		"no workers":                      {func(e *Exchange) { e.Workers, e.FromWorkers = nil, "" }, ""},
		"workers lag, as far as they may": {func(e *Exchange) { e.FromWorkers, e.Workers = "v1.27.0", nil }, ""},
		"control plane is there": {func(e *Exchange) {
			e.FromControlPlane, e.ControlPlane, e.Workers = "v1.34.0", nil, nil
			e.FromWorkers = "v1.32.0"
		}, ""},

		"control plane: no plan": {
			func(e *Exchange) { e.ControlPlane, e.Workers = nil, nil },
			`controlPlaneUpgrades: Required value: the steps from v1.30.0 to v1.34.0, one version at least for each minor`,
		},
		"control plane: plan although it is there": {
			func(e *Exchange) {
				e.FromControlPlane, e.FromWorkers, e.ControlPlane, e.Workers = "v1.34.0", "v1.33.0", []string{"v1.34.0"}, nil
			},
			`controlPlaneUpgrades: Forbidden: the control plane is at v1.34.0 already: leave it out`,
		},
		"control plane: a minor is missing": {
			func(e *Exchange) { e.ControlPlane = slices.Delete(e.ControlPlane, 3, 4) },
			`controlPlaneUpgrades[3].version: Invalid value: "v1.34.0": skips a minor after v1.32.0+b: put a version of 1.33 before it`,
		},
		"control plane: not newer than where it is": {
			func(e *Exchange) { e.ControlPlane = slices.Insert(e.ControlPlane, 0, "v1.30.0") },
			`controlPlaneUpgrades[0].version: Invalid value: "v1.30.0": must be newer than v1.30.0, or another build of it`,
		},
		"control plane: not newer than the step before": {
			func(e *Exchange) { e.ControlPlane = slices.Insert(e.ControlPlane, 4, "v1.33.0") },
			`controlPlaneUpgrades[4].version: Invalid value: "v1.33.0": must be newer than v1.33.1, or another build of it`,
		},
		"control plane: a build with a lower number": {
			func(e *Exchange) {
				e.ControlPlane, e.Workers = []string{"v1.31.0+2", "v1.31.0+1", "v1.32.0", "v1.33.0", "v1.34.0"}, nil
			},
			`controlPlaneUpgrades[1].version: Invalid value: "v1.31.0+1": must be newer than v1.31.0+2, or another build of it`,
		},
		"control plane: newer than what was asked for": {
			func(e *Exchange) {
				e.To, e.Workers = "v1.33.2", []string{"v1.32.0+a", "v1.33.1", "v1.33.2"}
				e.ControlPlane[4] = "v1.33.3"
				e.ControlPlane = append(e.ControlPlane, "v1.33.2")
			},
			`controlPlaneUpgrades[4].version: Invalid value: "v1.33.3": must not be newer than v1.33.2, the version asked for; controlPlaneUpgrades[5].version: Invalid value: "v1.33.2": must be newer than v1.33.3, or another build of it`,
		},
		"control plane: ends elsewhere": {
			func(e *Exchange) { e.ControlPlane, e.Workers = e.ControlPlane[:4], nil },
			`controlPlaneUpgrades[3].version: Invalid value: "v1.33.1": is the last step, which must be v1.34.0, the version asked for`,
		},
		"control plane: another major": {
			func(e *Exchange) { e.To, e.ControlPlane, e.Workers = "v2.31.0", []string{"v2.31.0"}, nil },
			`controlPlaneUpgrades[0].version: Invalid value: "v2.31.0": must have the major version of v1.30.0`,
		},
		"control plane: no version": {
			func(e *Exchange) { e.ControlPlane[1] = "1.32" },
			`controlPlaneUpgrades[1].version: Invalid value: "1.32": must be a version of Kubernetes such as v1.34.2`,
		},

		"workers: not where the control plane passes": {
			func(e *Exchange) { e.Workers[1] = "v1.32.1" },
			`workersUpgrades[1].version: Invalid value: "v1.32.1": must be v1.30.0, where the control plane is, or one of controlPlaneUpgrades; workersUpgrades[2].version: Invalid value: "v1.32.0+b": must be newer than v1.32.1, or another build of it`,
		},
		"workers: written otherwise": {
			func(e *Exchange) { e.Workers[0] = "1.30.0" },
			`workersUpgrades[0].version: Invalid value: "1.30.0": must be v1.30.0, where the control plane is, or one of controlPlaneUpgrades`,
		},
		"workers: not newer than where they are": {
			func(e *Exchange) { e.FromWorkers = "v1.30.0" },
			`workersUpgrades[0].version: Invalid value: "v1.30.0": must be newer than v1.30.0, or another build of it`,
		},
		"workers: not newer than the step before": {
			func(e *Exchange) { e.Workers = []string{"v1.31.0", "v1.30.0", "v1.33.1", "v1.34.0"} },
			`workersUpgrades[1].version: Invalid value: "v1.30.0": must be newer than v1.31.0, or another build of it`,
		},
		"workers: newer than what was asked for": {
			func(e *Exchange) {
				e.FromControlPlane, e.FromWorkers, e.To, e.ControlPlane, e.Workers = "v1.33.1", "v1.31.0", "v1.33.1", nil, []string{"v1.33.2"}
			},
			`workersUpgrades[0].version: Invalid value: "v1.33.2": must be v1.33.1, where the control plane is, or one of controlPlaneUpgrades; workersUpgrades[0].version: Invalid value: "v1.33.2": must not be newer than v1.33.1, the version asked for; workersUpgrades[0].version: Invalid value: "v1.33.2": is the last step, which must be v1.33.1, the version asked for`,
		},
		"workers: builds in another order": {
			func(e *Exchange) { e.Workers[1], e.Workers[2] = e.Workers[2], e.Workers[1] },
			`workersUpgrades[2].version: Invalid value: "v1.32.0+a": must come before v1.32.0+b, as in controlPlaneUpgrades`,
		},
		"workers: at a build that the control plane has left": {
			func(e *Exchange) {
				e.FromControlPlane, e.FromWorkers, e.To = "v1.30.0+b", "v1.30.0+a", "v1.31.0"
				e.ControlPlane, e.Workers = []string{"v1.31.0"}, []string{"v1.30.0+b", "v1.31.0"}
			},
			`workersUpgrades[0].version: Invalid value: "v1.30.0+b": is another build than v1.30.0+a, and Cluster API cannot tell whether it comes after it: the control plane has left that`,
		},
		"workers: left to Cluster API, at a build that the control plane has left": {
			func(e *Exchange) {
				e.FromControlPlane, e.FromWorkers, e.To, e.ControlPlane, e.Workers = "v1.30.0+b", "v1.30.0+a", "v1.30.0+b", nil, nil
			},
			`fromWorkersKubernetesVersion: Invalid value: "v1.30.0+a": is another build than v1.30.0+b, and Cluster API cannot tell whether that comes after it: the control plane has left it`,
		},
		"workers: ends elsewhere": {
			func(e *Exchange) { e.Workers = e.Workers[:3] },
			`workersUpgrades[2].version: Invalid value: "v1.32.0+b": is the last step, which must be v1.34.0, the version asked for`,
		},
		"workers: a step that the skew policy needs is missing": {
			func(e *Exchange) { e.Workers = []string{"v1.30.0", "v1.34.0"} },
			`workersUpgrades[1].version: Invalid value: "v1.34.0": is more than 3 minors after v1.30.0, which the version skew policy forbids: put a version between them`,
		},
		"workers: plan although there are none": {
			func(e *Exchange) { e.FromWorkers = "" },
			`workersUpgrades: Forbidden: there are no workers, or they are at v1.34.0 already: leave it out`,
		},
		"workers: plan although they are there": {
			func(e *Exchange) { e.FromWorkers = "v1.34.0" },
			`workersUpgrades: Forbidden: there are no workers, or they are at v1.34.0 already: leave it out`,
		},
		"workers: newer than all": {
			func(e *Exchange) { e.FromWorkers, e.Workers = "v1.34.1", nil },
			`fromWorkersKubernetesVersion: Invalid value: "v1.34.1": must not be newer than v1.34.0, the version asked for`,
		},
		"workers: too far behind to be left to Cluster API": {
			func(e *Exchange) { e.FromWorkers, e.Workers = "v1.26.0", nil },
			`fromWorkersKubernetesVersion: Invalid value: "v1.26.0": workers go by 3 minors at most in one step, and the control plane is at v1.30.0`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := good()
			test.broken(&e)
			if diff := cmp.Diff(test.want, joined(e)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func joined(e Exchange) string {
	text := ""
	for i, problem := range Check(e) {
		if i > 0 {
			text += "; "
		}
		text += problem.Error()
	}
	return text
}

// TestCheckLikeClusterAPI breaks plans at random: whatever Cluster API refuses is
// refused, and what it takes is taken but for what only the book's rules forbid.
func TestCheckLikeClusterAPI(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	pool := texts(releasesBetween(29, 34))
	accepted, refused := 0, 0
	for range 40000 {
		e := good()
		for range random.IntN(3) {
			mutate(random, &e, pool)
		}
		_, theirs := desiredstate.DefaultAndValidateUpgradePlans(e.To, e.FromControlPlane, e.FromWorkers, e.ControlPlane, e.Workers)
		ours := Check(e)
		switch {
		case theirs != nil && len(ours) == 0:
			t.Fatalf("Cluster API refuses what we accept: %+v: %v", e, theirs)
		case theirs == nil && len(ours) > 0 && len(e.ControlPlane) > 0:
			t.Fatalf("we refuse what Cluster API accepts: %+v: %v", e, ours)
		case theirs == nil:
			accepted++
		default:
			refused++
		}
	}
	if accepted < 1000 || refused < 1000 {
		t.Errorf("%d accepted and %d refused are too few", accepted, refused)
	}
}

// mutate changes one version of an exchange, or leaves a step away.
func mutate(random *rand.Rand, e *Exchange, pool []string) {
	other := pick(random, pool...)
	switch list := []*[]string{&e.ControlPlane, &e.Workers}[random.IntN(2)]; random.IntN(6) {
	case 0:
		e.FromControlPlane = other
	case 1:
		e.FromWorkers = other
	case 2:
		*list = nil
	case 3:
		*list = append(*list, other)
	case 4:
		if len(*list) > 0 {
			*list = slices.Delete(slices.Clone(*list), 0, 1)
		}
	default:
		if len(*list) > 0 {
			(*list)[random.IntN(len(*list))] = other
		}
	}
}
