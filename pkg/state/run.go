package state

import (
	"time"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// Run is a run of a command that changed a cluster.
type Run struct {
	// Command, such as "upgrade cluster".
	Command string `json:"command"`
	// User is who ran it, as the management cluster knows them; empty where that is not
	// known.
	User string `json:"user,omitempty"`
	// Client is the process and the machine, as in the lock that the run held.
	Client string    `json:"client"`
	Began  time.Time `json:"began"`
	// Ended is zero for a run whose end was not written.
	Ended time.Time `json:"ended,omitzero"`
	// Parts are those that the run was limited to; empty for the whole cluster.
	Parts []string `json:"parts,omitempty"`
	// From and To are the versions of the parts that the run gave another one.
	From v1alpha1.ClusterVersions `json:"from,omitzero"`
	To   v1alpha1.ClusterVersions `json:"to,omitzero"`
	// Steps of the plan.
	Steps  int       `json:"steps,omitempty"`
	Result RunResult `json:"result,omitempty"`
	// Reason is why the run did not get to its end.
	Reason string `json:"reason,omitempty"`
}

// RunResult is how a run ended.
type RunResult string

// How runs ended. The end of the last two was not written.
const (
	RunDone        RunResult = "Done"
	RunLeft        RunResult = "Left" // by --no-wait, before all steps were done
	RunFailed      RunResult = "Failed"
	RunInterrupted RunResult = "Interrupted" // by a signal, or by --timeout
	RunUnderWay    RunResult = "Running"     // it holds its lock
	RunLost        RunResult = "Lost"        // killed, cut off from the management cluster, or without its lock
)

// SetReason takes the first line of a text, without what a terminal would act on: further
// lines have details such as values of fields.
func (r *Run) SetReason(text string) { r.Reason = oneLine(firstLine(text)) }

// Same reports whether both are about one run.
func (r Run) Same(other Run) bool { return r.Client == other.Client && r.Began.Equal(other.Began) }

// Event is what clusterctl-x wrote about a cluster as an Event of Kubernetes, which keeps it
// for a while.
type Event struct {
	Time    time.Time `json:"time"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
}

// History is what happened to a cluster, oldest first.
type History struct {
	Namespace string  `json:"namespace"`
	Name      string  `json:"name"`
	Runs      []Run   `json:"runs"`
	Events    []Event `json:"events"`
}
