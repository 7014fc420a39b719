// Package state has the observed state of one cluster as values: the control plane,
// every worker node group, and their machines.
package state

import (
	"slices"
	"strings"
	"time"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// Cluster is one cluster as Cluster API has it.
type Cluster struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	UID       string `json:"uid,omitempty"`
	// Unmanaged is true for a cluster that clusterctl-x has never written.
	Unmanaged bool `json:"foreign,omitempty"`
	// Owner is who writes the Cluster; nil where that is not known.
	Owner *Owner `json:"owner,omitempty"`
	// Generation of the Cluster object.
	Generation int64     `json:"generation,omitempty"`
	Created    time.Time `json:"created"`
	// Phase as Cluster API calls it: Pending, Provisioning, Provisioned, Deleting, Failed.
	Phase  string `json:"phase"`
	Paused bool   `json:"paused,omitempty"`
	// Pause is the pause that clusterctl-x set; nil without one.
	Pause *Pause `json:"pause,omitempty"`
	// Deleting is true once the cluster was told to go away.
	Deleting bool `json:"deleting,omitempty"`
	// Infrastructure says why the cluster's infrastructure is not provisioned;
	// it is empty once it is.
	Infrastructure string `json:"infrastructure,omitempty"`
	ControlPlane   Part   `json:"controlPlane"`
	// WorkerNodeGroups are the MachineDeployments, and then the MachinePools, in the order
	// of their names.
	WorkerNodeGroups []Part `json:"workerNodeGroups,omitempty"`
	// AddOns are the add-ons that Cluster API applies to the cluster itself, in the
	// order of their names.
	AddOns []AddOn `json:"addOns,omitempty"`
	// Topology of a cluster from a ClusterClass; nil without one.
	Topology *Topology `json:"topology,omitempty"`
	// Holds are the holds of the cluster, in the order of an upgrade.
	Holds []Hold `json:"holds,omitempty"`
	// Held is the one that an upgrade waits at.
	Held *Hold `json:"held,omitempty"`
	// HealthWait is the wait for a healthy cluster before the next step; nil without one.
	HealthWait *HealthWait `json:"mending,omitempty"`
	// ToldHeld is true where a condition of the Cluster says that its upgrade waits at
	// a hold, which may have been lifted since.
	ToldHeld bool `json:"-"`
	// Others are the machines that belong neither to the control plane nor to a worker
	// node group, in the order of their names.
	Others []Other `json:"others,omitempty"`
}

// Owner is a tool that writes an object, and what makes the tool write it, for instance a
// Kustomization of Flux.
type Owner struct {
	Tool string `json:"tool"`
	Name string `json:"name,omitempty"`
}

func (o Owner) String() string { return strings.TrimSpace(o.Tool + " " + o.Name) }

// OwnedByOthers reports whether another tool than clusterctl-x is known to write the
// Cluster.
func (c Cluster) OwnedByOthers() bool { return c.Owner != nil && c.Owner.Tool != "clusterctl-x" }

// HealthWait is the wait of an upgrade for a healthy cluster before its next step.
type HealthWait struct {
	// Parts are the names of the parts that are not healthy.
	Parts []string `json:"parts"`
	// Since is when the upgrade began to wait, Until when it gives up.
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
}

// Other is a machine that is none of clusterctl-x's.
type Other struct {
	Object  string           `json:"object"` // Kind/name
	Version v1alpha1.Version `json:"version,omitzero"`
}

// Part is the control plane or one worker node group.
type Part struct {
	Name   string `json:"name"`
	Object string `json:"object"` // Kind/name
	// Unmanaged is true for a group that clusterctl-x did not make.
	Unmanaged bool `json:"foreign,omitempty"`
	// Claimed is true for a group that clusterctl-x did not make and that a file
	// describes.
	Claimed bool `json:"-"`
	// Detached is true for a worker node group of a cluster from a ClusterClass that
	// the topology does not take along: it does not own its MachineDeployment, or was
	// given a version for it.
	Detached bool `json:"detached,omitempty"`
	// MadeFrom is the content of the class, as Topology.Content has it, that a
	// detached group was last written from.
	MadeFrom string `json:"madeFrom,omitempty"`
	// Unseen is true as long as Cluster API has not finished the latest change of
	// the object.
	Unseen bool `json:"-"`
	// PauseSeen is true once Cluster API has seen, at the object's latest change,
	// that its cluster is paused.
	PauseSeen bool `json:"-"`
	// Paused is true where Cluster API was told to leave the object alone.
	Paused bool `json:"paused,omitempty"`
	// Generation of the object.
	Generation int64 `json:"generation,omitempty"`
	// InPlace is true where machines get another version without being replaced.
	InPlace bool `json:"inPlace,omitempty"`
	// Version is the desired version of its machines; zero if there is none yet.
	Version v1alpha1.Version `json:"version,omitzero"`
	// Replicas that are wanted.
	Replicas int `json:"replicas"`
	// Autoscaled is true where the cluster autoscaler decides how many that are.
	Autoscaled bool `json:"autoscaled,omitempty"`
	// SkewUnchecked is true for a group that gets new machines while its minor is behind
	// the control plane's: Cluster API does not check the skew before it makes them.
	SkewUnchecked bool      `json:"-"`
	Machines      []Machine `json:"machines,omitempty"`
	// Former are the names of the templates that outdated machines of a worker node
	// group were made from, sorted.
	Former []string `json:"former,omitempty"`
	// Settled is true once Cluster API has seen the latest change of the part
	// and reports it as available.
	Settled bool `json:"settled"`
	// Reason says why the part is not as wanted, in Cluster API's own words;
	// it may be empty.
	Reason string `json:"reason,omitempty"`
	// Blocked is true where the reason is why the part gets no new machine.
	Blocked bool `json:"blocked,omitempty"`
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
	Ready bool `json:"ready"`
	// Outdated is true for a machine that is not made from the part's present
	// templates, whatever its version.
	Outdated bool `json:"outdated,omitempty"`
	Deleting bool `json:"deleting,omitempty"`
	// Failed says what becomes of a machine whose bootstrap failed, and is not tried
	// again.
	Failed Failure `json:"failed,omitempty"`
	// Since is when it was told to go, or made where it was not.
	Since time.Time `json:"since,omitzero"`
	// Reason says why the machine is not as wanted; pkg/observe makes it.
	Reason string `json:"reason,omitempty"`
}

// Failure is the fate of a failed machine.
type Failure string

// Failures. A machine that did not fail has none of them.
const (
	Failed           Failure = "Final"      // it stays as it is
	FailedRemediated Failure = "Remediated" // a MachineHealthCheck has it replaced
)

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

// Versions returns the specified versions of the control plane and the groups, without
// unmanaged groups.
func (c Cluster) Versions() v1alpha1.ClusterVersions {
	versions := v1alpha1.ClusterVersions{ControlPlane: c.ControlPlane.Version, WorkerNodeGroups: map[string]v1alpha1.Version{}}
	for _, group := range c.WorkerNodeGroups {
		if group.Unmanaged {
			continue
		}
		versions.WorkerNodeGroups[group.Name] = group.Version
	}
	return versions
}

// Pool reports whether the part is a MachinePool.
func (p Part) Pool() bool { return strings.HasPrefix(p.Object, "MachinePool/") }

// Ready counts the machines that are ready as the part is to have them.
func (p Part) Ready() int {
	ready := 0
	for _, m := range p.Machines {
		if m.ReadyAt(p.Version) {
			ready++
		}
	}
	return ready
}

// Serving counts the machines that are ready, of whatever version, and stay for now.
func (p Part) Serving() int {
	serving := 0
	for _, m := range p.Machines {
		if m.Ready && !m.Deleting {
			serving++
		}
	}
	return serving
}

// Unwell reports whether something is wrong with the part, apart from rollouts under
// way.
func (p Part) Unwell() bool { return p.Paused || slices.ContainsFunc(p.Machines, Machine.Unwell) }

// ToReplace counts the machines that the part has and is not to have: those of
// another version or of other templates.
func (p Part) ToReplace() int {
	count := 0
	for _, m := range p.Machines {
		if !m.of(p.Version) {
			count++
		}
	}
	return count
}

// ComesUp reports whether the part is not done for the only reason that machines
// are on their way to it, or surplus ones from it: none that had come up is
// unwell, and none that is wanted goes.
func (p Part) ComesUp() bool {
	surplus := len(p.Machines) > p.Replicas
	return !p.Blocked && !p.Paused && !slices.ContainsFunc(p.Machines, func(m Machine) bool {
		return m.Node != "" && !m.ReadyAt(p.Version) && !(m.Deleting && surplus)
	})
}

// Oldest is the oldest version of the part's machines and nodes; it is the
// version that is specified where there are none.
func (p Part) Oldest() v1alpha1.Version {
	oldest := p.Version
	for _, m := range p.Machines {
		for _, version := range []v1alpha1.Version{m.Version, m.Kubelet} {
			if !version.IsZero() && (oldest.IsZero() || version.Before(oldest)) {
				oldest = version
			}
		}
	}
	return oldest
}

// Done reports whether the part has exactly the machines that are wanted, all of
// them ready at its version. It counts machines and nodes itself: the
// conditions of Cluster API alone turn true too early.
func (p Part) Done() bool {
	return p.Settled && len(p.Machines) == p.Replicas && p.Ready() == p.Replicas
}

// ReadyAt reports whether machine and node are ready at the version, and the
// machine made from the present templates.
func (m Machine) ReadyAt(version v1alpha1.Version) bool {
	return m.Ready && !m.Deleting && m.of(version) && m.Kubelet == version
}

// Unwell reports whether the machine failed, or was ready and no longer is. A machine
// that starts, is being deleted, or will be replaced is not unwell.
func (m Machine) Unwell() bool {
	return m.Phase == failed || m.Failed != "" || m.Node != "" && !m.Ready && !m.Deleting
}

// of reports whether the machine has the desired state.
func (m Machine) of(version v1alpha1.Version) bool {
	return m.Version == version && !m.Outdated
}

// Done reports whether all parts of the cluster are done, and its add-ons applied. A
// cluster that is being deleted never is. Unmanaged groups count only in an unmanaged
// cluster.
func (c Cluster) Done() bool {
	for _, part := range c.Parts() {
		if c.counts(part) && !part.Done() {
			return false
		}
	}
	_, pending := c.pendingAddOn()
	return c.Infrastructure == "" && !c.Deleting && !pending && c.carriedOver()
}

// Ready reports whether the cluster is done and no upgrade of it waits at a hold.
func (c Cluster) Ready() bool { return c.Done() && c.Held == nil }

// counts reports whether the cluster is not done before a part is.
func (c Cluster) counts(part Part) bool { return c.Unmanaged || !part.Unmanaged }

// pendingAddOn is the first add-on that is not applied.
func (c Cluster) pendingAddOn() (AddOn, bool) {
	i := slices.IndexFunc(c.AddOns, func(a AddOn) bool { return !a.Applied })
	if i < 0 {
		return AddOn{}, false
	}
	return c.AddOns[i], true
}

// Part is the control plane or the worker node group of the name.
func (c Cluster) Part(name string) (Part, bool) {
	if name == v1alpha1.ControlPlaneName {
		return c.ControlPlane, true
	}
	return c.Group(name)
}

// Group is the worker node group of the name.
func (c Cluster) Group(name string) (Part, bool) {
	i := slices.IndexFunc(c.WorkerNodeGroups, func(p Part) bool { return p.Name == name && !p.Unmanaged })
	if i < 0 {
		return Part{}, false
	}
	return c.WorkerNodeGroups[i], true
}
