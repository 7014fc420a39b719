package validations

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// Refused are problems of a valid spec that the existing cluster does not allow.
type Refused struct{ strictyaml.Problems }

// Update checks what a valid spec changes of a cluster that is there. floor are
// the versions below which nothing may go. before is the spec that the cluster
// was made from; nil where it is not known, and then the fields that cannot be
// changed are left to the comparison of objects. The error is of type Refused.
func Update(resolved Resolved, floor v1alpha1.ClusterVersions, before *v1alpha1.Config) error {
	cluster := resolved.Config.Cluster
	errs := noDowngrade(cluster, resolved.Versions, floor)
	if before != nil && before.Cluster != nil {
		errs = append(errs, immutable(before.Cluster, cluster)...)
	}
	if problems := resolved.Config.Locate(v1alpha1.ClusterKind, errs); len(problems) > 0 {
		problems.Sort()
		return Refused{problems}
	}
	return nil
}

// noDowngrade returns what would move down. Neither kubeadm nor the skew policy
// knows a way back (https://kubernetes.io/releases/version-skew-policy/).
func noDowngrade(cluster *v1alpha1.Cluster, wanted, floor v1alpha1.ClusterVersions) field.ErrorList {
	spec := field.NewPath("spec")
	version := spec.Child("kubernetesVersion")
	var errs field.ErrorList
	if wanted.ControlPlane.Before(floor.ControlPlane) {
		errs = append(errs, field.Invalid(version, cluster.Spec.KubernetesVersion.String(),
			fmt.Sprintf("the control plane runs %s and cannot be downgraded; use %s or newer", floor.ControlPlane, floor.ControlPlane)))
	}
	for i, group := range cluster.Spec.WorkerNodeGroupConfigurations {
		runs := floor.WorkerNodeGroups[group.Name]
		if !wanted.WorkerNodeGroups[group.Name].Before(runs) {
			continue
		}
		if group.Pinned() {
			errs = append(errs, field.Invalid(spec.Child("workerNodeGroupConfigurations").Index(i).Child("kubernetesVersion"), group.KubernetesVersion.String(),
				fmt.Sprintf("group %s runs %s and cannot be downgraded; use %s or newer", group.Name, runs, runs)))
			continue
		}
		if wanted.ControlPlane.Before(floor.ControlPlane) {
			continue // one mistake, told once
		}
		errs = append(errs, field.Invalid(version, cluster.Spec.KubernetesVersion.String(),
			fmt.Sprintf("group %s, which follows the cluster, runs %s and cannot be downgraded; use %s or newer", group.Name, runs, runs)))
	}
	return errs
}

// immutable returns the fields that cannot be changed while a cluster lives.
func immutable(before, after *v1alpha1.Cluster) field.ErrorList {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	for _, f := range []struct {
		path     *field.Path
		old, new string
		reason   string
	}{
		{
			spec.Child("datacenterRef", "kind"), datacenterKind(before.Spec), datacenterKind(after.Spec),
			"machines cannot move to another provider; create a new cluster there",
		},
		{
			spec.Child("controlPlaneConfiguration", "endpoint", "host"), endpointHost(before), newEndpointHost(before, after),
			"the certificates of the API server have it, and nodes and kubeconfigs know no other; create a new cluster",
		},
		{
			spec.Child("clusterNetwork", "pods", "cidrBlocks"), blocks(before.Spec.ClusterNetwork.Pods), blocks(after.Spec.ClusterNetwork.Pods),
			"nodes keep their part of this network for their lifetime; create a new cluster",
		},
		{
			spec.Child("clusterNetwork", "services", "cidrBlocks"), blocks(before.Spec.ClusterNetwork.Services), blocks(after.Spec.ClusterNetwork.Services),
			"the certificates of the API server, and every service, have addresses of this network; create a new cluster",
		},
		{
			spec.Child("clusterNetwork", "nodes", "cidrMaskSize"), maskSize(before), maskSize(after),
			"nodes keep their part of the network of pods for their lifetime; create a new cluster",
		},
		{
			spec.Child("clusterNetwork", "cniConfig"), pluginName(before), pluginName(after),
			"pods have their addresses from it, and two network plugins would interfere; replace it inside the cluster, or create a new one",
		},
		{
			spec.Child("externalEtcdConfiguration", "endpoints"), etcdEndpoints(before), etcdEndpoints(after),
			"Cluster API cannot move the data of a cluster from one etcd to another; create a new cluster",
		},
	} {
		if f.old != f.new {
			errs = append(errs, field.Invalid(f.path, f.new, fmt.Sprintf("cannot be changed, and is %s: %s", orNothing(f.old), f.reason)))
		}
	}
	return errs
}

// datacenterKind returns the kind of the datacenter of a spec; empty if a ClusterClass
// determines the infrastructure, which Cluster API checks.
func datacenterKind(spec v1alpha1.ClusterSpec) string {
	if spec.ClusterClass != nil {
		return ""
	}
	return spec.DatacenterRef.Kind
}

func endpointHost(cluster *v1alpha1.Cluster) string {
	if endpoint := cluster.Spec.ControlPlaneConfiguration.APIEndpoint(); endpoint != nil {
		return endpoint.Host
	}
	return ""
}

// newEndpointHost returns the endpoint of a spec. One that the infrastructure chose before
// may be written down: Cluster API keeps it from being another one.
func newEndpointHost(before, after *v1alpha1.Cluster) string {
	if endpointHost(before) == "" {
		return ""
	}
	return endpointHost(after)
}

func blocks(network v1alpha1.Network) string { return strings.Join(network.CIDRBlocks, ", ") }

func maskSize(cluster *v1alpha1.Cluster) string {
	if nodes := cluster.Spec.ClusterNetwork.Nodes; nodes != nil && nodes.CIDRMaskSize != nil {
		return strconv.Itoa(*nodes.CIDRMaskSize)
	}
	return ""
}

func pluginName(cluster *v1alpha1.Cluster) string {
	network := cluster.Spec.ClusterNetwork
	switch {
	case network.CNIConfig == nil:
		return network.CNI
	case network.CNIConfig.Cilium != nil:
		return "cilium"
	case network.CNIConfig.Kindnetd != nil:
		return "kindnetd"
	}
	return ""
}

// etcdEndpoints of an external etcd; none for the one on the control plane.
func etcdEndpoints(cluster *v1alpha1.Cluster) string {
	if cluster.Spec.ExternalEtcdConfiguration == nil {
		return ""
	}
	return strings.Join(slices.Sorted(slices.Values(cluster.Spec.ExternalEtcdConfiguration.Endpoints)), ", ")
}

func orNothing(text string) string {
	if text == "" {
		return "not set"
	}
	return text
}
