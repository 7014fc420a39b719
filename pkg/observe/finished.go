package observe

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Cluster API has finished a generation of an object when status.observedGeneration is that
// generation, with one exception. An attempt that fails writes all of the status but this field. If
// the next attempt succeeds and has nothing else to write, it does not write the field either, for
// as long as nothing changes: Helper.Patch of sigs.k8s.io/cluster-api/util/patch (1.14.0) compares
// the objects before it sets the field. The functions of this file find that case by what the
// change was to bring about.

// deploymentFinished reports whether Cluster API has finished the latest change of a
// MachineDeployment. Sets are its MachineSets with the template that it asks for.
func deploymentFinished(deployment clusterv1.MachineDeployment, sets []clusterv1.MachineSet) bool {
	if deployment.Status.ObservedGeneration == deployment.Generation {
		return true
	}
	return tried(deployment.Generation, deployment.Status.Conditions, clusterv1.MachineDeploymentAvailableCondition) &&
		slices.ContainsFunc(sets, func(set clusterv1.MachineSet) bool { return carriesDeployment(set, deployment) })
}

// carriesDeployment reports whether a MachineSet has all that Cluster API carries over from its
// MachineDeployment.
func carriesDeployment(set clusterv1.MachineSet, deployment clusterv1.MachineDeployment) bool {
	labels := maps.Clone(set.Spec.Template.Labels)
	delete(labels, clusterv1.MachineDeploymentUniqueLabel)
	wanted := deployment.Spec.Template
	return replicas(set.Spec.Replicas) == replicas(deployment.Spec.Replicas) && maps.Equal(labels, wanted.Labels) &&
		maps.Equal(set.Spec.Template.Annotations, wanted.Annotations) && equality.Semantic.DeepEqual(set.Spec.Template.Spec, wanted.Spec)
}

// setFinished reports whether Cluster API has finished the latest change of a MachineSet.
func (s snapshot) setFinished(set clusterv1.MachineSet) bool {
	if set.Status.ObservedGeneration == set.Generation {
		return true
	}
	return tried(set.Generation, set.Status.Conditions, clusterv1.MachineSetMachinesUpToDateCondition) &&
		!slices.ContainsFunc(s.machines, func(machine clusterv1.Machine) bool { return setOf(machine) == set.Name && !carriesSet(machine, set) })
}

// carriesSet reports whether a machine has the labels, annotations and timeouts of its
// MachineSet. It may have more.
func carriesSet(machine clusterv1.Machine, set clusterv1.MachineSet) bool {
	wanted := set.Spec.Template
	return contains(machine.Labels, wanted.Labels) && contains(machine.Annotations, wanted.Annotations) &&
		equality.Semantic.DeepEqual(machine.Spec.Deletion, wanted.Spec.Deletion)
}

func contains(all, some map[string]string) bool {
	for key, value := range some {
		if found, ok := all[key]; !ok || found != value {
			return false
		}
	}
	return true
}

// controlPlaneFinished reports whether Cluster API has finished the latest change of a control
// plane. It compares the machines with the control plane in each attempt.
func controlPlaneFinished(kcp *controlplanev1.KubeadmControlPlane) bool {
	if kcp.Status.ObservedGeneration == kcp.Generation {
		return true
	}
	const upToDate = controlplanev1.KubeadmControlPlaneMachinesUpToDateCondition
	return tried(kcp.Generation, kcp.Status.Conditions, upToDate) && meta.IsStatusConditionTrue(kcp.Status.Conditions, upToDate)
}

// tried reports whether Cluster API has written a condition for a generation.
func tried(generation int64, conditions []metav1.Condition, conditionType string) bool {
	condition := meta.FindStatusCondition(conditions, conditionType)
	return condition != nil && condition.ObservedGeneration == generation
}
