package validations

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kubeletapis "k8s.io/kubelet/pkg/apis"
	capilabels "sigs.k8s.io/cluster-api/util/labels"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// maxTaints that Cluster API's objects can hold.
const maxTaints = 100

// labels of nodes. Those of some domains are Cluster API's to set, all others a
// kubelet gives its node as it registers it, which the API server allows for
// some labels of Kubernetes only.
func labels(labels map[string]string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	var own []string
	managed := capilabels.GetManagedLabels(labels)
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		at := keyed(path, key)
		invalid := qualifiedName(key, at)
		errs = append(errs, invalid...)
		errs = append(errs, labelValue(labels[key], at)...)
		if _, ok := managed[key]; ok {
			continue
		}
		own = append(own, key+"="+labels[key])
		if forbidden := reservedLabel(key, at); len(forbidden) > 0 {
			errs = append(errs, forbidden...)
			continue
		}
		if len(invalid) == 0 && ofKubernetes(key) && !kubeletapis.IsKubeletLabel(key) {
			errs = append(errs, field.Invalid(at, key, "must not be in a domain of Kubernetes in which a kubelet may not label its node; use a domain of your own, or node-role.kubernetes.io, node-restriction.kubernetes.io or node.kubernetes.io"))
		}
	}
	if length := len(strings.Join(own, ",")); length > maxArgument {
		errs = append(errs, withoutValue(path, fmt.Sprintf("must have at most %d bytes together, written as key=value with commas between, and have %d; those in node-role.kubernetes.io, node-restriction.kubernetes.io and node.cluster.x-k8s.io do not count", maxArgument, length)))
	}
	return errs
}

// ofKubernetes reports whether a key is in a domain of Kubernetes, as a kubelet
// decides it.
func ofKubernetes(key string) bool {
	domain, _, found := strings.Cut(key, "/")
	if !found {
		return false
	}
	return slices.ContainsFunc([]string{"kubernetes.io", "k8s.io"}, func(of string) bool {
		return domain == of || strings.HasSuffix(domain, "."+of)
	})
}

func qualifiedName(key string, path *field.Path) field.ErrorList {
	if len(utilvalidation.IsQualifiedName(key)) > 0 {
		return field.ErrorList{field.Invalid(path, key, "must be a key such as role or example.com/role: at most 63 letters, digits, dashes, underscores and dots that begin and end with a letter or digit, and before them a domain and a slash or nothing")}
	}
	return nil
}

func labelValue(value string, path *field.Path) field.ErrorList {
	if len(utilvalidation.IsValidLabelValue(value)) > 0 {
		return field.ErrorList{field.Invalid(path, value, "must be at most 63 letters, digits, dashes, underscores and dots that begin and end with a letter or digit, or empty")}
	}
	return nil
}

func taints(taints *[]v1alpha1.Taint, path *field.Path) field.ErrorList {
	if taints == nil {
		return nil
	}
	var errs field.ErrorList
	if len(*taints) > maxTaints {
		errs = append(errs, tooMany(path, len(*taints), fmt.Sprintf("must have at most %d; remove some", maxTaints)))
	}
	type identity struct{ key, effect string }
	identities := places[identity]{}
	for i, taint := range *taints {
		at := path.Index(i)
		invalid := append(taintKey(taint.Key, at.Child("key")), taintEffect(taint.Effect, at.Child("effect"))...)
		errs = append(errs, invalid...)
		errs = append(errs, labelValue(taint.Value, at.Child("value"))...)
		if len(invalid) == 0 {
			errs = append(errs, identities.again(identity{taint.Key, taint.Effect}, taint.Key+":"+taint.Effect, "key and effect already; remove one of the two", at, at)...)
		}
	}
	return errs
}

func taintKey(key string, path *field.Path) field.ErrorList {
	if key == "" {
		return field.ErrorList{field.Required(path, "the key of the taint, such as dedicated or example.com/dedicated")}
	}
	return qualifiedName(key, path)
}

func taintEffect(effect string, path *field.Path) field.ErrorList {
	effects := []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}
	switch {
	case effect == "":
		return field.ErrorList{field.Required(path, "NoSchedule, PreferNoSchedule or NoExecute")}
	case !slices.Contains(effects, corev1.TaintEffect(effect)):
		return field.ErrorList{field.NotSupported(path, corev1.TaintEffect(effect), effects)}
	}
	return nil
}

// repelling is the index of a taint that keeps pods off its node, or -1.
func repelling(taints *[]v1alpha1.Taint) int {
	if taints == nil {
		return -1
	}
	return slices.IndexFunc(*taints, func(taint v1alpha1.Taint) bool {
		return taint.Effect == string(corev1.TaintEffectNoSchedule) || taint.Effect == string(corev1.TaintEffectNoExecute)
	})
}

// allTainted finds that the controllers of a cluster that manages itself have
// no node to run on.
func allTainted(cluster *v1alpha1.Cluster, path *field.Path) field.ErrorList {
	groups := cluster.Spec.WorkerNodeGroupConfigurations
	free := slices.ContainsFunc(groups, func(group v1alpha1.WorkerNodeGroupConfiguration) bool { return repelling(group.Taints) < 0 })
	if !cluster.SelfManaged() || len(groups) == 0 || free {
		return nil
	}
	return field.ErrorList{withoutValue(path, "must have a group without NoSchedule and NoExecute taints: a cluster that manages itself runs its controllers there; remove the taints of one group, or add a group")}
}

// homeless reports whether pods without tolerations find no node, although there
// are worker node groups.
func homeless(spec v1alpha1.ClusterSpec) bool {
	controlPlane := spec.ControlPlaneConfiguration.Taints
	if len(spec.WorkerNodeGroupConfigurations) == 0 || controlPlane != nil && repelling(controlPlane) < 0 {
		return false
	}
	return !slices.ContainsFunc(spec.WorkerNodeGroupConfigurations, func(group v1alpha1.WorkerNodeGroupConfiguration) bool { return repelling(group.Taints) < 0 })
}

// onlyControlPlaneTaints finds that pods have no node to run on.
func onlyControlPlaneTaints(cluster *v1alpha1.Cluster, path *field.Path) field.ErrorList {
	given := cluster.Spec.ControlPlaneConfiguration.Taints
	i := repelling(given)
	if i < 0 || len(cluster.Spec.WorkerNodeGroupConfigurations) > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Index(i).Child("effect"), (*given)[i].Effect, "must not keep pods off the only nodes there are; remove the taint, or add a worker node group")}
}
