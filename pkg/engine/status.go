// Package engine decides how a plan is carried out. It computes the next actions from
// the plan, the desired objects after each of its steps, and the observed cluster. It
// is pure.
package engine

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Objects are the objects of a cluster by part, each in the order in which they are
// written.
type Objects struct {
	Cluster []*unstructured.Unstructured
	// Parts are by the name of the control plane and of the worker node groups.
	Parts map[string][]*unstructured.Unstructured
	// Others are of the groups that an upgrade is not about. They are not written;
	// they say what the control plane's next version asks of them.
	Others map[string][]*unstructured.Unstructured
}

// All returns the objects of the cluster and of all parts, without unmanaged ones.
func (o Objects) All() []*unstructured.Unstructured {
	all := slices.Clone(o.Cluster)
	for _, part := range slices.Sorted(maps.Keys(o.Parts)) {
		all = append(all, o.Parts[part]...)
	}
	return all
}

// Status is how far an upgrade is.
type Status struct {
	Plan plan.Plan
	// Step is the index of the step under way, from 0; it is the number of steps
	// when all are done.
	Step int
	// Begun are the parts of the step that were written, sorted.
	Begun []string
	// Replacing and Queued are the groups of concurrent steps that get other machines
	// at their version: those that were begun and are not done, and those that were not
	// begun.
	Replacing, Queued []string
	// Through is the number of steps that Cluster API takes by itself; 0 if the upgrade
	// starts each step.
	Through int
	// Done is true at the end of the plan.
	Done    bool
	Cluster state.Cluster
}

// Current returns the index of the step under way: Step, and at the end of the steps
// the concurrent one whose groups still get new machines.
func (s Status) Current() int {
	groups := slices.Concat(s.Replacing, s.Queued)
	if s.Step < len(s.Plan.Steps) || len(groups) == 0 {
		return s.Step
	}
	return slices.IndexFunc(s.Plan.Steps, func(step plan.Step) bool {
		return step.Kind == plan.Template && step.Concurrent && step.Group(groups[0]).Name == groups[0]
	})
}

// StalePlanError says that the cluster is not, or is no longer, what a plan was
// made for.
type StalePlanError struct {
	Cluster string
	Reasons []string
	// Changed are the objects, as Kind/name, that someone else changed.
	Changed []string
	// Saved is true where the plan came from a file.
	Saved bool
}

func (e *StalePlanError) Error() string {
	remedy := "run the same command again: it plans from where the cluster is"
	if e.Saved {
		remedy = "look at the new one with 'plan upgrade', or run the same command again without --plan"
	}
	text := fmt.Sprintf("cluster %s has changed since the plan was made; %s", e.Cluster, remedy)
	for _, reason := range e.Reasons {
		text += "\n  " + reason
	}
	return text
}
