package rollout

import (
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout/rollouttest"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// controller is Cluster API's topology controller. What it acts on is a moment old.
type controller struct {
	// owned are the groups whose MachineDeployments it owns.
	owned map[string]bool
	// paused is true while the controllers of parts do nothing.
	paused bool
	cache  seenTopology
	// pauseSeen are the generations at which it saw the pause, by group; the Cluster's
	// stands under the empty name.
	pauseSeen map[string]int64
	// refused is the version that it did not take at first.
	refused string
	// How many moments the Cluster, and the MachineDeployments, are old that it acts on, and
	// how often it acted.
	clusterLag, groupLag, moments int
}

// seenTopology is what the controller has seen.
type seenTopology struct {
	version     v1alpha1.Version
	entries     []string
	paused      bool
	owned       map[string]bool
	generations map[string]int64
}

// topologyObject is a Cluster whose topology has a version and entries of groups.
func topologyObject(version v1alpha1.Version, entries []string) *unstructured.Unstructured {
	groups := make([]any, len(entries))
	for i, name := range entries {
		groups[i] = name
	}
	return rollouttest.Object("cluster.x-k8s.io", "Cluster", "c", "", map[string]any{"topology": map[string]any{"version": version.String(), "groups": groups}})
}

// live is what there is to be seen.
func (c *controller) live(s *simulation) seenTopology {
	object := s.Objects["Cluster/c"]
	text, _, _ := unstructured.NestedString(object.Object, "spec", "topology", "version")
	now := seenTopology{version: v1alpha1.MustParseVersion(text), owned: maps.Clone(c.owned), generations: map[string]int64{wholeCluster: object.GetGeneration()}}
	now.entries, _, _ = unstructured.NestedStringSlice(object.Object, "spec", "topology", "groups")
	now.paused, _, _ = unstructured.NestedBool(object.Object, "spec", "paused")
	for name := range c.owned {
		now.generations[name] = s.Main(name).GetGeneration()
	}
	return now
}

// act does one thing for what was seen, and looks again.
func (c *controller) act(s *simulation) {
	s.t.Helper()
	if c.cache.paused {
		maps.Copy(c.pauseSeen, c.cache.generations)
	} else {
		c.carryOver(s)
	}
	c.moments++
	now := c.live(s)
	c.paused = now.paused
	if c.moments%(c.clusterLag+1) == 0 {
		now.owned, c.cache.owned = c.cache.owned, nil
		for name := range c.owned {
			now.generations[name] = c.cache.generations[name]
		}
		c.cache = now
	}
	if now := c.live(s); c.moments%(c.groupLag+1) == 0 {
		now.generations[wholeCluster] = c.cache.generations[wholeCluster]
		c.cache.owned, c.cache.generations = now.owned, now.generations
	}
}

// carryOver takes the next step to what the topology asks for. It makes a
// MachineDeployment for an entry that has none of its own, and deletes one that it owns and
// that has no entry: neither is ever to happen to a group of the simulation.
func (c *controller) carryOver(s *simulation) {
	s.t.Helper()
	for name, owned := range c.cache.owned {
		if entry := slices.Contains(c.cache.entries, name); entry != owned {
			s.t.Errorf("kill %d: for group %s there is an entry: %t; Cluster API owns its MachineDeployment: %t", s.kill, name, entry, owned)
		}
	}
	now := s.world.Cluster()
	if !now.ControlPlane.Done() {
		return
	}
	if next := nextRelease(now.ControlPlane.Version); now.ControlPlane.Version.Before(c.cache.version) {
		c.write(s, rollouttest.Versions(next.String()), v1alpha1.ControlPlaneName)
		return
	}
	for _, name := range c.cache.entries {
		if part, _ := now.Group(name); part.Version.Before(c.cache.version) {
			c.write(s, rollouttest.Versions(c.cache.version.String(), name, c.cache.version.String()), name)
		}
	}
}

func nextRelease(version v1alpha1.Version) v1alpha1.Version {
	for _, release := range releases() {
		if release.After(version) {
			return release
		}
	}
	return version
}

// write gives a part a version.
func (c *controller) write(s *simulation, versions v1alpha1.ClusterVersions, part string) {
	for _, object := range s.rendering.PartObjects(versions)[part] {
		s.Apply(object)
	}
}

// do does what is different with a topology. It reports whether that was all.
func (c *controller) do(s *simulation, r *run, action Action) bool {
	switch a := action.(type) {
	case Pause:
		paused := a.Object.DeepCopy()
		if err := unstructured.SetNestedField(paused.Object, true, "spec", "paused"); err != nil {
			s.t.Fatal(err)
		}
		r.p = r.p.After(action, s.Apply(paused))
	case Transfer:
		c.owned[a.Group] = a.Kind == plan.Return
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

// takes reports whether the controller takes a version: each is refused once.
func (c *controller) takes(s *simulation) bool {
	asked := c.live(s).version.String() + " before"
	taken := c.refused == asked
	c.refused = asked
	return taken
}

// describe completes a cluster by its topology.
func (c *controller) describe(s *simulation, cluster *state.Cluster) {
	now := c.live(s)
	seen := func(name string) bool { return now.paused && c.pauseSeen[name] == now.generations[name] }
	cluster.Generation, cluster.Paused = now.generations[wholeCluster], now.paused
	if now.paused {
		cluster.Pause = &state.Pause{Why: "a test"}
	}
	cluster.Topology = &state.Topology{Version: now.version, PauseSeen: seen(wholeCluster)}
	cluster.Topology.Settled = !now.paused && c.cache.generations[wholeCluster] == now.generations[wholeCluster] && cluster.ControlPlane.Version == now.version
	for _, name := range now.entries {
		cluster.Topology.Groups = append(cluster.Topology.Groups, state.TopologyGroup{Name: name})
		part, _ := cluster.Group(name)
		cluster.Topology.Settled = cluster.Topology.Settled && (part.Version == now.version || !c.owned[name])
	}
	for i := range cluster.WorkerNodeGroups {
		part := &cluster.WorkerNodeGroups[i]
		part.Detached, part.PauseSeen = !c.owned[part.Name], seen(part.Name)
	}
}

// path is what the controller does from here: segments of at most two minors.
func (c *controller) path(seen state.Cluster, target plan.Target) *plan.TopologyPath {
	path := &plan.TopologyPath{From: seen.Topology.Version}
	at := seen.ControlPlane.Version
	for end := seen.Topology.Version; ; {
		segment := plan.Segment{Target: end, Workers: []v1alpha1.Version{end}}
		for at.Before(end) {
			at = nextRelease(at)
			segment.ControlPlane = append(segment.ControlPlane, at)
		}
		path.Segments = append(path.Segments, segment)
		if !end.Before(target.ControlPlane) {
			return path
		}
		if end = nextRelease(end); end.Before(target.ControlPlane) {
			end = nextRelease(end)
		}
	}
}

// desired are the states of the steps, as clusterctl-x renders them.
func (c *controller) desired(s *simulation, in plan.Input, p plan.Plan) []Objects {
	outside := in.Membership().Outside()
	stage := func(at v1alpha1.Version, versions v1alpha1.ClusterVersions) Objects {
		var entries []string
		parts := map[string][]*unstructured.Unstructured{}
		for _, group := range in.Target.WorkerNodeGroups {
			if !outside[group.Name] {
				entries = append(entries, group.Name)
				continue
			}
			parts[group.Name] = s.rendering.PartObjects(versions)[group.Name]
		}
		return Objects{Cluster: []*unstructured.Unstructured{topologyObject(at, entries)}, Parts: parts}
	}
	at := in.TopologyPath.From
	desired := []Objects{stage(at, p.Versions(0))}
	for i, step := range p.Steps {
		for _, to := range append([]v1alpha1.Version{step.To}, groupVersions(step)...) {
			if !step.Detached && to.After(at) {
				at = in.TopologyPath.Target(to)
			}
		}
		if step.Kind == plan.Return {
			for _, group := range step.WorkerNodeGroups {
				delete(outside, group.Name)
			}
		}
		desired = append(desired, stage(at, p.Versions(i+1)))
	}
	return desired
}

func groupVersions(step plan.Step) []v1alpha1.Version {
	var versions []v1alpha1.Version
	for _, group := range step.WorkerNodeGroups {
		versions = append(versions, group.To)
	}
	return versions
}

// TestTopologyKilledAnywhere: as TestKilledAnywhere, for a cluster from a ClusterClass with
// groups of which some are detached.
func TestTopologyKilledAnywhere(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		detached []string // of a, b and c, at the beginning
		target   plan.Target
	}{
		"minors":                         {nil, targetOf("v1.34.1", group("a", "v1.34.1"), group("b", "v1.34.1"), group("c", "v1.34.1"))},
		"a group is pinned":              {nil, targetOf("v1.33.1", group("a", "v1.33.1"), pinned(group("b", "v1.31.1")), group("c", "v1.33.1"))},
		"two groups are pinned":          {nil, targetOf("v1.31.1", group("a", "v1.31.1"), pinned(group("b", "v1.31.1")), pinned(group("c", "v1.31.1")))},
		"a pin is raised":                {[]string{"b"}, targetOf("v1.33.1", group("a", "v1.33.1"), pinned(group("b", "v1.33.1")), group("c", "v1.33.1"))},
		"a group is returned":            {[]string{"b"}, targetOf("v1.31.1", group("a", "v1.31.1"), group("b", "v1.31.1"), group("c", "v1.31.1"))},
		"a group is returned at the end": {[]string{"b"}, targetOf("v1.33.1", group("a", "v1.33.1"), group("b", "v1.33.1"), group("c", "v1.33.1"))},
		"one comes and one goes":         {[]string{"b"}, targetOf("v1.32.1", pinned(group("a", "v1.31.1")), group("b", "v1.32.1"), group("c", "v1.32.1"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, lag := range [][2]int{{0, 0}, {5, 0}, {0, 5}} { // of the Cluster and of MachineDeployments
				killedAnywhere(t, func(t *testing.T) *simulation {
					t.Helper()
					from := rollouttest.Versions("v1.31.1", "a", "v1.31.1", "b", "v1.31.1", "c", "v1.31.1")
					s := &simulation{world: newWorld(t, from), target: test.target, replaced: map[string]int{}, topology: &controller{owned: map[string]bool{}, pauseSeen: map[string]int64{}, clusterLag: lag[0], groupLag: lag[1]}}
					var entries []string
					for _, name := range []string{"a", "b", "c"} {
						if s.topology.owned[name] = !slices.Contains(test.detached, name); s.topology.owned[name] {
							entries = append(entries, name)
						}
					}
					s.Apply(topologyObject(from.ControlPlane, entries))
					s.topology.cache = s.topology.live(s)
					s.world.takes = func() bool { return s.topology.takes(s) }
					return s
				})
			}
		})
	}
}
