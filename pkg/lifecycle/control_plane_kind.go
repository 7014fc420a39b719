package lifecycle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/controlplanes"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// tightened returns a policy with the version skew that the provider of a control plane
// allows, where that is less.
func tightened(policy v1alpha1.UpgradePolicy, cluster state.Cluster) v1alpha1.UpgradePolicy {
	limit := controlPlaneKind(cluster).MaxWorkerVersionSkew
	if present := policy.MaxWorkerVersionSkew; limit > 0 && (present == nil || *present > limit) {
		policy.MaxWorkerVersionSkew = &limit
	}
	return policy
}

func controlPlaneKind(cluster state.Cluster) controlplanes.Kind {
	kind, _, _ := strings.Cut(cluster.ControlPlane.Object, "/")
	return controlplanes.Of(kind)
}

// releasesFor returns the releases that a cluster can have on its way to the versions of a
// change: where its provider adds a build to versions, those with such a build.
func releasesFor(change VersionChange, cluster state.Cluster, bundles *versionsbundle.Bundles) (*versionsbundle.Bundles, error) {
	like := cluster.ControlPlane.Version
	if exact, is := change.KubernetesVersion.Exact(); is && exact.Build() != "" {
		like = exact
	}
	if like.Build() == "" || cluster.Topology != nil { // a class lists its versions
		return bundles, nil
	}
	var versions []v1alpha1.KubernetesVersion
	for _, version := range controlPlaneKind(cluster).Releases(like, bundles.Versions()) {
		versions = append(versions, v1alpha1.ExactVersion(version))
	}
	some, _ := bundles.Of(versions)
	asked := change.KubernetesVersion
	_, exact := asked.Exact()
	there := slices.ContainsFunc(versions, func(v v1alpha1.KubernetesVersion) bool { return v.Minor() == asked.Minor() })
	if !exact && !there && asked.Minor() != cluster.ControlPlane.Version.Minor() {
		return nil, &management.RefusedError{Check: "release-missing", Reason: fmt.Sprintf(
			"%s %s: the control plane of cluster %s/%s is at %s, and no versions bundle has a release of %s with such a build; write the exact version, or name a file that has the provider's releases by --bundles",
			VersionFlag, asked, cluster.Namespace, cluster.Name, cluster.ControlPlane.Version, asked.Minor())}
	}
	return some, nil
}

// withMinors returns resolved versions for a control plane whose provider chooses the patch:
// that has a minor, and the groups have patches of it.
func (s Spec) withMinors(resolved validations.Resolved, running v1alpha1.ClusterVersions) validations.Resolved {
	if !running.ControlPlane.AnyPatch() {
		return resolved
	}
	versions := &resolved.Versions
	versions.ControlPlane = v1alpha1.MinorVersion(versions.ControlPlane.Minor())
	resolved.Set[versions.ControlPlane] = versionsbundle.VersionOnly(versions.ControlPlane)
	for name, version := range versions.WorkerNodeGroups {
		if !version.AnyPatch() {
			continue
		}
		patch := s.patchOf(version.Minor(), running.WorkerNodeGroups[name])
		versions.WorkerNodeGroups[name] = patch
		if _, known := resolved.Set[patch]; !known {
			resolved.Set[patch] = versionsbundle.VersionOnly(patch)
		}
	}
	return resolved
}

// patchOf is the patch of a minor that a group runs, or else the newest one that there is a
// release of.
func (s Spec) patchOf(minor v1alpha1.Minor, running v1alpha1.Version) v1alpha1.Version {
	if running.Minor() == minor && !running.AnyPatch() {
		return running
	}
	patch := v1alpha1.FirstPatch(minor)
	for _, release := range s.releases().Versions() {
		if release.Minor() == minor && !release.AnyPatch() && release.After(patch) {
			patch = release
		}
	}
	return patch
}

// passable returns the releases that a control plane at a version goes through: with their
// minors where its provider chooses the patch.
func passable(from v1alpha1.Version, releases []v1alpha1.Version) []v1alpha1.Version {
	if !from.AnyPatch() {
		return releases
	}
	return controlplanes.Kind{Minors: true}.Releases(from, releases)
}
