// Package state is what can be seen of one cluster at one moment, as values:
// the control plane, every worker node group, and their machines.
package state

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// Cluster is one cluster as Cluster API has it.
type Cluster struct {
	Name      string    `json:"name"`
	Namespace string    `json:"namespace"`
	Created   time.Time `json:"created"`
	// Phase as Cluster API calls it: Pending, Provisioning, Provisioned, Deleting, Failed.
	Phase  string `json:"phase"`
	Paused bool   `json:"paused,omitempty"`
	// Deleting is true once the cluster was told to go away.
	Deleting bool `json:"deleting,omitempty"`
	// Infrastructure says why the cluster's infrastructure is not provisioned;
	// it is empty once it is.
	Infrastructure string `json:"infrastructure,omitempty"`
	ControlPlane   Part   `json:"controlPlane"`
	// WorkerNodeGroups in the order of their names.
	WorkerNodeGroups []Part `json:"workerNodeGroups,omitempty"`
	// AddOns are what Cluster API applies to the cluster itself, in the order of
	// their names.
	AddOns []AddOn `json:"addOns,omitempty"`
	// Topology is true for a cluster from a ClusterClass.
	Topology bool `json:"topology,omitempty"`
}

// Part is the control plane or one worker node group.
type Part struct {
	Name   string `json:"name"`
	Object string `json:"object"` // Kind/name
	// Version that its machines are to have; zero where there is none yet.
	Version v1alpha1.Version `json:"version,omitzero"`
	// Replicas that are wanted.
	Replicas int       `json:"replicas"`
	Machines []Machine `json:"machines,omitempty"`
	// Settled is true once Cluster API has seen the latest change of the part
	// and reports it as available.
	Settled bool `json:"settled"`
	// Reason says why the part is not as wanted, in Cluster API's own words;
	// it may be empty.
	Reason string `json:"reason,omitempty"`
}

// Machine is one machine of a part.
type Machine struct {
	Name    string           `json:"name"`
	Phase   string           `json:"phase"`
	Version v1alpha1.Version `json:"version,omitzero"`
	Node    string           `json:"node,omitempty"`
	// Kubelet is the version that its node reports.
	Kubelet v1alpha1.Version `json:"kubelet,omitzero"`
	// Ready as Cluster API judges it.
	Ready    bool   `json:"ready"`
	Deleting bool   `json:"deleting,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// AddOn is a ClusterResourceSet of the cluster.
type AddOn struct {
	Name    string `json:"name"`
	Applied bool   `json:"applied"`
	// Reason says why it is not applied, in Cluster API's own words.
	Reason string `json:"reason,omitempty"`
}

// Parts are the control plane and all worker node groups.
func (c Cluster) Parts() []Part {
	return append([]Part{c.ControlPlane}, c.WorkerNodeGroups...)
}

// Versions are what control plane and groups are specified to have.
func (c Cluster) Versions() v1alpha1.ClusterVersions {
	versions := v1alpha1.ClusterVersions{ControlPlane: c.ControlPlane.Version, WorkerNodeGroups: map[string]v1alpha1.Version{}}
	for _, group := range c.WorkerNodeGroups {
		versions.WorkerNodeGroups[group.Name] = group.Version
	}
	return versions
}

// Ready counts the machines that are ready at the part's version.
func (p Part) Ready() int {
	ready := 0
	for _, m := range p.Machines {
		if m.ReadyAt(p.Version) {
			ready++
		}
	}
	return ready
}

// Done tells whether the part has exactly the machines that are wanted, all of
// them ready at its version. It counts machines and nodes itself: the
// conditions of Cluster API alone turn true too early.
func (p Part) Done() bool {
	return p.Settled && len(p.Machines) == p.Replicas && p.Ready() == p.Replicas
}

// ReadyAt tells whether machine and node are ready at the version.
func (m Machine) ReadyAt(version v1alpha1.Version) bool {
	return m.Ready && !m.Deleting && m.Version == version && m.Kubelet == version
}

// Done tells whether all parts of the cluster are as wanted, and its add-ons
// applied. A cluster that is being deleted never is.
func (c Cluster) Done() bool {
	for _, part := range c.Parts() {
		if !part.Done() {
			return false
		}
	}
	_, pending := c.pendingAddOn()
	return c.Infrastructure == "" && !c.Deleting && !pending
}

// Waiting names what is being waited for, the first thing first; it is empty
// when the cluster is done.
func (c Cluster) Waiting() string {
	switch {
	case c.Done():
		return ""
	case c.Paused:
		return "the cluster is paused (spec.paused); Cluster API does nothing until it is not"
	case c.Deleting:
		return c.leaving()
	case c.Infrastructure != "":
		return "infrastructure: " + c.Infrastructure
	}
	for _, part := range c.Parts() {
		if !part.Done() {
			return part.waiting()
		}
	}
	if addOn, pending := c.pendingAddOn(); pending {
		return fmt.Sprintf("add-on %s: %s", addOn.Name, cmp.Or(addOn.Reason, "not applied yet"))
	}
	return ""
}

// pendingAddOn is the first add-on that is not applied.
func (c Cluster) pendingAddOn() (AddOn, bool) {
	i := slices.IndexFunc(c.AddOns, func(a AddOn) bool { return !a.Applied })
	if i < 0 {
		return AddOn{}, false
	}
	return c.AddOns[i], true
}

// leaving names what of a cluster that is being deleted is still there.
func (c Cluster) leaving() string {
	for _, part := range slices.Backward(c.Parts()) {
		if len(part.Machines) == 0 {
			continue
		}
		m := part.Machines[0]
		text := fmt.Sprintf("%s: machines left: %d; machine %s is %s", part.Name, len(part.Machines), m.Name, m.Phase)
		if m.Reason != "" {
			text += ": " + m.Reason
		}
		return text
	}
	return "Cluster API to remove the cluster's last objects"
}

func (p Part) waiting() string {
	progress := fmt.Sprintf("%s: %d of %d machines ready", p.Name, p.Ready(), p.Replicas)
	if !p.Version.IsZero() {
		progress += " at " + p.Version.String()
	}
	for _, m := range p.Machines {
		if !m.ReadyAt(p.Version) {
			return progress + "; " + m.waiting(p.Version)
		}
	}
	switch surplus := len(p.Machines) - p.Replicas; {
	case p.Reason != "":
		return progress + "; " + p.Reason
	case surplus > 0:
		return fmt.Sprintf("%s, %d more to go", progress, surplus)
	case surplus == 0:
		return progress + "; Cluster API does not report it as available yet"
	}
	return progress
}

// waiting says why the machine is not ready at the version.
func (m Machine) waiting(version v1alpha1.Version) string {
	text := fmt.Sprintf("machine %s is %s", m.Name, m.Phase)
	switch {
	case m.Version != version && !m.Version.IsZero():
		text += " at " + m.Version.String()
	case m.Kubelet != version && !m.Kubelet.IsZero():
		text += " with its kubelet at " + m.Kubelet.String()
	}
	if m.Reason != "" {
		text += ": " + m.Reason
	}
	return text
}
