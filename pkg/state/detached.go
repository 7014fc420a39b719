package state

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Pause says why clusterctl-x paused a cluster. It is written on the Cluster
// together with the pause, and taken away together with it.
type Pause struct {
	// Why is what is done during the pause, such as "detach md-0".
	Why string `json:"why"`
	// By is who runs clusterctl-x, and where.
	By    string    `json:"by"`
	Since time.Time `json:"since"`
	// For is empty where a group is detached or returned.
	For PauseFor `json:"for,omitempty"`
	// Command completes what is done during the pause; empty where For decides it.
	Command string `json:"command,omitempty"`
}

// PauseFor is the use case of a pause.
type PauseFor string

// Use cases of pauses besides detaching and returning groups.
const (
	PauseForBackup  PauseFor = "backup"
	PauseForRestore PauseFor = "restore"
	// PauseForMove is that of a cluster which is moved to another management cluster, and
	// PauseForArrival that of the same cluster there, until all its objects are created. It is
	// PauseForArrived then.
	PauseForMove    PauseFor = "move"
	PauseForArrival PauseFor = "arrival"
	PauseForArrived PauseFor = "arrived"
)

// command is what completes what was done during the pause.
func (p PauseFor) command() string {
	switch p {
	case PauseForBackup:
		return "clusterctl-x backup management"
	case PauseForRestore:
		return "clusterctl-x restore management"
	default:
		return "clusterctl-x upgrade cluster"
	}
}

// String says it in a sentence, with what to do.
func (p Pause) String() string {
	return fmt.Sprintf("clusterctl-x paused the cluster %s", p.more())
}

// Waiting says what is waited for.
func (p Pause) Waiting() string {
	return fmt.Sprintf("the end of the pause that clusterctl-x set %s", p.more())
}

func (p Pause) more() string {
	return fmt.Sprintf("to %s (%s, since %s); if that was interrupted, '%s' completes it and lifts the pause", p.Why, p.By, p.Since.UTC().Format(time.RFC3339), cmp.Or(p.Command, p.For.command()))
}

// Attached returns the cluster with only the parts that Cluster API manages for its
// topology.
func (c Cluster) Attached() Cluster {
	c.WorkerNodeGroups = slices.DeleteFunc(slices.Clone(c.WorkerNodeGroups), func(p Part) bool { return p.Detached })
	return c
}

// InTopology reports whether the topology of the cluster takes a group along.
func (c Cluster) InTopology(group string) bool {
	return c.Topology != nil && slices.ContainsFunc(c.Topology.Groups, func(g TopologyGroup) bool { return g.Name == group && !g.Pinned })
}

// Between reports whether a group is half-way out of the topology, or into it: what
// began that was stopped.
func (c Cluster) Between(group string) bool {
	part, exists := c.Group(group)
	if !exists || c.Topology == nil {
		return false
	}
	if part.Detached {
		return c.InTopology(group)
	}
	// Without a pause of ours it is on its way out, because somebody took its entry
	// away.
	return !c.InTopology(group) && c.Pause != nil
}

// PutBack describes the detached groups whose entry was put back into the topology, and
// the remedy. Cluster API makes a second MachineDeployment for such an entry.
// clusterctl-x puts one there only under its own pause.
func (c Cluster) PutBack() string {
	if c.Topology == nil {
		return ""
	}
	var names, doubles []string
	for _, group := range c.WorkerNodeGroups {
		if group.Unmanaged || !group.Detached || !c.InTopology(group.Name) {
			continue
		}
		i := slices.IndexFunc(c.WorkerNodeGroups, func(p Part) bool { return p.Name == group.Name && !p.Unmanaged && !p.Detached })
		if i < 0 && c.Pause != nil {
			continue // on its way back
		}
		names = append(names, group.Name)
		if i >= 0 {
			doubles = append(doubles, c.WorkerNodeGroups[i].Object)
		}
	}
	if len(names) == 0 {
		return ""
	}
	text := fmt.Sprintf("the topology of cluster %s has an entry of %s again, which clusterctl-x removed to pin the group", c.Name, strings.Join(names, ", "))
	if len(doubles) > 0 {
		text += fmt.Sprintf(", and Cluster API made %s for it next to the group's own MachineDeployment", strings.Join(doubles, ", "))
	}
	return text + "; remove the entry from spec.topology.workers.machineDeployments of the Cluster, and from Git if it comes from there, and Cluster API deletes what it made for it; then run the command again"
}
