package management

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Observe returns the state of a cluster, and false where there is none.
func (c *Client) Observe(ctx context.Context, key client.ObjectKey) (state.Cluster, bool, error) {
	snapshot, err := read(ctx, c.Client, key)
	if apierrors.IsNotFound(err) {
		return state.Cluster{}, false, nil
	}
	if err != nil {
		return state.Cluster{}, false, c.explain(ctx, fmt.Errorf("reading cluster %s: %w", key, err))
	}
	return snapshot.state(), true, nil
}

// snapshot holds the objects that the state of a cluster is read from.
type snapshot struct {
	cluster      clusterv1.Cluster
	controlPlane *controlplanev1.KubeadmControlPlane
	deployments  []clusterv1.MachineDeployment
	sets         []clusterv1.MachineSet
	machines     []clusterv1.Machine
	resourceSets []addonsv1.ClusterResourceSet
}

// read reads the objects of one cluster. It is a NotFound error where there is none.
func read(ctx context.Context, reader client.Reader, key client.ObjectKey) (snapshot, error) {
	var cluster clusterv1.Cluster
	if err := reader.Get(ctx, key, &cluster); err != nil {
		return snapshot{}, err
	}
	snapshots, err := readOthers(ctx, reader, []clusterv1.Cluster{cluster}, client.InNamespace(key.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: key.Name})
	if err != nil {
		return snapshot{}, err
	}
	return snapshots[0], nil
}

// readAll reads the objects of all clusters of a namespace, or of all of them
// where it is empty, with one request for each kind.
func readAll(ctx context.Context, reader client.Reader, namespace string) ([]snapshot, error) {
	var clusters clusterv1.ClusterList
	if err := reader.List(ctx, &clusters, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	slices.SortFunc(clusters.Items, func(a, b clusterv1.Cluster) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return readOthers(ctx, reader, clusters.Items, client.InNamespace(namespace), client.HasLabels{clusterv1.ClusterNameLabel})
}

// readOthers reads everything but the Clusters, and gives each its own.
func readOthers(ctx context.Context, reader client.Reader, clusters []clusterv1.Cluster, options ...client.ListOption) ([]snapshot, error) {
	var controlPlanes controlplanev1.KubeadmControlPlaneList
	var deployments clusterv1.MachineDeploymentList
	var sets clusterv1.MachineSetList
	var machines clusterv1.MachineList
	var resourceSets addonsv1.ClusterResourceSetList
	for _, list := range []client.ObjectList{&controlPlanes, &deployments, &sets, &machines, &resourceSets} {
		if err := reader.List(ctx, list, options...); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(deployments.Items, func(a, b clusterv1.MachineDeployment) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(resourceSets.Items, func(a, b addonsv1.ClusterResourceSet) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(machines.Items, func(a, b clusterv1.Machine) int { return cmp.Compare(a.Name, b.Name) })

	snapshots := make([]snapshot, len(clusters))
	byKey := map[client.ObjectKey]*snapshot{}
	for i, cluster := range clusters {
		snapshots[i].cluster = cluster
		byKey[client.ObjectKeyFromObject(&cluster)] = &snapshots[i]
	}
	of := func(object client.Object) (*snapshot, bool) {
		s, ok := byKey[client.ObjectKey{Namespace: object.GetNamespace(), Name: object.GetLabels()[clusterv1.ClusterNameLabel]}]
		return s, ok
	}
	for i := range controlPlanes.Items {
		ref := controlPlanes.Items[i].Name
		if s, ok := of(&controlPlanes.Items[i]); ok && s.cluster.Spec.ControlPlaneRef.Name == ref {
			s.controlPlane = &controlPlanes.Items[i]
		}
	}
	for i := range deployments.Items {
		if s, ok := of(&deployments.Items[i]); ok {
			s.deployments = append(s.deployments, deployments.Items[i])
		}
	}
	for i := range sets.Items {
		if s, ok := of(&sets.Items[i]); ok {
			s.sets = append(s.sets, sets.Items[i])
		}
	}
	for i := range machines.Items {
		if s, ok := of(&machines.Items[i]); ok {
			s.machines = append(s.machines, machines.Items[i])
		}
	}
	for i := range resourceSets.Items {
		if s, ok := of(&resourceSets.Items[i]); ok {
			s.resourceSets = append(s.resourceSets, resourceSets.Items[i])
		}
	}
	return snapshots, nil
}

func (s snapshot) state() state.Cluster {
	c := state.Cluster{
		Name:         s.cluster.Name,
		Namespace:    s.cluster.Namespace,
		Created:      s.cluster.CreationTimestamp.Time,
		Phase:        s.cluster.Status.Phase,
		Paused:       s.cluster.Spec.Paused != nil && *s.cluster.Spec.Paused,
		Deleting:     !s.cluster.DeletionTimestamp.IsZero(),
		Topology:     s.cluster.Spec.Topology.IsDefined(),
		ControlPlane: s.controlPlanePart(),
	}
	if initialized := s.cluster.Status.Initialization.InfrastructureProvisioned; initialized == nil || !*initialized {
		c.Infrastructure = cmp.Or(reason(s.cluster.Status.Conditions, clusterv1.ClusterInfrastructureReadyCondition), "not provisioned yet")
	}
	for _, deployment := range s.deployments {
		c.WorkerNodeGroups = append(c.WorkerNodeGroups, s.groupPart(deployment))
	}
	for _, set := range s.resourceSets {
		c.AddOns = append(c.AddOns, s.addOn(set))
	}
	return c
}

func (s snapshot) addOn(set addonsv1.ClusterResourceSet) state.AddOn {
	const applied = addonsv1.ClusterResourceSetResourcesAppliedCondition
	addOn := state.AddOn{
		Name:    strings.TrimPrefix(set.Name, s.cluster.Name+"-"),
		Applied: set.Status.ObservedGeneration == set.Generation && meta.IsStatusConditionTrue(set.Status.Conditions, applied),
		Reason:  reason(set.Status.Conditions, applied),
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
	part := state.Part{Name: v1alpha1.ControlPlaneName, Object: s.cluster.Spec.ControlPlaneRef.Kind + "/" + s.cluster.Spec.ControlPlaneRef.Name}
	for _, machine := range s.machines {
		if _, ok := machine.Labels[clusterv1.MachineControlPlaneLabel]; ok {
			part.Machines = append(part.Machines, machineState(machine))
		}
	}
	if s.controlPlane == nil {
		part.Reason = part.Object + " does not exist yet"
		return part
	}
	kcp := s.controlPlane
	part.Version = version(kcp.Spec.Version)
	part.Replicas = replicas(kcp.Spec.Replicas)
	part.Settled = kcp.Status.ObservedGeneration == kcp.Generation && meta.IsStatusConditionTrue(kcp.Status.Conditions, controlplanev1.KubeadmControlPlaneAvailableCondition)
	part.Reason = firstReason(kcp.Status.Conditions, controlplanev1.KubeadmControlPlaneCertificatesAvailableCondition,
		controlplanev1.KubeadmControlPlaneAvailableCondition)
	return part
}

func (s snapshot) groupPart(deployment clusterv1.MachineDeployment) state.Part {
	name, ours := deployment.Labels[WorkerNodeGroupLabel]
	if !ours {
		name = strings.TrimPrefix(deployment.Name, s.cluster.Name+"-")
	}
	part := state.Part{
		Name:     name,
		Object:   "MachineDeployment/" + deployment.Name,
		Version:  version(deployment.Spec.Template.Spec.Version),
		Replicas: replicas(deployment.Spec.Replicas),
		Settled: deployment.Status.ObservedGeneration == deployment.Generation &&
			meta.IsStatusConditionTrue(deployment.Status.Conditions, clusterv1.MachineDeploymentAvailableCondition),
	}
	for _, machine := range s.machines {
		if machine.Labels[clusterv1.MachineDeploymentNameLabel] == deployment.Name {
			part.Machines = append(part.Machines, machineState(machine))
		}
	}
	part.Reason = cmp.Or(s.blockedSet(deployment.Name), reason(deployment.Status.Conditions, clusterv1.MachineDeploymentAvailableCondition))
	return part
}

// blockedSet is why a MachineSet of the deployment makes no machines. The
// MachineDeployment itself does not carry this reason on.
func (s snapshot) blockedSet(deployment string) string {
	for _, set := range s.sets {
		if set.Labels[clusterv1.MachineDeploymentNameLabel] != deployment {
			continue
		}
		condition := meta.FindStatusCondition(set.Status.Conditions, clusterv1.MachineSetScalingUpCondition)
		if condition != nil && condition.Status == metav1.ConditionTrue && condition.Message != "" {
			return oneLine(condition.Message)
		}
	}
	return ""
}

func machineState(m clusterv1.Machine) state.Machine {
	machine := state.Machine{
		Name:     m.Name,
		Phase:    cmp.Or(m.Status.Phase, string(clusterv1.MachinePhasePending)),
		Version:  version(m.Spec.Version),
		Node:     m.Status.NodeRef.Name,
		Ready:    meta.IsStatusConditionTrue(m.Status.Conditions, clusterv1.MachineReadyCondition) && m.Status.NodeRef.Name != "",
		Deleting: !m.DeletionTimestamp.IsZero(),
	}
	if m.Status.NodeInfo != nil {
		machine.Kubelet = version(m.Status.NodeInfo.KubeletVersion)
	}
	if machine.Deleting {
		machine.Reason = message(m.Status.Conditions, clusterv1.MachineDeletingCondition)
	} else {
		// The first of several reasons: the others mostly follow from it.
		machine.Reason, _, _ = strings.Cut(reason(m.Status.Conditions, clusterv1.MachineReadyCondition), "; ")
	}
	return machine
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

func firstReason(conditions []metav1.Condition, types ...string) string {
	for _, t := range types {
		if text := reason(conditions, t); text != "" {
			return text
		}
	}
	return ""
}

// reason is why a condition is not true, and empty where it is or is not there.
func reason(conditions []metav1.Condition, conditionType string) string {
	if meta.IsStatusConditionTrue(conditions, conditionType) {
		return ""
	}
	return message(conditions, conditionType)
}

func message(conditions []metav1.Condition, conditionType string) string {
	condition := meta.FindStatusCondition(conditions, conditionType)
	if condition == nil {
		return ""
	}
	return cmp.Or(oneLine(condition.Message), condition.Reason)
}

// oneLine joins the lines of a message, which Cluster API writes as a list.
func oneLine(text string) string {
	var parts []string
	for line := range strings.Lines(text) {
		parts = append(parts, strings.TrimSpace(strings.TrimLeft(line, " *")))
	}
	return strings.Join(parts, "; ")
}
