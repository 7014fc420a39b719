package validations

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// Warnings are about what a valid spec asks for and does not get.
func Warnings(cluster *v1alpha1.Cluster) []v1alpha1.Warning {
	var warnings []v1alpha1.Warning
	warn := func(path *field.Path, text string) {
		warnings = append(warnings, v1alpha1.Warning{Path: path.String(), Text: text})
	}
	spec := field.NewPath("spec")
	if cluster.Spec.ExternalEtcdConfiguration != nil {
		warn(spec.Child("externalEtcdConfiguration"), "the development providers have no machines for etcd: it runs on the control plane's machines")
	}
	if cluster.Spec.ClusterNetwork.CNIConfig != nil {
		warn(spec.Child("clusterNetwork", "cniConfig"), "no network plugin is installed yet; nodes that need one are not ready until you apply it")
	}
	if cluster.SelfManaged() {
		warn(spec.Child("managementCluster", "name"), "the cluster stays on the management cluster that it is created from; moving it into itself is not supported yet")
	}
	return warnings
}
