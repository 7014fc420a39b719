package enginetest

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Controller is Cluster API's topology controller. What it acts on is a moment old.
type Controller struct {
	// Owned are the groups whose MachineDeployments it owns.
	Owned map[string]bool
	// paused is true while the controllers of parts do nothing.
	paused bool
	cache  seenTopology
	// pauseSeen are the generations at which it saw the pause, by group; the Cluster's
	// stands under the empty name.
	pauseSeen map[string]int64
	// refused is the version that it did not take at first.
	refused string
	// ClusterLag and GroupLag are how many moments the Cluster, and the MachineDeployments,
	// are old that it acts on.
	ClusterLag, GroupLag int
	// moments counts how often it acted.
	moments int
}

// seenTopology is what the controller has seen.
type seenTopology struct {
	version     v1alpha1.Version
	entries     []string
	paused      bool
	owned       map[string]bool
	generations map[string]int64
}

// TopologyObject is a Cluster whose topology has a version and entries of groups.
func TopologyObject(version v1alpha1.Version, entries []string) *unstructured.Unstructured {
	groups := make([]any, len(entries))
	for i, name := range entries {
		groups[i] = name
	}
	return Object("cluster.x-k8s.io", "Cluster", "c", "", map[string]any{"topology": map[string]any{"version": version.String(), "groups": groups}})
}

// live is what there is to be seen.
func (c *Controller) live(s *Simulation) seenTopology {
	object := s.Objects["Cluster/c"]
	text, _, _ := unstructured.NestedString(object.Object, "spec", "topology", "version")
	now := seenTopology{version: v1alpha1.MustParseVersion(text), owned: maps.Clone(c.Owned), generations: map[string]int64{wholeCluster: object.GetGeneration()}}
	now.entries, _, _ = unstructured.NestedStringSlice(object.Object, "spec", "topology", "groups")
	now.paused, _, _ = unstructured.NestedBool(object.Object, "spec", "paused")
	for name := range c.Owned {
		now.generations[name] = s.Main(name).GetGeneration()
	}
	return now
}

// act does one thing for what was seen, and looks again.
func (c *Controller) act(s *Simulation) error {
	var err error
	if c.cache.paused {
		maps.Copy(c.pauseSeen, c.cache.generations)
	} else {
		err = c.carryOver(s)
	}
	c.moments++
	now := c.live(s)
	c.paused = now.paused
	if c.moments%(c.ClusterLag+1) == 0 {
		now.owned, c.cache.owned = c.cache.owned, nil
		for name := range c.Owned {
			now.generations[name] = c.cache.generations[name]
		}
		c.cache = now
	}
	if now := c.live(s); c.moments%(c.GroupLag+1) == 0 {
		now.generations[wholeCluster] = c.cache.generations[wholeCluster]
		c.cache.owned, c.cache.generations = now.owned, now.generations
	}
	return err
}

// carryOver takes the next step to what the topology asks for. It makes a
// MachineDeployment for an entry that has none of its own, and deletes one that it owns and
// that has no entry: neither is ever to happen to a group of the simulation.
func (c *Controller) carryOver(s *Simulation) error {
	for name, owned := range c.cache.owned {
		if entry := slices.Contains(c.cache.entries, name); entry != owned {
			return fmt.Errorf("for group %s there is an entry: %t; Cluster API owns its MachineDeployment: %t", name, entry, owned)
		}
	}
	now := s.World.Cluster()
	if !now.ControlPlane.Done() {
		return nil
	}
	if next := nextRelease(now.ControlPlane.Version); now.ControlPlane.Version.Before(c.cache.version) {
		c.write(s, Versions(next.String()), v1alpha1.ControlPlaneName)
		return nil
	}
	for _, name := range c.cache.entries {
		if part, _ := now.Group(name); part.Version.Before(c.cache.version) {
			c.write(s, Versions(c.cache.version.String(), name, c.cache.version.String()), name)
		}
	}
	return nil
}

func nextRelease(version v1alpha1.Version) v1alpha1.Version {
	for _, release := range Releases() {
		if release.After(version) {
			return release
		}
	}
	return version
}

// write gives a part a version.
func (c *Controller) write(s *Simulation, versions v1alpha1.ClusterVersions, part string) {
	for _, object := range s.Rendering.PartObjects(versions)[part] {
		s.Apply(object)
	}
}

// Takes reports whether the controller takes a version: each is refused once.
func (c *Controller) Takes(s *Simulation) bool {
	asked := c.live(s).version.String() + " before"
	taken := c.refused == asked
	c.refused = asked
	return taken
}

// describe completes a cluster by its topology.
func (c *Controller) describe(s *Simulation, cluster *state.Cluster) {
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
		cluster.Topology.Settled = cluster.Topology.Settled && (part.Version == now.version || !c.Owned[name])
	}
	for i := range cluster.WorkerNodeGroups {
		part := &cluster.WorkerNodeGroups[i]
		part.Detached, part.PauseSeen = !c.Owned[part.Name], seen(part.Name)
	}
}

// path is what the controller does from here: segments of at most two minors.
func (c *Controller) path(seen state.Cluster, target plan.Target) *plan.TopologyPath {
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
func (c *Controller) desired(s *Simulation, in plan.Input, p plan.Plan) []Desired {
	outside := in.Membership().Outside()
	stage := func(at v1alpha1.Version, versions v1alpha1.ClusterVersions) Desired {
		var entries []string
		parts := map[string][]*unstructured.Unstructured{}
		for _, group := range in.Target.WorkerNodeGroups {
			if !outside[group.Name] {
				entries = append(entries, group.Name)
				continue
			}
			parts[group.Name] = s.Rendering.PartObjects(versions)[group.Name]
		}
		return Desired{Cluster: []*unstructured.Unstructured{TopologyObject(at, entries)}, Parts: parts}
	}
	at := in.TopologyPath.From
	all := []Desired{stage(at, p.Versions(0))}
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
		all = append(all, stage(at, p.Versions(i+1)))
	}
	return all
}

func groupVersions(step plan.Step) []v1alpha1.Version {
	var versions []v1alpha1.Version
	for _, group := range step.WorkerNodeGroups {
		versions = append(versions, group.To)
	}
	return versions
}
