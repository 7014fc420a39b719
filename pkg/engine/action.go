package engine

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Action is something to do to a cluster. It is one of the types of this file.
type Action interface{ isAction() }

// Apply writes an object.
type Apply struct {
	Object *unstructured.Unstructured
	// Part is the one that the object belongs to; empty for the cluster as a whole.
	Part string
}

// ApplyInPlace writes a MachineDeployment with its live values of the fields that
// replace machines.
type ApplyInPlace struct {
	Object *unstructured.Unstructured
	Part   string
}

// ApplyTopology writes a Cluster whose topology gets another version. Cluster API may
// not take that yet, because it has not quite ended the upgrade before; it is no error
// then that the object was not written.
type ApplyTopology struct {
	Object *unstructured.Unstructured
	// Through is the number of steps that are taken without another write once the
	// object is written.
	Through int
}

// Restore writes those templates among the objects that live ones refer to and that are
// not there.
type Restore struct {
	Objects []*unstructured.Unstructured
}

// Remove deletes a MachineDeployment with its machines.
type Remove struct {
	Object string // Kind/name
}

// Annotate gives an object one annotation, where it is there.
type Annotate struct {
	Object     *unstructured.Unstructured
	Key, Value string
}

// Pause writes a Cluster, paused, with a mark that says why, and takes entries of worker
// node groups out of its topology that stayed in it because others own fields of them.
type Pause struct {
	Object *unstructured.Unstructured
	Why    string
	Drop   []string
}

// Transfer gives the objects of a worker node group into the hands of clusterctl-x, or
// back into those of Cluster API's topology controller.
type Transfer struct {
	Group string
	// Object is the group's MachineDeployment, as Kind/name.
	Object string
	// Kind is plan.Detach or plan.Return.
	Kind plan.Kind
}

// RecordHold writes to the Cluster that its upgrade waits at a hold, or that it does
// not.
type RecordHold struct {
	Hold *state.Hold
}

// RecordEvent writes an Event about the Cluster.
type RecordEvent struct {
	Reason, Message string
}

// Warn prints a warning to the user who runs the upgrade.
type Warn struct {
	Text string
}

func (Apply) isAction()         {}
func (ApplyInPlace) isAction()  {}
func (ApplyTopology) isAction() {}
func (Restore) isAction()       {}
func (Remove) isAction()        {}
func (Annotate) isAction()      {}
func (Pause) isAction()         {}
func (Transfer) isAction()      {}
func (RecordHold) isAction()    {}
func (RecordEvent) isAction()   {}
func (Warn) isAction()          {}
