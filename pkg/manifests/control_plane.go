package manifests

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	caplabels "sigs.k8s.io/cluster-api/util/labels"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
)

// clusterObjects are the objects of the cluster as a whole.
func (r renderer) clusterObjects() ([]templater.Object, error) {
	infrastructure, resources, err := r.infrastructureObjects()
	if err != nil {
		return nil, err
	}
	cluster, err := r.clusterObject(nil, infrastructure)
	if err != nil {
		return nil, err
	}
	shared, err := r.sharedObjects()
	return slices.Concat([]templater.Object{cluster}, resources, []templater.Object{infrastructure}, shared), err
}

// clusterObject returns the Cluster. One with a topology has its parts from a
// ClusterClass, and one without refers to objects of its own.
func (r renderer) clusterObject(topology *topologySpec, infrastructure templater.Object) (templater.Object, error) {
	spec := r.Config.Cluster.Spec
	cluster, err := r.render("cluster.yaml.tmpl", struct {
		owner
		ManagementCluster                string
		Pods, Services                   []string
		Topology                         *topologySpec
		Infrastructure                   schema.GroupKind
		InfrastructureName, ControlPlane string
		APIServerPort                    v1alpha1.Port
	}{
		r.owner(r.cluster()), spec.ManagementCluster.Name, spec.ClusterNetwork.Pods.CIDRBlocks, spec.ClusterNetwork.Services.CIDRBlocks, topology, infrastructure.Kind.GroupKind(),
		infrastructure.Name, spec.ControlPlaneConfiguration.ObjectName(r.cluster()), r.apiServerPort(),
	})
	if err != nil || topology != nil {
		return cluster, err
	}
	return r.withFields(cluster, r.fieldsOf(r.Config.Datacenter, clusterFields))
}

// sharedObjects returns the objects that a cluster needs in both modes, in addition to
// its parts.
func (r renderer) sharedObjects() ([]templater.Object, error) {
	objects, err := r.addOns()
	if err != nil {
		return nil, err
	}
	if r.Provider.Node(r.Versions.ControlPlane).FetchKubeadm != "" {
		downloads, err := r.kubeadmDownloads()
		if err != nil {
			return nil, err
		}
		objects = append(objects, downloads)
	}
	return objects, nil
}

func (r renderer) controlPlaneObjects() ([]templater.Object, error) {
	config := r.Config.Cluster.Spec.ControlPlaneConfiguration
	release, ok := r.Set[r.Versions.ControlPlane]
	if !ok {
		return nil, fmt.Errorf("no release of %s for the control plane", r.Versions.ControlPlane)
	}
	name := r.cluster() + "-" + v1alpha1.ControlPlaneName
	part := machinePart{controlPlane: true, ref: config.MachineGroupRef}
	machine, err := r.machineTemplate(name, part, release)
	if err != nil {
		return nil, err
	}
	kubeadm, err := r.completeKubeadm(r.machineData(machine.Name, part, release), config.MachineGroupRef, release, renderer.controlPlaneKubeadm)
	if err != nil {
		return nil, err
	}
	annotations, err := r.controlPlaneAnnotations()
	if err != nil {
		return nil, err
	}
	controlPlane, err := r.render("control-plane.yaml.tmpl", struct {
		owner
		Annotations              map[string]string
		Replicas                 int
		Version, MachineTemplate string
		Strategy                 *controlplanev1.KubeadmControlPlaneRolloutStrategy
		MachineLabels            map[string]string
		MachineAnnotations       map[string]string
		Deletion                 *clusterv1.MachineDeletionSpec
		Kubeadm                  bootstrapv1.KubeadmConfigSpec
		Infrastructure           schema.GroupKind
	}{
		r.owner(config.ObjectName(r.cluster())), annotations,
		config.Replicas(), release.Version.String(), machine.Name,
		controlPlaneStrategy(config.UpgradeRolloutStrategy), caplabels.GetManagedLabels(config.Labels), config.Annotations, deletion(config.MachineDeletion), kubeadm, machine.Kind.GroupKind(),
	})
	if err != nil {
		return nil, err
	}
	if controlPlane, err = r.withFields(controlPlane, r.fieldsOf(r.Config.Datacenter, controlPlaneFields)); err != nil {
		return nil, err
	}
	check, err := r.healthCheck(name, config.MachineHealthCheck, map[string]string{
		clusterv1.ClusterNameLabel: r.cluster(), clusterv1.MachineControlPlaneLabel: "",
	})
	return append([]templater.Object{machine, controlPlane}, check...), err
}

// controlPlaneStrategy is nil where Cluster API's default is as good.
func controlPlaneStrategy(strategy *v1alpha1.ControlPlaneRolloutStrategy) *controlplanev1.KubeadmControlPlaneRolloutStrategy {
	if strategy == nil || strategy.RollingUpdate == nil {
		return nil
	}
	return &controlplanev1.KubeadmControlPlaneRolloutStrategy{
		Type:          controlplanev1.RollingUpdateStrategyType,
		RollingUpdate: controlplanev1.KubeadmControlPlaneRolloutStrategyRollingUpdate{MaxSurge: machines(strategy.RollingUpdate.MaxSurge)},
	}
}

func machines(count *int) *intstr.IntOrString {
	if count == nil {
		return nil
	}
	return new(intstr.FromInt(*count))
}

// deletion is nil where Cluster API's defaults are to hold.
func deletion(given v1alpha1.MachineDeletion) *clusterv1.MachineDeletionSpec {
	if given == (v1alpha1.MachineDeletion{}) {
		return nil
	}
	return new(machineDeletion(given))
}

func machineDeletion(given v1alpha1.MachineDeletion) clusterv1.MachineDeletionSpec {
	return clusterv1.MachineDeletionSpec{
		NodeDrainTimeoutSeconds:        seconds(given.NodeDrainTimeout),
		NodeVolumeDetachTimeoutSeconds: seconds(given.NodeVolumeDetachTimeout),
		NodeDeletionTimeoutSeconds:     seconds(given.NodeDeletionTimeout),
	}
}

func seconds(duration *v1alpha1.Duration) *int32 {
	if duration == nil {
		return nil
	}
	return new(int32(duration.Seconds()))
}
