package management

import (
	"fmt"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// StuckError reports that a cluster waits for a machine that no controller retries.
type StuckError struct {
	Cluster string
	// Waiting is what the cluster waits for.
	Waiting string
	// Machines are the machines to delete.
	Machines []string
}

func (e *StuckError) Error() string {
	return fmt.Sprintf("cluster %s waits for %s; nothing will change by itself, because no MachineHealthCheck covers the machine: fix the cause, delete Machine/%s in the management cluster, and run the same command again",
		e.Cluster, e.Waiting, strings.Join(e.Machines, ", Machine/"))
}

// Stuck is the error of a cluster that nothing happens to any more; nil for others.
func Stuck(cluster state.Cluster) error {
	machines := cluster.Stuck()
	if len(machines) == 0 {
		return nil
	}
	return &StuckError{Cluster: cluster.Namespace + "/" + cluster.Name, Waiting: cluster.Waiting(), Machines: machines}
}
