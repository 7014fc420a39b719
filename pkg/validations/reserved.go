package validations

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// reserved is why the owner of a key's domain alone may set it, or nothing.
func reserved(key string) string {
	domain, _, _ := strings.Cut(key, "/")
	within := func(of string) bool { return domain == of || strings.HasSuffix(domain, "."+of) }
	switch {
	case within(v1alpha1.Group):
		return "clusterctl-x acts on keys of its own domain; remove it (holds are set with 'clusterctl-x hold cluster', and fields of the spec cover the rest)"
	case key == clusterv1.PausedAnnotation:
		return "it stops Cluster API from doing what this file asks for; remove it, and pause a cluster with kubectl, on its Cluster object"
	case key == clusterv1.MachineSetSkipPreflightChecksAnnotation:
		return "it disables checks that the plan of an upgrade relies on; remove it: clusterctl-x sets it where a group needs it"
	case within("cluster.x-k8s.io"), within("clusters.x-k8s.io"):
		return "Cluster API acts on keys of its own domain; remove it"
	}
	return ""
}

// meantForUsers reports whether an annotation in the domain of Cluster API is for
// people to set on machines: Cluster API carries it over to nodes, or leaves
// something out for it while a machine is deleted or is unhealthy.
func meantForUsers(key string) bool {
	keys := []string{clusterv1.ExcludeNodeDrainingAnnotation, clusterv1.ExcludeWaitForNodeVolumeDetachAnnotation, clusterv1.MachineSkipRemediationAnnotation}
	domains := []string{clusterv1.ManagedNodeAnnotationDomain, clusterv1.PreDrainDeleteHookAnnotationPrefix, clusterv1.PreTerminateDeleteHookAnnotationPrefix}
	// The cluster autoscaler reads its options for a group from these.
	const autoscaling = "cluster.x-k8s.io/autoscaling-options-"
	domain, _, _ := strings.Cut(key, "/")
	return slices.Contains(keys, key) || strings.HasPrefix(key, autoscaling) ||
		slices.ContainsFunc(domains, func(of string) bool { return domain == of || strings.HasSuffix(domain, "."+of) })
}

// reservedAnnotation is the error about an annotation that is not for users to set.
func reservedAnnotation(key string, path *field.Path) field.ErrorList {
	if why := reserved(key); why != "" && !meantForUsers(key) {
		return field.ErrorList{field.Forbidden(path, why)}
	}
	return nil
}

// reservedLabel is the same for a label of nodes that Cluster API does not carry over.
func reservedLabel(key string, path *field.Path) field.ErrorList {
	why := reserved(key)
	if slices.Contains([]string{corev1.LabelHostname, corev1.LabelOSStable, corev1.LabelArchStable, "beta.kubernetes.io/os", "beta.kubernetes.io/arch"}, key) {
		why = "each kubelet sets it for its own machine; remove it"
	}
	if why == "" {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, why)}
}

// workerRoles are labels by which a node counts as one of the control plane.
func workerRoles(labels map[string]string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range []string{"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"} {
		if _, given := labels[key]; given {
			errs = append(errs, field.Forbidden(keyed(path, key), "it makes a worker count as a node of the control plane; remove it"))
		}
	}
	return errs
}

// ofControlPlaneObject are annotations of a KubeadmControlPlane, which the
// annotations of a control plane are set on in a cluster from a class.
func ofControlPlaneObject(key string) bool {
	return key == controlplanev1.SkipCoreDNSAnnotation || key == controlplanev1.SkipKubeProxyAnnotation
}
