package engine

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// wholeCluster is the name of the cluster among its parts.
const wholeCluster = ""

// Progress is the state of a run. It is a value and is not stored: a later run plans
// from the cluster.
type Progress struct {
	// step is the index of the step under way, recorded how many steps there are whose
	// end was recorded as an Event.
	step, recorded int
	// begun are the parts of the present step that were written.
	begun map[string]bool
	// scaled are the groups whose count was changed; they come to rest before their
	// machines are replaced, so that no more are made than planned.
	scaled map[string]bool
	// replacements are the groups whose machines are replaced concurrently with the
	// steps.
	replacements replacements
	// last has the objects by name as they were dealt with last.
	last map[string]*unstructured.Unstructured
	// generations that the written objects of the parts have now.
	generations map[string]int64
	// through is how many steps there are to the end of the segment that was begun.
	through int
	// hold is the last recorded hold that the next step waits for, deviation the last one
	// from the plan that was warned about.
	hold, deviation string
	// healthWait is the wait for a healthy cluster before the next step; nil if there is none.
	healthWait *state.HealthWait
}

// clone returns a copy that shares nothing that is changed.
func (p Progress) clone() Progress {
	p.begun, p.scaled = maps.Clone(p.begun), maps.Clone(p.scaled)
	p.last, p.generations = maps.Clone(p.last), maps.Clone(p.generations)
	p.replacements.queue, p.replacements.moving = slices.Clone(p.replacements.queue), slices.Clone(p.replacements.moving)
	return p
}

// After returns the progress once an action was done. Written are the objects that were
// written for it, as the API server has them now.
func (p Progress) After(action Action, written ...*unstructured.Unstructured) Progress {
	p = p.clone()
	for _, object := range written {
		switch {
		case changes.IsKind(object, "MachineDeployment"), changes.IsKind(object, "MachinePool"), changes.IsControlPlane(object.GetKind()):
			p.generations[partOf(action)] = object.GetGeneration()
		case changes.IsKind(object, "Cluster"):
			p.generations[wholeCluster] = object.GetGeneration()
		}
	}
	switch a := action.(type) {
	case Apply:
		p.last[changes.ObjectName(a.Object)] = a.Object
	case ApplyInPlace:
		p.last[changes.ObjectName(a.Object)] = a.Object
	case ApplyTopology:
		if len(written) > 0 {
			p.last[changes.ObjectName(a.Object)], p.through = a.Object, a.Through
		}
	}
	return p
}

// partOf returns the part that an action is about.
func partOf(action Action) string {
	switch a := action.(type) {
	case Apply:
		return a.Part
	case ApplyInPlace:
		return a.Part
	}
	return wholeCluster
}

// goTo makes a step the present one.
func (p *Progress) goTo(step int) { p.step, p.begun = step, map[string]bool{} }

// Status returns how far the upgrade of a cluster is.
func (e Engine) Status(cluster state.Cluster, p Progress) Status {
	return Status{
		Plan: e.Plan, Step: p.step, Begun: slices.Sorted(maps.Keys(p.begun)), Through: p.through,
		Replacing: slices.Clone(p.replacements.moving), Queued: p.replacements.queue, Cluster: cluster,
	}
}

// Written returns the objects that the upgrade wrote, in their final state.
func (e Engine) Written(p Progress) []*unstructured.Unstructured {
	written := slices.Clone(e.sole)
	for _, name := range slices.Sorted(maps.Keys(p.generations)) {
		written = append(written, e.last().Parts[name]...)
	}
	return written
}

// settled reports whether a part is done, as it was last written.
func (p Progress) settled(part state.Part) bool {
	return part.Generation >= p.generations[part.Name] && part.Done()
}

// allSettled reports whether every part that the upgrade changes is at its target.
func (p Progress) allSettled(cluster state.Cluster) bool {
	if len(p.replacements.queue) > 0 {
		return false
	}
	for name := range p.generations {
		if part, exists := cluster.Part(name); exists && !p.settled(part) {
			return false
		}
	}
	return true
}

// seen reports whether the Cluster is known as it was last written.
func (p Progress) seen(cluster state.Cluster) bool {
	return cluster.Generation >= p.generations[wholeCluster]
}
