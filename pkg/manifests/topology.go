package manifests

import (
	"maps"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	caplabels "sigs.k8s.io/cluster-api/util/labels"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
)

// managedObjects returns the objects of a cluster from a ClusterClass: all of its parts
// are in the Cluster.
func (r renderer) managedObjects() (Objects, error) {
	topology, err := r.topology()
	if err != nil {
		return Objects{}, err
	}
	cluster, err := r.clusterObject(&topology, templater.Object{})
	if err != nil {
		return Objects{}, err
	}
	shared, err := r.sharedObjects()
	return Objects{Cluster: append([]templater.Object{cluster}, shared...)}, err
}

// topologySpec is the part of a Cluster that describes its parts to Cluster API.
type topologySpec struct {
	Class                v1alpha1.ClusterClass
	Version, Concurrency string
	ControlPlane         clusterv1.ControlPlaneTopology
	Groups               []clusterv1.MachineDeploymentTopology
	Variables            []clusterv1.ClusterVariable
}

func (r renderer) topology() (topologySpec, error) {
	spec := r.Config.Cluster.Spec
	controlPlane, err := r.managedControlPlane()
	if err != nil {
		return topologySpec{}, err
	}
	var groups []clusterv1.MachineDeploymentTopology
	for i, group := range spec.WorkerNodeGroupConfigurations {
		if r.Detached[group.Name] {
			continue
		}
		managed, err := r.managedGroup(group, field.NewPath("spec", "workerNodeGroupConfigurations").Index(i))
		if err != nil {
			return topologySpec{}, err
		}
		groups = append(groups, managed)
	}
	var own map[string]any
	if datacenter := r.Config.Datacenter; datacenter != nil {
		own = datacenter.Spec
	}
	variables, err := r.variables(own, spec.ClusterClass.Variables, field.NewPath("spec", "clusterClass", "variables"))
	return topologySpec{
		Class: *spec.ClusterClass, Version: r.Versions.ControlPlane.String(), Concurrency: strconv.Itoa(spec.UpgradePolicy.Concurrency()),
		ControlPlane: controlPlane, Groups: groups, Variables: variables,
	}, err
}

func (r renderer) managedControlPlane() (clusterv1.ControlPlaneTopology, error) {
	config := r.Config.Cluster.Spec.ControlPlaneConfiguration
	own, err := r.controlPlaneVariables()
	if err != nil {
		return clusterv1.ControlPlaneTopology{}, err
	}
	variables, err := r.variables(own, config.Variables, field.NewPath("spec", "controlPlaneConfiguration", "variables"))
	if err != nil {
		return clusterv1.ControlPlaneTopology{}, err
	}
	topology := clusterv1.ControlPlaneTopology{
		Metadata:  clusterv1.ObjectMeta{Annotations: config.Annotations},
		Replicas:  new(int32(config.Replicas())),
		Deletion:  clusterv1.ControlPlaneTopologyMachineDeletionSpec(machineDeletion(config.MachineDeletion)),
		Variables: clusterv1.ControlPlaneVariables{Overrides: variables},
	}
	// Objects without fields are refused.
	if labels := caplabels.GetManagedLabels(config.Labels); len(labels) > 0 {
		topology.Metadata.Labels = labels
	}
	if r.decidesHealth(config.MachineHealthCheck) {
		topology.HealthCheck = healthOf(config.MachineHealthCheck).ofControlPlane()
	}
	return topology, nil
}

func (r renderer) managedGroup(group v1alpha1.WorkerNodeGroupConfiguration, path *field.Path) (clusterv1.MachineDeploymentTopology, error) {
	own, err := r.groupVariables(group)
	if err != nil {
		return clusterv1.MachineDeploymentTopology{}, err
	}
	variables, err := r.variables(own, group.Variables, path.Child("variables"))
	if err != nil {
		return clusterv1.MachineDeploymentTopology{}, err
	}
	deletion := machineDeletion(group.MachineDeletion)
	topology := clusterv1.MachineDeploymentTopology{
		Name:          group.Name,
		Class:         group.WorkerClass(),
		Metadata:      clusterv1.ObjectMeta{Labels: managedGroupLabels(group), Annotations: r.groupAnnotations(group, r.Versions.ControlPlane)},
		FailureDomain: failureDomain(group),
		Deletion: clusterv1.MachineDeploymentTopologyMachineDeletionSpec{
			NodeDrainTimeoutSeconds: deletion.NodeDrainTimeoutSeconds, NodeVolumeDetachTimeoutSeconds: deletion.NodeVolumeDetachTimeoutSeconds,
			NodeDeletionTimeoutSeconds: deletion.NodeDeletionTimeoutSeconds,
		},
		Variables: clusterv1.MachineDeploymentVariables{Overrides: variables},
	}
	if group.AutoscalingConfiguration == nil {
		topology.Replicas = new(int32(group.Replicas()))
	}
	if strategy := workerStrategy(group.UpgradeRolloutStrategy); strategy != nil {
		topology.Rollout.Strategy = clusterv1.MachineDeploymentTopologyRolloutStrategy{
			Type: strategy.Type, RollingUpdate: clusterv1.MachineDeploymentTopologyRolloutStrategyRollingUpdate(strategy.RollingUpdate),
		}
	}
	if r.decidesHealth(group.MachineHealthCheck) {
		topology.HealthCheck = healthOf(group.MachineHealthCheck).ofGroup()
	}
	return topology, nil
}

// managedGroupLabels are carried over to the group's MachineDeployment and
// machines.
func managedGroupLabels(group v1alpha1.WorkerNodeGroupConfiguration) map[string]string {
	labels := map[string]string{v1alpha1.WorkerNodeGroupLabel: group.Name}
	maps.Copy(labels, caplabels.GetManagedLabels(group.Labels))
	return labels
}
