package validations

import (
	"fmt"
	"maps"
	"slices"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	capilabels "sigs.k8s.io/cluster-api/util/labels"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// oldestManaged is the first minor whose API servers get the same configuration of a
// KMS plugin as all later ones: a class has one value for them.
var oldestManaged = v1alpha1.Minor{Major: 1, Minor: 29} //nolint:gochecknoglobals // a constant

// Limits of the topology of a Cluster. Fields of the spec become variables in addition
// to those of the user.
const (
	maxManagedGroups = 2000
	maxClassLength   = 256 // of the class of a group, and of the name of a variable
	maxVariables     = 900
)

// clusterClass checks what belongs to a cluster from a ClusterClass, and what
// does not, as far as the file alone says it.
func clusterClass(cluster *v1alpha1.Cluster, spec *field.Path) field.ErrorList {
	class := cluster.Spec.ClusterClass
	if class == nil {
		return withoutClass(cluster, spec)
	}
	errs := slices.Concat(
		className(*class, spec.Child("clusterClass")),
		variables(class.Variables, spec.Child("clusterClass", "variables")),
		variables(cluster.Spec.ControlPlaneConfiguration.Variables, spec.Child("controlPlaneConfiguration", "variables")),
		managedGroups(cluster.Spec.WorkerNodeGroupConfigurations, spec.Child("workerNodeGroupConfigurations")),
	)
	if ownClass(cluster) {
		return append(errs, needOwnClass(cluster.Spec, spec)...)
	}
	version := cluster.Spec.KubernetesVersion
	if len(cluster.Spec.EtcdEncryption) > 0 && !version.IsZero() && version.Minor().Compare(oldestManaged) < 0 {
		errs = append(errs, field.Forbidden(spec.Child("etcdEncryption"),
			fmt.Sprintf("with a clusterClass it needs Kubernetes %s or newer: older API servers need another value, and a class has one value for all versions; leave it out, or use a newer version", oldestManaged)))
	}
	return errs
}

func className(class v1alpha1.ClusterClass, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if class.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), "the name of a ClusterClass of the management cluster; 'clusterctl-x generate clusterclass' makes one"))
	} else {
		errs = append(errs, objectName(class.Name, path.Child("name"))...)
	}
	if class.Namespace != "" {
		errs = append(errs, dnsLabel(class.Namespace, utilvalidation.DNS1123LabelMaxLength, path.Child("namespace"))...)
	}
	return errs
}

func managedGroups(groups []v1alpha1.WorkerNodeGroupConfiguration, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(groups) > maxManagedGroups {
		errs = append(errs, tooMany(path, len(groups), fmt.Sprintf("must have at most %d in a cluster with a clusterClass; remove some", maxManagedGroups)))
	}
	for i, group := range groups {
		at := path.Index(i)
		const sequence = "a group with a kubernetesVersion has no place in the upgrade sequence: remove one of the two"
		if group.Pinned() && group.DeferUpgrade {
			errs = append(errs, field.Forbidden(at.Child("deferUpgrade"), sequence))
		}
		if group.Pinned() && group.HoldUpgradeSequence {
			errs = append(errs, field.Forbidden(at.Child("holdUpgradeSequence"), sequence))
		}
		errs = append(errs, atMost(group.Class, maxClassLength, at.Child("class"))...)
		errs = append(errs, variables(group.Variables, at.Child("variables"))...)
	}
	return errs
}

// variables checks what no class takes. What a class takes it says itself.
func variables(given map[string]any, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(given) > maxVariables {
		errs = append(errs, tooMany(path, len(given), fmt.Sprintf("must have at most %d; remove some", maxVariables)))
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		at := path.Child(strictyaml.FieldName(name))
		switch {
		case name == "":
			errs = append(errs, field.Required(at, "a variable needs a name, one of those in spec.variables of the ClusterClass"))
		case given[name] == nil:
			errs = append(errs, field.Required(at, "a variable must have a value; write one, or remove it"))
		case len(name) > maxClassLength:
			errs = append(errs, withoutValue(at, fmt.Sprintf("the name of a variable must have at most %d bytes, and has %d; shorten it", maxClassLength, len(name))))
		}
	}
	return append(errs, merges(given, path)...)
}

// merges finds fields of the one name that readers of YAML take for something
// else: manifests could not be written.
func merges(value any, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			at := path.Child(strictyaml.FieldName(name))
			if name == "<<" {
				errs = append(errs, field.Forbidden(at, "cannot be the name of a field: in YAML it merges another mapping; use another name"))
			}
			errs = append(errs, merges(value[name], at)...)
		}
	case []any:
		for i, item := range value {
			errs = append(errs, merges(item, path.Index(i))...)
		}
	}
	return errs
}

// withoutClass are the fields that only mean something to a ClusterClass.
func withoutClass(cluster *v1alpha1.Cluster, spec *field.Path) field.ErrorList {
	var errs field.ErrorList
	forbid := func(given bool, path *field.Path, remedy string) {
		if given {
			errs = append(errs, field.Forbidden(path, "takes effect only with a ClusterClass, and this cluster has no spec.clusterClass; "+remedy))
		}
	}
	const remove = "remove it, or name the class"
	forbid(len(cluster.Spec.ControlPlaneConfiguration.Variables) > 0, spec.Child("controlPlaneConfiguration", "variables"), remove)
	for i, group := range cluster.Spec.WorkerNodeGroupConfigurations {
		at := spec.Child("workerNodeGroupConfigurations").Index(i)
		forbid(group.Class != "", at.Child("class"), remove)
		forbid(len(group.Variables) > 0, at.Child("variables"), remove)
		const pin = "give the group a kubernetesVersion to keep it where it is"
		forbid(group.DeferUpgrade, at.Child("deferUpgrade"), pin)
		forbid(group.HoldUpgradeSequence, at.Child("holdUpgradeSequence"), pin)
	}
	return errs
}

// ownClass reports whether a cluster is made from a ClusterClass that is not one of
// clusterctl-x.
func ownClass(cluster *v1alpha1.Cluster) bool {
	return cluster.Spec.ClusterClass != nil && cluster.Spec.DatacenterRef == (v1alpha1.Ref{})
}

// ownClassOnly marks the errors of needOwnClass.
const ownClassOnly = "own-class"

// needOwnClass are the fields that only classes of clusterctl-x have variables
// for.
func needOwnClass(s v1alpha1.ClusterSpec, spec *field.Path) field.ErrorList {
	var errs field.ErrorList
	forbid := func(given bool, path *field.Path) {
		if given {
			errs = append(errs, field.Forbidden(path,
				"takes effect only with classes of 'generate clusterclass', and without spec.datacenterRef spec.clusterClass is one of your own: give the class a variable for it and set that in spec.clusterClass.variables, or add the datacenterRef").WithOrigin(ownClassOnly))
		}
	}
	machines := func(labels map[string]string, taints *[]v1alpha1.Taint, kubelet map[string]any, path *field.Path) {
		for _, name := range slices.Sorted(maps.Keys(labels)) {
			if _, carried := capilabels.GetManagedLabels(labels)[name]; !carried {
				forbid(true, keyed(path.Child("labels"), name))
			}
		}
		forbid(taints != nil, path.Child("taints"))
		forbid(len(kubelet) > 0, path.Child("kubeletConfiguration"))
	}
	controlPlane, path := s.ControlPlaneConfiguration, spec.Child("controlPlaneConfiguration")
	machines(controlPlane.Labels, controlPlane.Taints, controlPlane.KubeletConfiguration, path)
	forbid(len(controlPlane.CertSANs) > 0, path.Child("certSans"))
	forbid(len(controlPlane.APIServerExtraArgs) > 0, path.Child("apiServerExtraArgs"))
	forbid(controlPlane.AuditPolicyContent != "", path.Child("auditPolicyContent"))
	forbid(controlPlane.UpgradeRolloutStrategy != nil, path.Child("upgradeRolloutStrategy"))
	for i, group := range s.WorkerNodeGroupConfigurations {
		machines(group.Labels, group.Taints, group.KubeletConfiguration, spec.Child("workerNodeGroupConfigurations").Index(i))
	}
	forbid(s.ClusterNetwork.DNS.ResolvConf != nil, spec.Child("clusterNetwork", "dns"))
	forbid(s.ClusterNetwork.Nodes != nil, spec.Child("clusterNetwork", "nodes"))
	forbid(s.ExternalEtcdConfiguration != nil, spec.Child("externalEtcdConfiguration"))
	forbid(len(s.IdentityProviderRefs) > 0, spec.Child("identityProviderRefs"))
	forbid(s.PodIAMConfig != nil, spec.Child("podIamConfig"))
	forbid(len(s.EtcdEncryption) > 0, spec.Child("etcdEncryption"))
	forbid(s.ProxyConfiguration != nil, spec.Child("proxyConfiguration"))
	forbid(s.RegistryMirrorConfiguration != nil, spec.Child("registryMirrorConfiguration"))
	return errs
}
