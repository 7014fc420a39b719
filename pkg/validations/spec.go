// Package validations holds the rules that a cluster spec must keep. It is
// pure: it looks at values and returns errors with the paths of their fields.
package validations

import (
	"fmt"
	"iter"
	"math"
	"strings"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/skew"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// maxNameLength of a cluster, and of cluster and group together, leaves room
// for what Cluster API puts behind it: machine names end in a generated
// suffix, names of nodes and label values end at 63 characters.
const (
	// reservedGroup would give templates the names of the control plane's.
	reservedGroup = "control-plane"

	maxNameLength  = 40
	maxGroupLength = 48
)

// Spec returns everything that is wrong with a spec by itself.
func Spec(cluster *v1alpha1.Cluster) field.ErrorList {
	errs := metadata(cluster.Metadata)
	spec := field.NewPath("spec")
	errs = append(errs, controlPlane(cluster.Spec.ControlPlaneConfiguration, spec.Child("controlPlaneConfiguration"))...)
	errs = append(errs, groups(cluster, spec.Child("workerNodeGroupConfigurations"))...)
	errs = append(errs, datacenter(cluster.Spec.DatacenterRef, spec.Child("datacenterRef"))...)
	errs = append(errs, managementCluster(cluster.Spec.ManagementCluster, spec.Child("managementCluster"))...)
	errs = append(errs, externalEtcd(cluster.Spec.ExternalEtcdConfiguration, spec.Child("externalEtcdConfiguration"))...)
	return append(errs, networks(cluster.Spec.ClusterNetwork, spec.Child("clusterNetwork"))...)
}

// Versions returns where the exact versions of a new cluster break the skew
// policy.
func Versions(cluster *v1alpha1.Cluster, versions v1alpha1.ClusterVersions) field.ErrorList {
	if versions.ControlPlane.IsZero() {
		return nil
	}
	var errs field.ErrorList
	for path, group := range pinned(cluster, versions) {
		if err := skew.Check(versions.ControlPlane, versions.WorkerNodeGroups[group.Name]); err != nil {
			detail := fmt.Sprintf("group %s %s; use %s to %s, or change spec.kubernetesVersion",
				group.Name, err, skew.Oldest(versions.ControlPlane), versions.ControlPlane)
			errs = append(errs, field.Invalid(path, group.KubernetesVersion.String(), detail))
		}
	}
	return errs
}

// fetchedKubeadm returns the groups whose machines could not join: a node of an
// older minor fetches the kubeadm of the control plane's version, which the
// bundle must know then.
func fetchedKubeadm(cluster *v1alpha1.Cluster, versions v1alpha1.ClusterVersions, set versionsbundle.Set) field.ErrorList {
	release, found := set[versions.ControlPlane]
	if !found || len(release.Kubeadm) > 0 {
		return nil
	}
	var errs field.ErrorList
	for path, group := range pinned(cluster, versions) {
		if versions.WorkerNodeGroups[group.Name].Minor() != versions.ControlPlane.Minor() {
			errs = append(errs, field.Invalid(path, group.KubernetesVersion.String(),
				fmt.Sprintf("machines of group %s need kubeadm %s to join, and the versions bundle has no download of it; add it with --bundles, or use a version of minor %s",
					group.Name, versions.ControlPlane, versions.ControlPlane.Minor())))
		}
	}
	return errs
}

// pinned visits the worker node groups that have a version of their own, with
// its path. A version that could not be resolved is left out, and so are groups
// that share a name: which of them has which version is not known.
func pinned(cluster *v1alpha1.Cluster, versions v1alpha1.ClusterVersions) iter.Seq2[*field.Path, v1alpha1.WorkerNodeGroupConfiguration] {
	named := map[string]int{}
	for _, group := range cluster.Spec.WorkerNodeGroupConfigurations {
		named[group.Name]++
	}
	path := field.NewPath("spec", "workerNodeGroupConfigurations")
	return func(yield func(*field.Path, v1alpha1.WorkerNodeGroupConfiguration) bool) {
		for i, group := range cluster.Spec.WorkerNodeGroupConfigurations {
			if !group.Pinned() || named[group.Name] > 1 || versions.WorkerNodeGroups[group.Name].IsZero() {
				continue
			}
			if !yield(path.Index(i).Child("kubernetesVersion"), group) {
				return
			}
		}
	}
}

func metadata(meta v1alpha1.Meta) field.ErrorList {
	path := field.NewPath("metadata")
	var errs field.ErrorList
	if meta.Namespace != "" {
		errs = append(errs, dnsLabel(meta.Namespace, utilvalidation.DNS1123LabelMaxLength, path.Child("namespace"))...)
	}
	return append(errs, dnsLabel(meta.Name, maxNameLength, path.Child("name"))...)
}

func dnsLabel(name string, maxLength int, path *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "a name of lower-case letters, digits and dashes")}
	}
	var errs field.ErrorList
	if len(name) > maxLength {
		errs = append(errs, field.Invalid(path, name, fmt.Sprintf("must have at most %d characters, and has %d", maxLength, len(name))))
	}
	// What is longer than a label can be has been told so already.
	if len(name) <= utilvalidation.DNS1123LabelMaxLength && len(utilvalidation.IsDNS1123Label(name)) > 0 {
		errs = append(errs, field.Invalid(path, name, "must consist of lower-case letters, digits and dashes, and begin and end with a letter or digit"))
	}
	return errs
}

func controlPlane(config v1alpha1.ControlPlaneConfiguration, path *field.Path) field.ErrorList {
	return oddCount(config.Replicas(), "etcd has a member on each control plane machine", path.Child("count"))
}

func oddCount(count int, why string, path *field.Path) field.ErrorList {
	if errs := machineCount(count, 1, path); len(errs) > 0 {
		return errs
	}
	if count%2 == 0 {
		return field.ErrorList{field.Invalid(path, count, fmt.Sprintf("must be odd: %s, and an even number survives no more failures than one less; use %d or %d", why, count-1, count+1))}
	}
	return nil
}

// machineCount is a number that Cluster API's objects can hold.
func machineCount(count, least int, path *field.Path) field.ErrorList {
	switch {
	case count < least:
		return field.ErrorList{field.Invalid(path, count, fmt.Sprintf("must be %d or more", least))}
	case count > math.MaxInt32:
		return field.ErrorList{field.Invalid(path, count, fmt.Sprintf("must be %d or less", math.MaxInt32))}
	}
	return nil
}

func groups(cluster *v1alpha1.Cluster, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	first := map[string]int{}
	for i, group := range cluster.Spec.WorkerNodeGroupConfigurations {
		at := path.Index(i)
		errs = append(errs, groupName(cluster.Metadata.Name, group.Name, at.Child("name"))...)
		if earlier, twice := first[group.Name]; twice && group.Name != "" {
			errs = append(errs, &field.Error{
				Type: field.ErrorTypeDuplicate, Field: at.Child("name").String(), BadValue: group.Name,
				Detail: fmt.Sprintf("%s has this name already; each group needs its own", path.Index(earlier)),
			})
		} else {
			first[group.Name] = i
		}
		errs = append(errs, machineCount(group.Replicas(), 0, at.Child("count"))...)
	}
	return errs
}

func groupName(cluster, group string, path *field.Path) field.ErrorList {
	errs := dnsLabel(group, maxGroupLength, path)
	if group == reservedGroup {
		errs = append(errs, field.Invalid(path, group, "is the name of the control plane; use another one for the group"))
	}
	if together := len(cluster) + 1 + len(group); len(errs) == 0 && len(cluster) <= maxNameLength && together > maxGroupLength {
		errs = append(errs, field.Invalid(path, group, fmt.Sprintf("the names of cluster and group together must have at most %d characters, and have %d", maxGroupLength-1, together-1)))
	}
	return errs
}

func datacenter(ref v1alpha1.Ref, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	kinds := []string{v1alpha1.DockerKind, v1alpha1.InMemoryKind}
	switch ref.Kind {
	case v1alpha1.DockerKind, v1alpha1.InMemoryKind:
	case "":
		errs = append(errs, field.Required(path.Child("kind"), "the provider: "+strings.Join(kinds, " or ")))
	default:
		errs = append(errs, field.NotSupported(path.Child("kind"), ref.Kind, kinds))
	}
	if ref.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), "the name of the provider document; where there is none, any name"))
	}
	return errs
}

func managementCluster(config v1alpha1.ManagementCluster, path *field.Path) field.ErrorList {
	if config.Name == "" {
		return nil
	}
	return dnsLabel(config.Name, utilvalidation.DNS1123LabelMaxLength, path.Child("name"))
}

func externalEtcd(config *v1alpha1.ExternalEtcdConfiguration, path *field.Path) field.ErrorList {
	if config == nil {
		return nil
	}
	return oddCount(config.Count, "etcd decides by majority", path.Child("count"))
}
