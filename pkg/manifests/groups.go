package manifests

import (
	"cmp"
	"fmt"
	"maps"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/schema"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	caplabels "sigs.k8s.io/cluster-api/util/labels"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// groupObjects are the objects of a worker node group.
func (r renderer) groupObjects(group v1alpha1.WorkerNodeGroupConfiguration) ([]templater.Object, error) {
	release, ok := r.Set[r.Versions.WorkerNodeGroups[group.Name]]
	if !ok {
		return nil, fmt.Errorf("no release of %s for group %s", r.Versions.WorkerNodeGroups[group.Name], group.Name)
	}
	name, deploymentName := r.cluster()+"-"+group.Name, group.ObjectName(r.cluster())
	machine, err := r.machineTemplate(name, machinePartOf(group), release)
	if err != nil {
		return nil, err
	}
	bootstrap, err := r.bootstrapTemplate(name, group, machine.Name, release)
	if err != nil {
		return nil, err
	}
	domain, err := r.failureDomain(group)
	if err != nil {
		return nil, err
	}
	deployment, err := r.render("worker-node-group.yaml.tmpl", struct {
		owner
		Group                                       string
		Annotations                                 map[string]string
		Autoscaled                                  bool
		Replicas                                    int
		Strategy                                    *clusterv1.MachineDeploymentRolloutStrategy
		MachineLabels, MachineAnnotations           map[string]string
		Version, BootstrapTemplate, MachineTemplate string
		FailureDomain                               string
		Deletion                                    *clusterv1.MachineDeletionSpec
		Infrastructure                              schema.GroupKind
	}{
		r.owner(deploymentName), group.Name, r.groupAnnotations(group, release.Version),
		group.AutoscalingConfiguration != nil, group.Replicas(),
		workerStrategy(group.UpgradeRolloutStrategy), caplabels.GetManagedLabels(group.Labels), group.Annotations,
		release.Version.String(), bootstrap.Name, machine.Name, domain, deletion(group.MachineDeletion), machine.Kind.GroupKind(),
	})
	if err != nil {
		return nil, err
	}
	if deployment, err = r.withFields(deployment, r.machineFieldsOf(group.MachineGroupRef, machineDeploymentFields)); err != nil {
		return nil, err
	}
	check, err := r.healthCheck(name, group.MachineHealthCheck, map[string]string{
		clusterv1.ClusterNameLabel: r.cluster(), clusterv1.MachineDeploymentNameLabel: deploymentName,
	})
	return append([]templater.Object{machine, bootstrap, deployment}, check...), err
}

func (r renderer) bootstrapTemplate(name string, group v1alpha1.WorkerNodeGroupConfiguration, machine string, release versionsbundle.Release) (templater.Object, error) {
	data := r.machineData(machine, machinePartOf(group), release)
	kubeadm, err := r.completeKubeadm(data, group.MachineGroupRef, release, func(r renderer, release versionsbundle.Release) (bootstrapv1.KubeadmConfigSpec, error) {
		return r.groupKubeadm(group, release)
	})
	if err != nil {
		return templater.Object{}, err
	}
	own := r.machineFieldsOf(group.MachineGroupRef, bootstrapTemplateField)
	kept := r.keptName(own, "KubeadmConfigTemplate")
	return r.immutable(name, "bootstrap-template.yaml.tmpl", struct {
		owner
		Named               bool
		Labels, Annotations map[string]any
		Kubeadm             bootstrapv1.KubeadmConfigSpec
	}{r.owner(cmp.Or(kept, templater.Unnamed)), kept != "", own.values("labels"), own.values("annotations"), kubeadm})
}

// groupAnnotations returns the annotations of the MachineDeployment of a group at the
// given version: those of the spec, and those by which the cluster autoscaler and
// Cluster API learn how to treat the group. Cluster API makes no machine whose kubeadm
// would be of another minor than the control plane; the providers make sure that it is
// not.
func (r renderer) groupAnnotations(group v1alpha1.WorkerNodeGroupConfiguration, version v1alpha1.Version) map[string]string {
	annotations := autoscalerBounds(group)
	maps.Copy(annotations, group.Annotations)
	if version.Minor() != r.Versions.ControlPlane.Minor() {
		annotations[clusterv1.MachineSetSkipPreflightChecksAnnotation] = string(clusterv1.MachineSetPreflightCheckKubeadmVersionSkew)
	}
	if group.DeferUpgrade {
		annotations[clusterv1.ClusterTopologyDeferUpgradeAnnotation] = ""
	}
	if group.HoldUpgradeSequence {
		annotations[clusterv1.ClusterTopologyHoldUpgradeSequenceAnnotation] = ""
	}
	return annotations
}

// autoscalerBounds are the annotations that the cluster autoscaler reads.
func autoscalerBounds(group v1alpha1.WorkerNodeGroupConfiguration) map[string]string {
	bounds := group.AutoscalingConfiguration
	if bounds == nil {
		return map[string]string{}
	}
	return map[string]string{
		clusterv1.AutoscalerMinSizeAnnotation: strconv.Itoa(bounds.MinCount),
		clusterv1.AutoscalerMaxSizeAnnotation: strconv.Itoa(bounds.MaxCount),
	}
}

// workerStrategy is nil where Cluster API's default is as good.
func workerStrategy(strategy *v1alpha1.WorkerRolloutStrategy) *clusterv1.MachineDeploymentRolloutStrategy {
	if strategy == nil || strategy.RollingUpdate == nil {
		return nil
	}
	return &clusterv1.MachineDeploymentRolloutStrategy{
		Type: clusterv1.RollingUpdateMachineDeploymentStrategyType,
		RollingUpdate: clusterv1.MachineDeploymentRolloutStrategyRollingUpdate{
			MaxSurge:       machines(strategy.RollingUpdate.MaxSurge),
			MaxUnavailable: machines(strategy.RollingUpdate.MaxUnavailable),
		},
	}
}

func machinePartOf(group v1alpha1.WorkerNodeGroupConfiguration) machinePart {
	return machinePart{ref: group.MachineGroupRef, failureDomain: failureDomain(group)}
}

// failureDomain is empty where the infrastructure is to choose.
func failureDomain(group v1alpha1.WorkerNodeGroupConfiguration) string {
	if len(group.FailureDomains) == 0 {
		return ""
	}
	return group.FailureDomains[0]
}
