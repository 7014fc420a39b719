package validations

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/skew"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// Policy is the skew policy that holds for the cluster.
func Policy(cluster *v1alpha1.Cluster) skew.Policy {
	if limit := cluster.Spec.UpgradePolicy.MaxWorkerVersionSkew; limit != nil && *limit > 0 {
		return skew.Policy{MaxLag: uint64(*limit)}
	}
	return skew.Policy{}
}

// Versions returns where the exact versions of a new cluster break the skew
// policy.
func Versions(cluster *v1alpha1.Cluster, versions v1alpha1.ClusterVersions) field.ErrorList {
	if versions.ControlPlane.IsZero() {
		return nil
	}
	policy := Policy(cluster)
	var errs field.ErrorList
	for path, group := range pinned(cluster, versions) {
		version := versions.WorkerNodeGroups[group.Name]
		if err := policy.Check(versions.ControlPlane, version); err != nil {
			detail := fmt.Sprintf("group %s %s; use %s to %s, or change spec.kubernetesVersion",
				group.Name, err, policy.Oldest(versions.ControlPlane), versions.ControlPlane)
			if policy.TooOld(versions.ControlPlane, version) {
				detail += fmt.Sprintf(" to %s or older", policy.Newest(version))
				if (skew.Policy{}).Check(versions.ControlPlane, version) == nil {
					detail += ", or raise spec.upgradePolicy.maxWorkerVersionSkew, which sets the limit"
				}
			}
			errs = append(errs, field.Invalid(path, group.KubernetesVersion.String(), detail))
		}
	}
	return errs
}

// fetchedKubeadm returns the groups whose machines could not join: a node of an
// older minor fetches the kubeadm of the control plane's version, which the
// bundle must know then.
func fetchedKubeadm(cluster *v1alpha1.Cluster, versions v1alpha1.ClusterVersions, bundles *versionsbundle.Bundles, needs versionsbundle.Needs) field.ErrorList {
	release, found := bundles.Release(versions.ControlPlane)
	if !found || !needs.LacksKubeadm(release) {
		return nil
	}
	policy := Policy(cluster)
	var errs field.ErrorList
	for path, group := range pinned(cluster, versions) {
		version := versions.WorkerNodeGroups[group.Name]
		if policy.Check(versions.ControlPlane, version) != nil {
			continue // is an error already
		}
		if version.Minor() != versions.ControlPlane.Minor() {
			errs = append(errs, field.Invalid(path, group.KubernetesVersion.String(),
				fmt.Sprintf("machines of group %s need kubeadm %s to join, and the versions bundle has no download of it; add it with --bundles, use a version of minor %s, or a control plane with a download: %s",
					group.Name, versions.ControlPlane, versions.ControlPlane.Minor(), withKubeadm(bundles))))
		}
	}
	return errs
}

// versionWarnings are about versions that Kubernetes no longer supports, and
// about those that the bundles have no node image of.
func versionWarnings(cluster *v1alpha1.Cluster, versions v1alpha1.ClusterVersions, bundles *versionsbundle.Bundles, needs versionsbundle.Needs) []strictyaml.Warning {
	var warnings []strictyaml.Warning
	about := func(path *field.Path, version v1alpha1.Version) {
		warn := func(format string, args ...any) {
			text := fmt.Sprintf(format, args...)
			if !slices.ContainsFunc(warnings, func(w strictyaml.Warning) bool { return w.Text == text }) {
				warnings = append(warnings, strictyaml.Warning{Path: path.String(), Text: text})
			}
		}
		release, known := bundles.Release(version)
		if !known {
			return
		}
		if ended := bundles.EndOfSupport(version); ended != "" {
			warn("Kubernetes %s has been out of support since %s and gets no security fixes; use a supported minor (https://kubernetes.io/releases)", version.Minor(), ended)
		}
		if needs.LacksNodeImage(release) {
			warn("%s", noNodeImage(version, needs))
		}
	}
	about(field.NewPath("spec", "kubernetesVersion"), versions.ControlPlane)
	for path, group := range pinned(cluster, versions) {
		about(path, versions.WorkerNodeGroups[group.Name])
		if text := unverified(group.Name, versions.ControlPlane, versions.WorkerNodeGroups[group.Name], bundles, needs); text != "" {
			warnings = append(warnings, strictyaml.Warning{Path: path.String(), Text: text})
		}
	}
	return warnings
}

// unverified says what machines of a group trust when they fetch the kubeadm of a control
// plane; empty where the bundles have its checksum.
func unverified(group string, controlPlane, version v1alpha1.Version, bundles *versionsbundle.Bundles, needs versionsbundle.Needs) string {
	release, known := bundles.Release(controlPlane)
	if !known || version.Minor() == controlPlane.Minor() || !needs.Unverified(release) {
		return ""
	}
	return fmt.Sprintf("machines of group %s fetch kubeadm %s to join, and the versions bundle does not have its checksum: they take it from the server that they fetch it from; add sha256 with --bundles", group, controlPlane)
}

// noNodeImage says what becomes of machines at a version without a node image.
func noNodeImage(version v1alpha1.Version, needs versionsbundle.Needs) string {
	return fmt.Sprintf("the versions bundle of %s has no node image for provider %s, which would take kindest/node:%s, and that may not exist; add it with --bundles, or ask for a version that has one", version, needs.NodeImage, version)
}

// withKubeadm are the versions with a download of kubeadm.
func withKubeadm(bundles *versionsbundle.Bundles) string {
	var versions []string
	for _, release := range bundles.Releases() {
		if len(release.Kubeadm) > 0 {
			versions = append(versions, release.Version.String())
		}
	}
	return cmp.Or(strings.Join(versions, ", "), "none")
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
