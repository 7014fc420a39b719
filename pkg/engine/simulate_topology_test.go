package engine

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// doTransfer does what is different with a topology. It reports whether that was all.
func (s *simulation) doTransfer(r *run, action Action) bool {
	switch a := action.(type) {
	case Pause:
		paused := a.Object.DeepCopy()
		if err := unstructured.SetNestedField(paused.Object, true, "spec", "paused"); err != nil {
			s.t.Fatal(err)
		}
		r.p = r.p.After(action, s.Apply(paused))
	case Transfer:
		s.of.Topology.Owned[a.Group] = a.Kind == plan.Return
		marked := s.Main(a.Group).DeepCopy()
		if err := unstructured.SetNestedField(marked.Object, a.Kind == plan.Detach, "spec", "detached"); err != nil {
			s.t.Fatal(err)
		}
		s.Apply(marked)
		r.p = r.p.After(action)
	default:
		return false
	}
	return true
}

// TestTopologyKilledAnywhere: as TestKilledAnywhere, for a cluster from a ClusterClass with
// groups of which some are detached.
func TestTopologyKilledAnywhere(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		detached []string // of a, b and c, at the beginning
		target   plan.Target
	}{
		"minors":                         {nil, enginetest.Target("v1.34.1", enginetest.TargetGroup("a", "v1.34.1"), enginetest.TargetGroup("b", "v1.34.1"), enginetest.TargetGroup("c", "v1.34.1"))},
		"a group is pinned":              {nil, enginetest.Target("v1.33.1", enginetest.TargetGroup("a", "v1.33.1"), enginetest.PinnedGroup("b", "v1.31.1"), enginetest.TargetGroup("c", "v1.33.1"))},
		"two groups are pinned":          {nil, enginetest.Target("v1.31.1", enginetest.TargetGroup("a", "v1.31.1"), enginetest.PinnedGroup("b", "v1.31.1"), enginetest.PinnedGroup("c", "v1.31.1"))},
		"a pin is raised":                {[]string{"b"}, enginetest.Target("v1.33.1", enginetest.TargetGroup("a", "v1.33.1"), enginetest.PinnedGroup("b", "v1.33.1"), enginetest.TargetGroup("c", "v1.33.1"))},
		"a group is returned":            {[]string{"b"}, enginetest.Target("v1.31.1", enginetest.TargetGroup("a", "v1.31.1"), enginetest.TargetGroup("b", "v1.31.1"), enginetest.TargetGroup("c", "v1.31.1"))},
		"a group is returned at the end": {[]string{"b"}, enginetest.Target("v1.33.1", enginetest.TargetGroup("a", "v1.33.1"), enginetest.TargetGroup("b", "v1.33.1"), enginetest.TargetGroup("c", "v1.33.1"))},
		"one comes and one goes":         {[]string{"b"}, enginetest.Target("v1.32.1", enginetest.PinnedGroup("a", "v1.31.1"), enginetest.TargetGroup("b", "v1.32.1"), enginetest.TargetGroup("c", "v1.32.1"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, lag := range [][2]int{{0, 0}, {5, 0}, {0, 5}} { // of the Cluster and of MachineDeployments
				begin := func(t *testing.T) *simulation {
					t.Helper()
					from := enginetest.Versions("v1.31.1", "a", "v1.31.1", "b", "v1.31.1", "c", "v1.31.1")
					return simulationOf(t, enginetest.NewTopologySimulation(from, test.target, test.detached, lag[0], lag[1]))
				}
				killedAnywhere(t, begin)
				leftAnywhere(t, begin)
			}
		})
	}
}
