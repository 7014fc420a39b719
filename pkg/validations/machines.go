package validations

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// maxStackedMembers is the largest number of members that etcd's authors recommend.
const maxStackedMembers = 7

// maxFailureDomain is the length of the name that Cluster API's machines can hold.
const maxFailureDomain = 256

func controlPlane(cluster *v1alpha1.Cluster, known providers.Set, path *field.Path) field.ErrorList {
	config := cluster.Spec.ControlPlaneConfiguration
	return slices.Concat(
		endpoint(cluster, known, path),
		ownName(config.ResourceName, cluster.Spec.ClusterClass, path.Child("resourceName")),
		controlPlaneCount(config.Replicas(), cluster.Spec.ExternalEtcdConfiguration, path.Child("count")),
		labels(config.Labels, path.Child("labels")),
		taints(config.Taints, path.Child("taints")),
		onlyControlPlaneTaints(cluster, path.Child("taints")),
		apiServer(cluster, path),
		kubelet(config.KubeletConfiguration, cluster.Spec.ClusterNetwork.DNS, path.Child("kubeletConfiguration")),
		controlPlaneRollout(config, path.Child("upgradeRolloutStrategy")),
		healthCheck(config.MachineHealthCheck, cluster.Spec.MachineHealthCheck, path.Child("machineHealthCheck")),
		machineDeletion(config.MachineDeletion, path.Child("machineDeletion")),
		controlPlaneAnnotations(config.Annotations, cluster.Spec.ClusterClass, path.Child("annotations")),
	)
}

// controlPlaneCount may be even where no machine has a member of etcd.
func controlPlaneCount(number int, etcd *v1alpha1.ExternalEtcdConfiguration, path *field.Path) field.ErrorList {
	if etcd != nil && len(etcd.Endpoints) > 0 {
		return count(number, 1, path)
	}
	const member = "etcd has a member on each control plane machine"
	if errs := oddCount(number, member, path); len(errs) > 0 || number <= maxStackedMembers {
		return errs
	}
	return field.ErrorList{field.Invalid(path, number, fmt.Sprintf("must be at most %d: %s, and each write waits for a majority of them; use 3, 5 or 7, or an external etcd", maxStackedMembers, member))}
}

func groups(cluster *v1alpha1.Cluster, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names, objects := places[string]{}, places[string]{}
	for i, group := range cluster.Spec.WorkerNodeGroupConfigurations {
		at := path.Index(i)
		errs = append(errs, groupName(cluster.Metadata.Name, group, at.Child("name"))...)
		errs = append(errs, ownName(group.ResourceName, cluster.Spec.ClusterClass, at.Child("resourceName"))...)
		if group.Name != "" {
			again := names.again(group.Name, group.Name, "name already; each group needs its own", at.Child("name"), at)
			if object := group.ObjectName(cluster.Metadata.Name); len(again) == 0 && cluster.Spec.ClusterClass == nil {
				again = objects.again(object, object, "MachineDeployment already; each group needs its own", at.Child("resourceName"), at)
			}
			errs = append(errs, again...)
		}
		errs = append(errs, groupCount(group, at)...)
		errs = append(errs, groupMachines(cluster, group, at)...)
	}
	return append(errs, allTainted(cluster, path)...)
}

func groupMachines(cluster *v1alpha1.Cluster, group v1alpha1.WorkerNodeGroupConfiguration, path *field.Path) field.ErrorList {
	return slices.Concat(
		labels(group.Labels, path.Child("labels")),
		workerRoles(group.Labels, path.Child("labels")),
		taints(group.Taints, path.Child("taints")),
		kubelet(group.KubeletConfiguration, cluster.Spec.ClusterNetwork.DNS, path.Child("kubeletConfiguration")),
		failureDomains(group.FailureDomains, path.Child("failureDomains")),
		workerRollout(group.UpgradeRolloutStrategy, path.Child("upgradeRolloutStrategy")),
		healthCheck(group.MachineHealthCheck, cluster.Spec.MachineHealthCheck, path.Child("machineHealthCheck")),
		machineDeletion(group.MachineDeletion, path.Child("machineDeletion")),
		groupAnnotations(group.Annotations, path.Child("annotations")),
	)
}

// groupCount is the number of machines, or the bounds that the autoscaler has.
func groupCount(group v1alpha1.WorkerNodeGroupConfiguration, path *field.Path) field.ErrorList {
	bounds := group.AutoscalingConfiguration
	if bounds == nil {
		return count(group.Replicas(), 0, path.Child("count"))
	}
	at := path.Child("autoscalingConfiguration")
	errs := append(count(bounds.MinCount, 0, at.Child("minCount")), count(bounds.MaxCount, 0, at.Child("maxCount"))...)
	switch {
	case bounds.MaxCount == 0:
		errs = append(errs, field.Required(at.Child("maxCount"), "the largest number of machines, 1 or more"))
	case len(errs) > 0:
	case bounds.MaxCount < bounds.MinCount:
		errs = append(errs, field.Invalid(at.Child("maxCount"), bounds.MaxCount, fmt.Sprintf("must be minCount (%d) or more", bounds.MinCount)))
	case group.Count != nil && (*group.Count < bounds.MinCount || *group.Count > bounds.MaxCount):
		errs = append(errs, field.Invalid(path.Child("count"), *group.Count, fmt.Sprintf("must be from minCount (%d) to maxCount (%d); better remove it: the autoscaler decides", bounds.MinCount, bounds.MaxCount)))
	}
	return errs
}

func failureDomains(names []string, path *field.Path) field.ErrorList {
	if len(names) > 1 {
		return field.ErrorList{tooMany(path, len(names), "must have one; make a group for each failure domain")}
	}
	for i, name := range names {
		if len(name) < 1 || len(name) > maxFailureDomain {
			return field.ErrorList{field.Invalid(path.Index(i), name, fmt.Sprintf("must be the name of a failure domain, of 1 to %d characters", maxFailureDomain))}
		}
	}
	return nil
}

// unknownFailureDomains returns the failure domains of groups that the provider's document
// does not have.
func unknownFailureDomains(config *v1alpha1.Config, provider providers.Provider) field.ErrorList {
	names, listed := provider.FailureDomains(config.Datacenter)
	if !listed {
		return nil
	}
	var errs field.ErrorList
	for i, group := range config.Cluster.Spec.WorkerNodeGroupConfigurations {
		for j, name := range group.FailureDomains {
			if !slices.Contains(names, name) {
				path := field.NewPath("spec", "workerNodeGroupConfigurations").Index(i).Child("failureDomains").Index(j)
				errs = append(errs, field.Invalid(path, name, fmt.Sprintf("spec.%s of the %s has no failure domain of this name; add it there, or correct the name", provider.Spec.FailureDomains, config.Cluster.Spec.DatacenterRef.Kind)))
			}
		}
	}
	return errs
}

func machineDeletion(config v1alpha1.MachineDeletion, path *field.Path) field.ErrorList {
	return slices.Concat(
		seconds(config.NodeDrainTimeout, path.Child("nodeDrainTimeout")),
		seconds(config.NodeVolumeDetachTimeout, path.Child("nodeVolumeDetachTimeout")),
		seconds(config.NodeDeletionTimeout, path.Child("nodeDeletionTimeout")),
	)
}
