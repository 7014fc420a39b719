package engine

import (
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// topology has Cluster API's topology controller take the steps. It writes the Cluster,
// which starts a segment of them, and compares the cluster with the plan. Between the
// segments it moves the detached groups itself.
type topology struct{}

// begin writes the first segment, with every concurrent change. What Cluster API does
// not do comes before it.
func (topology) begin(t *turn) {
	t.queueReplacements(func(step plan.Step) bool { return step.Detached })
	if t.Plan.NextDetached(0) > 0 && !transferUnseen(t.now) {
		t.beginSegment(0)
	}
}

// disturbed looks at the topology and at the detached groups of the present step.
func (topology) disturbed(t *turn) []string {
	if reason := t.now.PutBack(); reason != "" {
		return []string{reason}
	}
	if t.p.step == len(t.Plan.Steps) {
		return nil
	}
	if step := t.step(); step.Detached && step.Kind == plan.Workers && !step.Concurrent && !step.UnderWay {
		return t.changedVersions(step.Parts())
	}
	return nil
}

func (topology) take(t *turn) (bool, error) {
	step := t.step()
	if !step.Detached {
		return t.follow()
	}
	if waits, err := t.waitsBefore(t.p.step, t.p.step+1); waits || err != nil {
		return false, err
	}
	switch transfer := t.nextTransfer(); {
	case len(transfer.groups) > 0:
		return t.transfer(transfer)
	case !step.Concurrent:
		return t.takeDirectly()
	case step.UnderWay:
	case step.Kind == plan.Template:
		t.p.replacements.open = true
		t.replaceMachines()
	default:
		for _, group := range step.WorkerNodeGroups {
			t.writePart(t.p.step+1, group.Name)
		}
	}
	t.p.goTo(t.p.step + 1)
	return true, nil
}

func (topology) arrived(t *turn) bool {
	if !t.now.Done() || !t.p.seen(t.now) {
		return false
	}
	// Of detached groups Cluster API knows nothing.
	if t.Plan.EndsDetached() && t.waitsAtHold() {
		return false
	}
	return t.p.allSettled(t.now)
}

// beginSegment writes the desired Cluster of the segment that starts at a step, with
// the concurrent steps before it. The Cluster is written last, after the objects that
// its machines need.
func (t *turn) beginSegment(first int) {
	end := t.Plan.NextDetached(first)
	for first+1 < end && t.Plan.Steps[first].Concurrent {
		first++
	}
	desired := min(first+1, len(t.Desired)-1)
	through, waits := t.segmentEnd(desired), false
	for _, object := range slices.Backward(t.Desired[desired].Cluster) {
		switch {
		case !t.changed(object):
		case changes.IsKind(object, "Cluster"):
			waits = true
			t.write(ApplyTopology{object, through})
		default:
			t.write(Apply{object, wholeCluster})
		}
	}
	if !waits {
		t.p.through = through
	}
}

// segmentEnd is the last of the desired states whose Cluster is as that of one.
func (t *turn) segmentEnd(desired int) int {
	end := desired
	for end < t.Plan.NextDetached(desired-1) && reflect.DeepEqual(t.Desired[end+1].Cluster, t.Desired[desired].Cluster) {
		end++
	}
	return end
}

// follow looks how far Cluster API is with its steps, and begins the next segment where
// one is done. It reports whether no step of Cluster API's own is next.
func (t *turn) follow() (bool, error) {
	if t.p.through <= t.p.step {
		if transferUnseen(t.now) {
			return false, nil
		}
		if err := t.nextSegment(t.p.step); err != nil || t.again {
			return false, err
		}
	}
	if t.p.through <= t.p.step || !t.p.seen(t.now) {
		return false, nil
	}
	end := t.Plan.NextDetached(t.p.step)
	planned := t.catchUp()
	if !t.now.Attached().Done() {
		return false, nil
	}
	if t.p.through == len(t.Desired)-1 && !planned {
		t.recordSteps()
		t.goToEnd() // is where it was to go, by another path
	}
	if t.p.step >= end {
		return true, nil
	}
	return false, t.afterSegment(end)
}

// catchUp advances to the step that the cluster has reached. It warns about each
// deviation from the plan once, and reports whether there is none.
func (t *turn) catchUp() bool {
	var deviation string
	t.p.step, deviation = t.Plan.Follow(t.p.step, t.now)
	if deviation != "" && deviation != t.p.deviation {
		t.do(Warn{deviation})
	}
	t.p.deviation = deviation
	return deviation == ""
}

// afterSegment begins the next segment after one that is done. The steps of Cluster API go
// up to the one before end.
func (t *turn) afterSegment(end int) error {
	if _, deviation := t.Plan.Follow(t.p.step, t.now); deviation != "" {
		return t.stale(deviation)
	}
	if t.p.through >= end {
		return t.stale(fmt.Sprintf("Cluster API has finished everything and does not take step %d (%s)", t.p.step+1, t.step()))
	}
	err := t.nextSegment(max(t.p.step, t.p.through))
	t.again = false // how Cluster API takes it is to be seen
	return err
}

// goToEnd skips the steps that are left.
func (t *turn) goToEnd() {
	t.p.goTo(len(t.Plan.Steps))
	t.p.recorded = t.p.step
}

// nextSegment starts the segment at a step, unless it would leave nodes behind that
// were unknown to the plan.
func (t *turn) nextSegment(first int) error {
	end := t.segmentEnd(first + 1)
	var reasons []string
	for _, step := range t.Plan.Steps[first:end] {
		reasons = append(reasons, step.LeavesBehind(unattached(t.now), t.Policy)...)
	}
	if len(reasons) > 0 {
		return t.stale(reasons...)
	}
	if waits, err := t.waitsForHealth(first, end); waits || err != nil {
		return err
	}
	t.beginSegment(first)
	return nil
}

// unattached returns the cluster with those groups alone that Cluster API does not
// upgrade.
func unattached(cluster state.Cluster) state.Cluster {
	cluster.WorkerNodeGroups = slices.DeleteFunc(slices.Clone(cluster.WorkerNodeGroups), func(p state.Part) bool { return !p.Unmanaged && !p.Detached })
	return cluster
}

// clusterOf returns the Cluster among the objects of a cluster.
func clusterOf(objects []*unstructured.Unstructured) *unstructured.Unstructured {
	i := slices.IndexFunc(objects, func(object *unstructured.Unstructured) bool { return changes.IsKind(object, "Cluster") })
	return objects[i]
}
