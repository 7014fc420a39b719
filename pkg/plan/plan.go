// Package plan computes the way of a cluster from its versions to its target versions:
// an ordered list of steps, none of which breaks the version skew policy. It is pure.
package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// DocumentKind is the kind of a plan that is written down.
const DocumentKind = "UpgradePlan"

// Plan is how a cluster gets from one set of versions to another. Its steps are
// taken in their order; only concurrent ones are begun at once.
type Plan struct {
	APIVersion string                   `json:"apiVersion"`
	Kind       string                   `json:"kind"`
	Metadata   Metadata                 `json:"metadata"`
	From       v1alpha1.ClusterVersions `json:"from"`
	To         v1alpha1.ClusterVersions `json:"to"`
	Steps      []Step                   `json:"steps"`
	// Machines of all steps together.
	MachinesReplaced Machines `json:"machinesReplaced"`
	MachinesAdded    Machines `json:"machinesAdded"`
	MachinesRemoved  Machines `json:"machinesRemoved"`
	// Notes are remarks about the plan, as sentences.
	Notes []string `json:"notes,omitempty"`
	// Findings are what the upgrade would be refused for in the current state of the
	// cluster.
	Findings []Finding `json:"findings,omitempty"`
	// Source is what a saved plan was made from; nil in others.
	Source *Source `json:"source,omitempty"`
}

// Source is what a plan was made from: all that is needed to follow it.
type Source struct {
	// File is the name of the file, and Spec its content.
	File string `json:"file,omitempty"`
	Spec string `json:"spec,omitempty"`
	// Change is what was asked for without a file.
	Change *VersionChange `json:"change,omitempty"`
	// Scope is the part of the cluster that is upgraded.
	Scope Scope `json:"scope,omitzero"`
	// LatestPatches takes the newest patch of a minor instead of the one that runs.
	LatestPatches bool `json:"latestPatches,omitempty"`
}

// Metadata identifies the cluster, and the state that the plan was made for.
type Metadata struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
	// UID of the Cluster; empty for a plan that was made without one.
	UID string `json:"uid,omitempty"`
	// Generations of the cluster's objects, by Kind/name.
	Generations map[string]int64 `json:"generations,omitempty"`
	// Spec is a hash of the file that the plan was made from.
	Spec string `json:"spec,omitempty"`
}

// AnyGeneration is the generation of an object that may change without making a plan
// stale.
const AnyGeneration = 0

// Machines counts machines.
type Machines struct {
	ControlPlane int `json:"controlPlane"`
	Workers      int `json:"workers"`
}

// Kind says what a step does.
type Kind string

// Kinds of steps.
const (
	ControlPlane  Kind = "ControlPlane"  // the control plane gets another version
	Workers       Kind = "Workers"       // worker node groups get another version
	CreateWorkers Kind = "CreateWorkers" // new worker node groups
	RemoveWorkers Kind = "RemoveWorkers" // worker node groups that are no longer wanted
	Template      Kind = "Template"      // machines are replaced, and keep their version
	InPlace       Kind = "InPlace"       // no machine is replaced
	Detach        Kind = "Detach"        // worker node groups are taken out of the topology
	Return        Kind = "Return"        // worker node groups are given back to it
)

// Step is one move of the control plane, or of a set of groups.
type Step struct {
	Kind Kind `json:"kind"`
	// From and To are the control plane's versions, where the step is about it.
	From v1alpha1.Version `json:"from,omitzero"`
	To   v1alpha1.Version `json:"to,omitzero"`
	// WorkerNodeGroups that move, in the order of the spec. Where there are
	// none, the step is about the control plane or the cluster as a whole.
	WorkerNodeGroups []Group `json:"workerNodeGroups,omitempty"`
	// Machines of the control plane.
	MachinesReplaced int `json:"machinesReplaced,omitempty"`
	MachinesAdded    int `json:"machinesAdded,omitempty"`
	MachinesRemoved  int `json:"machinesRemoved,omitempty"`
	// Image is what new machines of the control plane are made from, as JSON, where their
	// document lists images.
	Image string `json:"image,omitempty"`
	// Changes of the cluster or its control plane.
	Changes
	// UnderWay is true for a rollout under way; its machines are the remaining ones.
	UnderWay bool `json:"underWay,omitempty"`
	// Concurrent is true for a concurrent step: it is begun at once, and no later step
	// waits for it.
	Concurrent bool `json:"beside,omitempty"`
	// Detached is true for a step of a cluster from a ClusterClass that Cluster API
	// does not take by itself: it is about groups that its topology does not have.
	Detached bool   `json:"detached,omitempty"`
	Reason   string `json:"reason"`
}

// Group is the part of a step that concerns one worker node group.
type Group struct {
	Name             string           `json:"name"`
	From             v1alpha1.Version `json:"from,omitzero"`
	To               v1alpha1.Version `json:"to,omitzero"`
	MachinesReplaced int              `json:"machinesReplaced,omitempty"`
	MachinesAdded    int              `json:"machinesAdded,omitempty"`
	MachinesRemoved  int              `json:"machinesRemoved,omitempty"`
	// Approximate is true if an autoscaler decides how many machines there are; the
	// counts are the current ones.
	Approximate bool `json:"approximate,omitempty"`
	// Image is what new machines of the group are made from, as in Step.
	Image string `json:"image,omitempty"`
	// UnderWay is true for a rollout under way, concurrently with which the other
	// groups of the step start.
	UnderWay bool `json:"underWay,omitempty"`
	Changes
}

// Scales reports whether the number of the group's machines changes.
func (g Group) Scales() bool { return g.MachinesAdded+g.MachinesRemoved > 0 }

// Outline returns the plan with its steps and without images and what they change besides
// versions and numbers of machines: values of fields may be confidential.
func (p Plan) Outline() Plan {
	steps := slices.Clone(p.Steps)
	for i := range steps {
		steps[i].Changes, steps[i].Image = Changes{}, ""
		steps[i].WorkerNodeGroups = slices.Clone(steps[i].WorkerNodeGroups)
		for j := range steps[i].WorkerNodeGroups {
			steps[i].WorkerNodeGroups[j].Changes, steps[i].WorkerNodeGroups[j].Image = Changes{}, ""
		}
	}
	p.Metadata = Metadata{Name: p.Metadata.Name, Namespace: p.Metadata.Namespace, UID: p.Metadata.UID}
	p.Steps, p.Notes, p.Findings, p.Source = steps, nil, nil, nil
	return p
}

// Empty reports whether there is nothing to do.
func (p Plan) Empty() bool { return len(p.Steps) == 0 }

// Versions returns the versions of the cluster after the first count steps.
func (p Plan) Versions(count int) v1alpha1.ClusterVersions {
	versions := v1alpha1.ClusterVersions{ControlPlane: p.From.ControlPlane, WorkerNodeGroups: map[string]v1alpha1.Version{}}
	for name, version := range p.From.WorkerNodeGroups {
		versions.WorkerNodeGroups[name] = version
	}
	for _, step := range p.Steps[:count] {
		step.apply(&versions)
	}
	return versions
}

// apply changes the versions as the step does.
func (s Step) apply(versions *v1alpha1.ClusterVersions) {
	if s.Kind == ControlPlane {
		versions.ControlPlane = s.To
	}
	for _, group := range s.WorkerNodeGroups {
		switch s.Kind {
		case Workers, CreateWorkers:
			versions.WorkerNodeGroups[group.Name] = group.To
		case RemoveWorkers:
			delete(versions.WorkerNodeGroups, group.Name)
		case ControlPlane, Template, InPlace, Detach, Return:
		}
	}
}

// Moves reports whether the step replaces machines of the part, or gives it a
// version; the part is v1alpha1.ControlPlaneName or a worker node group.
func (s Step) Moves(part string) bool {
	if part == v1alpha1.ControlPlaneName {
		return s.Kind == ControlPlane || s.Kind == Template && len(s.WorkerNodeGroups) == 0
	}
	return s.Kind != InPlace && !s.Transfers() && slices.ContainsFunc(s.WorkerNodeGroups, func(g Group) bool { return g.Name == part })
}

// Transfers reports whether the step takes groups out of the topology, or returns them.
func (s Step) Transfers() bool { return s.Kind == Detach || s.Kind == Return }

// Parts are the parts that the step moves.
func (s Step) Parts() []string {
	if s.Moves(v1alpha1.ControlPlaneName) {
		return []string{v1alpha1.ControlPlaneName}
	}
	if s.Kind == InPlace || s.Transfers() {
		return nil
	}
	parts := make([]string, len(s.WorkerNodeGroups))
	for i, group := range s.WorkerNodeGroups {
		parts[i] = group.Name
	}
	return parts
}

// count adds the machines of a step to those of the plan.
func (p *Plan) count(step Step) {
	p.MachinesReplaced.ControlPlane += step.MachinesReplaced
	p.MachinesAdded.ControlPlane += step.MachinesAdded
	p.MachinesRemoved.ControlPlane += step.MachinesRemoved
	for _, group := range step.WorkerNodeGroups {
		p.MachinesReplaced.Workers += group.MachinesReplaced
		p.MachinesAdded.Workers += group.MachinesAdded
		p.MachinesRemoved.Workers += group.MachinesRemoved
	}
}

// Groups are the worker node groups before the plan and after it, sorted.
func (p Plan) Groups() []string {
	names := map[string]bool{}
	for _, versions := range []v1alpha1.ClusterVersions{p.From, p.To} {
		for name := range versions.WorkerNodeGroups {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// String is the step in one line.
func (s Step) String() string {
	if len(s.WorkerNodeGroups) == 0 {
		return s.about("the control plane", s.From, s.To)
	}
	moves := make([]string, len(s.WorkerNodeGroups))
	for i, group := range s.WorkerNodeGroups {
		moves[i] = s.about(group.Name, group.From, group.To)
	}
	return list(moves)
}

// about says what the step does to a part.
func (s Step) about(part string, from, to v1alpha1.Version) string {
	switch s.Kind {
	case ControlPlane, Workers:
		return fmt.Sprintf("%s from %s to %s", part, from, to)
	case CreateWorkers:
		return fmt.Sprintf("new group %s at %s", part, to)
	case RemoveWorkers:
		return fmt.Sprintf("group %s is removed", part)
	case Template:
		return fmt.Sprintf("new machines for %s at %s", part, to)
	case Detach:
		return fmt.Sprintf("group %s is detached at %s", part, to)
	case Return:
		return fmt.Sprintf("group %s is returned at %s", part, to)
	default:
		return fmt.Sprintf("changes of %s in place", part)
	}
}

// Stale returns the differences between a saved plan and the plan that would be made
// now.
func (p Plan) Stale(now Plan) []string {
	var reasons []string
	differ := func(what string, saved, current any) {
		if !reflect.DeepEqual(saved, current) {
			reasons = append(reasons, fmt.Sprintf("%s: %v in the plan, %v now", what, saved, current))
		}
	}
	differ("name", p.Metadata.Namespace+"/"+p.Metadata.Name, now.Metadata.Namespace+"/"+now.Metadata.Name)
	differ("uid", p.Metadata.UID, now.Metadata.UID)
	if p.Metadata.Spec != now.Metadata.Spec {
		reasons = append(reasons, "the file is not the one that the plan was made from")
	}
	reasons = append(reasons, p.Metadata.Moved(now.Metadata)...)
	differ("control plane at the start", p.From.ControlPlane, now.From.ControlPlane)
	differ("number of steps", len(p.Steps), len(now.Steps))
	if len(reasons) > 0 {
		return reasons
	}
	for i := range p.Steps {
		differ(fmt.Sprintf("step %d", i+1), p.Steps[i].String(), now.Steps[i].String())
		differ(fmt.Sprintf("machines of step %d", i+1), p.Steps[i].machines(), now.Steps[i].machines())
		if len(reasons) == 0 && !p.Steps[i].same(now.Steps[i]) {
			reasons = append(reasons, fmt.Sprintf("step %d changes other fields, or starts from another state", i+1))
		}
	}
	return reasons
}

// same reports whether two steps do the same, for whatever reason. They are
// compared as they are written down.
func (s Step) same(other Step) bool {
	s.Reason, other.Reason = "", ""
	a, errA := json.Marshal(s)
	b, errB := json.Marshal(other)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// Moved says which objects are not, or are no longer, those that a plan was made
// for.
func (m Metadata) Moved(now Metadata) []string {
	var reasons []string
	for _, object := range slices.Sorted(maps.Keys(m.Generations)) {
		made := m.Generations[object]
		switch generation, there := now.Generations[object]; {
		case !there:
			reasons = append(reasons, object+" is gone")
		case made != AnyGeneration && generation != AnyGeneration && generation != made:
			reasons = append(reasons, fmt.Sprintf("%s has changed: its generation is %d, and was %d", object, generation, made))
		}
	}
	for _, object := range slices.Sorted(maps.Keys(now.Generations)) {
		if _, there := m.Generations[object]; !there {
			reasons = append(reasons, object+" is new")
		}
	}
	return reasons
}

// machines counts those that the step replaces, adds and removes.
func (s Step) machines() (count int) {
	var p Plan
	p.count(s)
	for _, machines := range []Machines{p.MachinesReplaced, p.MachinesAdded, p.MachinesRemoved} {
		count += machines.ControlPlane + machines.Workers
	}
	return count
}
