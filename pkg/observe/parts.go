package observe

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

func (s snapshot) state() state.Cluster {
	c := state.Cluster{
		Name:         s.cluster.Name,
		Namespace:    s.cluster.Namespace,
		UID:          string(s.cluster.UID),
		Unmanaged:    s.cluster.Labels[v1alpha1.ClusterLabel] == "",
		Owner:        ownerOf(&s.cluster),
		Generation:   s.cluster.Generation,
		Created:      s.cluster.CreationTimestamp.Time,
		Phase:        s.cluster.Status.Phase,
		Paused:       s.cluster.Spec.Paused != nil && *s.cluster.Spec.Paused,
		Pause:        pauseOf(&s.cluster),
		Deleting:     !s.cluster.DeletionTimestamp.IsZero(),
		Topology:     Topology(&s.cluster),
		ControlPlane: s.controlPlanePart(),
		Others:       s.others(),
		Holds:        Holds(&s.cluster),
	}
	if initialized := s.cluster.Status.Initialization.InfrastructureProvisioned; initialized == nil || !*initialized {
		c.Infrastructure = cmp.Or(Reason(s.cluster.Status.Conditions, clusterv1.ClusterInfrastructureReadyCondition), "not provisioned yet")
	}
	for _, deployment := range s.deployments {
		c.WorkerNodeGroups = append(c.WorkerNodeGroups, s.groupPart(deployment))
	}
	for _, pool := range s.pools {
		c.WorkerNodeGroups = append(c.WorkerNodeGroups, s.poolPart(pool))
	}
	for _, set := range s.resourceSets {
		c.AddOns = append(c.AddOns, s.addOn(set))
	}
	c.ToldHeld = meta.IsStatusConditionTrue(s.cluster.Status.Conditions, v1alpha1.HeldCondition)
	if c.Held = heldBy(&s.cluster, c.Holds); c.Held == nil {
		c.Held = c.HeldByHook()
	}
	return c
}

func (s snapshot) addOn(set addonsv1.ClusterResourceSet) state.AddOn {
	const applied = addonsv1.ClusterResourceSetResourcesAppliedCondition
	addOn := state.AddOn{
		Name:    strings.TrimPrefix(set.Name, s.cluster.Name+"-"),
		Applied: set.Status.ObservedGeneration == set.Generation && meta.IsStatusConditionTrue(set.Status.Conditions, applied),
		Reason:  Reason(set.Status.Conditions, applied),
	}
	if addOn.Reason != "" {
		// Cluster API names neither the object nor what is wrong with it.
		var names []string
		for _, resource := range set.Spec.Resources {
			names = append(names, resource.Kind+"/"+resource.Name)
		}
		addOn.Reason += " (" + strings.Join(names, ", ") + ")"
	}
	return addOn
}

func (s snapshot) controlPlanePart() state.Part {
	part := state.Part{Name: v1alpha1.ControlPlaneName}
	if ref := s.cluster.Spec.ControlPlaneRef; ref.IsDefined() {
		part.Object = ref.Kind + "/" + ref.Name
	}
	for _, machine := range s.machines {
		if _, ok := machine.Labels[clusterv1.MachineControlPlaneLabel]; ok {
			part.Machines = append(part.Machines, s.controlPlaneMachine(machine))
		}
	}
	if s.otherUnread != nil {
		part.Reason, part.Blocked = part.Object+" cannot be read: "+s.otherUnread.Error(), true
		return part
	}
	if s.other != nil {
		return otherControlPlane(part, s.other)
	}
	if s.controlPlane == nil {
		part.Reason, part.Blocked = cmp.Or(part.Object, "the control plane's object")+" does not exist yet", true
		return part
	}
	kcp := s.controlPlane
	part.Generation = kcp.Generation
	part.Paused = annotations.HasPaused(kcp)
	part.Version = version(kcp.Spec.Version)
	part.Replicas = replicas(kcp.Spec.Replicas)
	part.Unseen = !controlPlaneFinished(kcp)
	// A change that replaces machines and keeps their version shows in the count
	// of what is up to date only.
	part.Settled = !part.Unseen && upToDate(kcp.Status.UpToDateReplicas, kcp.Spec.Replicas) && meta.IsStatusConditionTrue(kcp.Status.Conditions, controlplanev1.KubeadmControlPlaneAvailableCondition)

	part.Reason = cmp.Or(
		createError(part.Object, kcp.GetV1Beta1Conditions(), controlplanev1.MachinesCreatedV1Beta1Condition),
		Reason(kcp.Status.Conditions, controlplanev1.KubeadmControlPlaneCertificatesAvailableCondition),
		unseen(part, kcp.Status.Conditions, controlplanev1.KubeadmControlPlaneAvailableCondition),
	)
	part.Blocked = part.Reason != ""
	// The rest are consequences of machines that are not well.
	part.Reason = cmp.Or(part.Reason,
		Reason(kcp.Status.Conditions, controlplanev1.KubeadmControlPlaneAvailableCondition),
		blockage(kcp.Status.Conditions, controlplanev1.KubeadmControlPlaneScalingUpCondition),
		blockage(kcp.Status.Conditions, controlplanev1.KubeadmControlPlaneScalingDownCondition),
	)
	return part
}

// formerTemplates are the names of the templates of the sets that still have
// machines.
func (s snapshot) formerTemplates(sets []clusterv1.MachineSet) []string {
	inUse := map[string]bool{}
	for _, machine := range s.machines {
		inUse[setOf(machine)] = true
	}
	var names []string
	for _, set := range sets {
		if inUse[set.Name] {
			names = append(names, set.Spec.Template.Spec.Bootstrap.ConfigRef.Name, set.Spec.Template.Spec.InfrastructureRef.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (s snapshot) groupPart(deployment clusterv1.MachineDeployment) state.Part {
	name, owner := s.groupName(deployment)
	part := state.Part{
		Name:          name,
		Object:        "MachineDeployment/" + deployment.Name,
		Unmanaged:     owner == unmanaged,
		Detached:      s.detached(name, owner),
		MadeFrom:      deployment.Annotations[v1alpha1.ClassContentAnnotation],
		PauseSeen:     pauseSeen(deployment.Status.Conditions, clusterv1.PausedCondition, deployment.Generation),
		Paused:        annotations.HasPaused(&deployment) || deployment.Spec.Paused != nil && *deployment.Spec.Paused,
		Generation:    deployment.Generation,
		Version:       version(deployment.Spec.Template.Spec.Version),
		Replicas:      replicas(deployment.Spec.Replicas),
		Autoscaled:    autoscaled(&deployment),
		SkewUnchecked: skewUnchecked(&deployment),
	}
	wanted := templateOf(deployment.Spec.Template.Spec)
	current := map[string]bool{}
	var present, former []clusterv1.MachineSet
	for _, set := range s.sets {
		switch {
		case set.Labels[clusterv1.MachineDeploymentNameLabel] != deployment.Name:
		case templateOf(set.Spec.Template.Spec) == wanted:
			present, current[set.Name] = append(present, set), true
		default:
			former = append(former, set)
		}
	}
	for _, machine := range s.machines {
		if machine.Labels[clusterv1.MachineDeploymentNameLabel] == deployment.Name {
			m := s.machineState(machine)
			m.Outdated = m.Outdated || !current[setOf(machine)]
			part.Machines = append(part.Machines, m)
		}
	}
	part.Former = s.formerTemplates(former)
	part.Unseen = !deploymentFinished(deployment, present)
	part.Reason = cmp.Or(blockedSet(append(present, former...)), unseen(part, deployment.Status.Conditions, clusterv1.MachineDeploymentAvailableCondition))
	part.Blocked = part.Reason != ""
	carrying := s.carryingOver(present)
	part.Settled = !part.Unseen && carrying == "" && meta.IsStatusConditionTrue(deployment.Status.Conditions, clusterv1.MachineDeploymentAvailableCondition)
	part.Reason = cmp.Or(part.Reason, Reason(deployment.Status.Conditions, clusterv1.MachineDeploymentAvailableCondition), carrying)
	return part
}

// carryingOver reports that in-place changes have not reached the machines of a set.
// Cluster API has written the sets when it has finished their MachineDeployment, and
// the machines when it has finished their set.
func (s snapshot) carryingOver(sets []clusterv1.MachineSet) string {
	for _, set := range sets {
		if !s.setFinished(set) {
			return "Cluster API has yet to carry the latest labels, annotations and timeouts over to the machines of MachineSet/" + set.Name
		}
	}
	return ""
}

// detached reports whether the topology does not take a group along.
func (s snapshot) detached(group string, owner groupOwner) bool {
	given := s.cluster.Spec.Topology
	pinned := slices.ContainsFunc(given.Workers.MachineDeployments, func(entry clusterv1.MachineDeploymentTopology) bool { return entry.Name == group && isPinned(entry) })
	return given.IsDefined() && (owner == ofSpec || owner == ofTopology && pinned)
}

// groupOwner is the manager of a MachineDeployment.
type groupOwner int

const (
	unmanaged  groupOwner = iota
	ofSpec                // clusterctl-x, for a spec
	ofTopology            // Cluster API, for a topology
)

// groupName returns the name of the worker node group of a MachineDeployment, and its owner.
func (s snapshot) groupName(deployment clusterv1.MachineDeployment) (string, groupOwner) {
	if name, owned := deployment.Labels[clusterv1.ClusterTopologyMachineDeploymentNameLabel]; owned && s.cluster.Spec.Topology.IsDefined() {
		return name, ofTopology
	}
	if name, ours := deployment.Labels[v1alpha1.WorkerNodeGroupLabel]; ours {
		return name, ofSpec
	}
	return strings.TrimPrefix(deployment.Name, s.cluster.Name+"-"), unmanaged
}

// template holds the fields of a machine's template that Cluster API replaces
// machines for.
type template struct {
	version, failureDomain    string
	bootstrap, infrastructure clusterv1.ContractVersionedObjectReference
}

func templateOf(spec clusterv1.MachineSpec) template {
	return template{spec.Version, spec.FailureDomain, spec.Bootstrap.ConfigRef, spec.InfrastructureRef}
}

// setOf is the name of the MachineSet that a machine is of. Its label has a hash
// in place of a long name.
func setOf(machine clusterv1.Machine) string {
	if owner := metav1.GetControllerOf(&machine); owner != nil && owner.Kind == "MachineSet" {
		return owner.Name
	}
	return ""
}

// upToDate reports whether the count of up-to-date machines is the wanted one.
func upToDate(count, wanted *int32) bool { return count != nil && int(*count) == replicas(wanted) }

// others are the machines of the cluster that are part of no other part.
func (s snapshot) others() []state.Other {
	ofDeployment := map[string]bool{}
	for _, deployment := range s.deployments {
		ofDeployment[deployment.Name] = true
	}
	var others []state.Other
	for _, machine := range s.machines {
		_, controlPlane := machine.Labels[clusterv1.MachineControlPlaneLabel]
		_, ofPool := machine.Labels[clusterv1.MachinePoolNameLabel]
		if !controlPlane && !ofPool && !ofDeployment[machine.Labels[clusterv1.MachineDeploymentNameLabel]] {
			m := s.machineState(machine)
			// A node counts with what it runs.
			others = append(others, state.Other{Object: "Machine/" + machine.Name, Version: cmp.Or(m.Kubelet, m.Version)})
		}
	}
	return others
}

// autoscaled reports whether the cluster autoscaler decides how many machines a group has
// (https://cluster-api.sigs.k8s.io/tasks/automated-machine-management/autoscaling).
func autoscaled(group client.Object) bool {
	_, is := group.GetAnnotations()[clusterv1.AutoscalerMinSizeAnnotation]
	return is
}

// skewUnchecked reports whether the preflight check of the skew is left out for the
// MachineSets of a MachineDeployment.
func skewUnchecked(deployment *clusterv1.MachineDeployment) bool {
	skipped := strings.Split(deployment.Annotations[clusterv1.MachineSetSkipPreflightChecksAnnotation], ",")
	return slices.ContainsFunc(skipped, func(check string) bool {
		check = strings.TrimSpace(check)
		return check == string(clusterv1.MachineSetPreflightCheckKubeadmVersionSkew) || check == string(clusterv1.MachineSetPreflightCheckAll)
	})
}

// version is zero for what is no version of Kubernetes.
func version(text string) v1alpha1.Version {
	v, err := v1alpha1.ParseVersion(text)
	if err != nil {
		return v1alpha1.Version{}
	}
	return v
}

func replicas(wanted *int32) int {
	if wanted == nil {
		return 1
	}
	return int(*wanted)
}
