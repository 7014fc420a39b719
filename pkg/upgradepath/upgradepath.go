// Package upgradepath knows which versions a control plane goes through: one minor
// at a time (https://kubernetes.io/releases/version-skew-policy/#kube-apiserver), and
// of each minor the newest patch. It is pure.
package upgradepath

import "github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"

// NewestPatches returns the newest of the releases of each minor.
func NewestPatches(releases []v1alpha1.Version) map[v1alpha1.Minor]v1alpha1.Version {
	newest := map[v1alpha1.Minor]v1alpha1.Version{}
	for _, release := range releases {
		if release.After(newest[release.Minor()]) {
			newest[release.Minor()] = release
		}
	}
	return newest
}

// Between returns the newest patch of each minor between those of two versions, in
// ascending order, and the minors that have no release. There are none between
// versions of two majors.
func Between(from, to v1alpha1.Version, releases []v1alpha1.Version) (path []v1alpha1.Version, missing []v1alpha1.Minor) {
	newest := NewestPatches(releases)
	minor, end := from.Minor(), to.Minor()
	for minor.Minor++; minor.Major == end.Major && minor.Minor < end.Minor; minor.Minor++ {
		if patch, released := newest[minor]; released {
			path = append(path, patch)
		} else {
			missing = append(missing, minor)
		}
	}
	return path, missing
}
