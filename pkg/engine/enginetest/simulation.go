package enginetest

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// wholeCluster stands for the cluster as a whole where a part is named.
const wholeCluster = ""

// Simulation is a cluster that goes to a target, whatever ends the runs that take it there.
type Simulation struct {
	*World
	Target    plan.Target
	Rendering Rendering
	// Topology is Cluster API's controller of a cluster from a ClusterClass; nil without
	// one.
	Topology *Controller
	// Replaced counts, by part, how often its machines were replaced.
	Replaced map[string]int
}

// Desired are the objects that a cluster is to have after a step.
type Desired struct {
	Cluster []*unstructured.Unstructured
	Parts   map[string][]*unstructured.Unstructured
}

// NewSimulation has a cluster at versions that is to go to a target.
func NewSimulation(from v1alpha1.ClusterVersions, target plan.Target) *Simulation {
	return &Simulation{World: NewWorld(from), Target: target, Rendering: Rendering{Templates: map[string]string{}}, Replaced: map[string]int{}}
}

// NewTopologySimulation has a cluster from a ClusterClass, of which some groups are
// detached. The Cluster, and the MachineDeployments, that its controller acts on are some
// moments old.
func NewTopologySimulation(from v1alpha1.ClusterVersions, target plan.Target, detached []string, clusterLag, groupLag int) *Simulation {
	s := NewSimulation(from, target)
	s.Topology = &Controller{Owned: map[string]bool{}, pauseSeen: map[string]int64{}, ClusterLag: clusterLag, GroupLag: groupLag}
	var entries []string
	for name := range from.WorkerNodeGroups {
		if s.Topology.Owned[name] = !slices.Contains(detached, name); s.Topology.Owned[name] {
			entries = append(entries, name)
		}
	}
	slices.Sort(entries)
	s.Apply(TopologyObject(from.ControlPlane, entries))
	s.Topology.cache = s.Topology.live(s)
	return s
}

// Tick is a moment in which Cluster API carries out what is specified. The error is what
// was never to happen.
func (s *Simulation) Tick() error {
	var err error
	if s.Topology != nil {
		err = s.Topology.act(s)
	}
	for _, part := range s.World.Cluster().Parts() {
		if part.Settled || s.Topology != nil && s.Topology.paused {
			continue
		}
		if part.ToReplace() > 0 {
			s.Replaced[part.Name]++
		}
		s.Roll(part.Name)
	}
	return errors.Join(err, s.Skewed())
}

// Cluster is the cluster as it is seen now.
func (s *Simulation) Cluster() state.Cluster {
	c := s.World.Cluster()
	if s.Topology != nil {
		s.Topology.describe(s, &c)
	}
	return c
}

// Skewed says which nodes are newer than the control plane, or more than three minors
// older.
func (s *Simulation) Skewed() error {
	var errs []error
	seen := s.World.Cluster()
	controlPlane := seen.ControlPlane.Version
	for _, group := range seen.WorkerNodeGroups {
		for _, m := range group.Machines {
			if m.Kubelet.After(controlPlane) || controlPlane.Minor().Minor > m.Kubelet.Minor().Minor+3 {
				errs = append(errs, fmt.Errorf("%s is at %s beside a control plane at %s", group.Name, m.Kubelet, controlPlane))
			}
		}
	}
	return errors.Join(errs...)
}

// Plan plans from where the cluster is, with what it is to have at the beginning and after
// each step. Two groups may move at the same time.
func (s *Simulation) Plan() (plan.Plan, []Desired, error) {
	seen := s.Cluster()
	in := plan.Input{Start: plan.StartOf(seen), Target: s.Target, Releases: Releases(), Concurrency: 2, Changes: s.Changes()}
	if s.Topology != nil {
		in.TopologyPath = s.Topology.path(seen, s.Target)
	}
	p, err := plan.Compute(in)
	if err != nil {
		return p, nil, err
	}
	if s.Topology != nil {
		return p, s.Topology.desired(s, in, p), nil
	}
	var desired []Desired
	for i := range len(p.Steps) + 1 {
		desired = append(desired, Desired{Cluster: s.Rendering.ClusterObjects(), Parts: s.Rendering.PartObjects(p.Versions(i))})
	}
	return p, desired, nil
}

// Releases are those that there are.
func Releases() []v1alpha1.Version {
	var all []v1alpha1.Version
	for _, text := range []string{"v1.31.1", "v1.32.1", "v1.33.1", "v1.34.1"} {
		all = append(all, v1alpha1.MustParseVersion(text))
	}
	return all
}

// Changes are what differs beside versions and counts: templates of another name, and a
// pause that a run left behind.
func (s *Simulation) Changes() map[string]plan.Changes {
	seen := s.Cluster()
	found := map[string]plan.Changes{}
	if seen.Paused {
		found[wholeCluster] = plan.Changes{Fields: []changes.Change{{Object: "Cluster/c", Path: "spec.paused", Action: changes.Removed, Old: "true"}}}
	}
	for part, objects := range s.Rendering.PartObjects(seen.Versions()) {
		for _, object := range objects {
			live, there := s.Objects[changes.ObjectName(object)]
			if !there || changes.IsTemplate(object.GetKind()) || part != v1alpha1.ControlPlaneName && s.Topology != nil && s.Topology.Owned[part] {
				continue
			}
			if TemplateOf(live) != TemplateOf(object) {
				found[part] = plan.Changes{Fields: []changes.Change{{Object: changes.ObjectName(object), Path: "spec.template", Action: changes.Changed, ReplacesMachines: true}}}
			}
		}
	}
	return found
}

// Arrived says what is not as it was asked for.
func (s *Simulation) Arrived() error {
	got := s.Cluster()
	var errs []error
	differs := func(part string, is, wanted v1alpha1.Version) {
		if is != wanted {
			errs = append(errs, fmt.Errorf("%s is at %s, and not at %s", part, is, wanted))
		}
	}
	differs(v1alpha1.ControlPlaneName, got.ControlPlane.Version, s.Target.ControlPlane)
	for _, group := range s.Target.WorkerNodeGroups {
		part, _ := got.Group(group.Name)
		differs(group.Name, part.Version, group.Version)
	}
	if has, wanted := len(got.WorkerNodeGroups), len(s.Target.WorkerNodeGroups); has != wanted {
		errs = append(errs, fmt.Errorf("there are %d groups, and not %d", has, wanted))
	}
	if !got.Done() {
		errs = append(errs, fmt.Errorf("the cluster is not done: %s", got.Waiting()))
	}
	if left := s.Changes(); len(left) > 0 {
		errs = append(errs, fmt.Errorf("changes are left: %v", left))
	}
	return errors.Join(errs...)
}

// TargetGroup is a group of a target, with one machine.
func TargetGroup(name, version string) plan.TargetGroup {
	return plan.TargetGroup{Name: name, Version: v1alpha1.MustParseVersion(version), Machines: 1}
}

// PinnedGroup is a TargetGroup with a version of its own.
func PinnedGroup(name, version string) plan.TargetGroup {
	group := TargetGroup(name, version)
	group.Pinned = true
	return group
}

// Target is one with a control plane of one machine.
func Target(controlPlane string, groups ...plan.TargetGroup) plan.Target {
	return plan.Target{ControlPlane: v1alpha1.MustParseVersion(controlPlane), ControlPlaneMachines: 1, WorkerNodeGroups: groups}
}
