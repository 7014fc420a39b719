package versionsbundle

import (
	"maps"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// Needs says what the machines of a cluster need from a release. The zero value is for
// machines that need nothing.
type Needs struct {
	// NodeImage is the provider whose machines are made from a node image; empty
	// for one that has no images.
	NodeImage string
	// Kubeadm is true where machines of an older minor join, which download the
	// kubeadm of the control plane's version.
	Kubeadm bool
}

// LacksNodeImage reports whether machines cannot be made of a release.
func (n Needs) LacksNodeImage(r Release) bool {
	return n.NodeImage != "" && !r.VersionOnly && r.NodeImages[n.NodeImage] == ""
}

// LacksKubeadm reports whether machines of an older minor cannot join a control
// plane of a release.
func (n Needs) LacksKubeadm(r Release) bool {
	return n.Kubeadm && !r.VersionOnly && len(r.Kubeadm) == 0
}

// Unverified reports whether machines of an older minor would trust the publisher of the
// kubeadm of a release.
func (n Needs) Unverified(r Release) bool {
	return n.Kubeadm && !r.VersionOnly && slices.ContainsFunc(slices.Collect(maps.Values(r.Kubeadm)), func(d Download) bool { return !d.Verified() })
}

// lack is larger the more a release lacks. A pre-release is taken where there
// is no release.
func (n Needs) lack(r Release) int {
	lack := 0
	if r.Version.IsPreRelease() {
		lack += 8
	}
	if n.LacksNodeImage(r) {
		lack += 4
	}
	if n.LacksKubeadm(r) {
		lack += 2
	}
	if n.Unverified(r) {
		lack++
	}
	return lack
}

// least returns the releases of one minor that lack the least.
func (n Needs) least(releases []Release) []Release {
	if len(releases) == 0 {
		return nil
	}
	least := n.lack(slices.MinFunc(releases, func(a, b Release) int { return n.lack(a) - n.lack(b) }))
	return slices.DeleteFunc(slices.Clone(releases), func(r Release) bool { return n.lack(r) > least })
}

// Offered are the versions that a minor may stand for, oldest first: of each
// minor the releases that lack the least of what is needed. What a cluster is
// created at, the way of an upgrade and the plans of the runtime extension all
// come from them.
func (b *Bundles) Offered(needs Needs) []v1alpha1.Version {
	byMinor := map[v1alpha1.Minor][]Release{}
	var minors []v1alpha1.Minor
	for _, release := range b.Releases() {
		minor := release.Version.Minor()
		if byMinor[minor] == nil {
			minors = append(minors, minor)
		}
		byMinor[minor] = append(byMinor[minor], release)
	}
	var versions []v1alpha1.Version
	for _, minor := range minors {
		for _, release := range needs.least(byMinor[minor]) {
			versions = append(versions, release.Version)
		}
	}
	return versions
}

// Usable returns the releases that machines can be made with, oldest first: those of
// each minor with a node image, or all of the minor if none has one. The kept ones
// stay.
func (b *Bundles) Usable(needs Needs, kept []v1alpha1.Version) []Release {
	all := b.Releases()
	return slices.DeleteFunc(slices.Clone(all), func(r Release) bool {
		return needs.LacksNodeImage(r) && !slices.Contains(kept, r.Version) && slices.ContainsFunc(all, func(other Release) bool {
			return other.Version.Minor() == r.Version.Minor() && !needs.LacksNodeImage(other)
		})
	})
}

// offered are the releases that a minor may stand for, oldest first, where it is
// not to be newer than a limit; the zero limit is none.
func (b *Bundles) offered(minor v1alpha1.Minor, limit v1alpha1.Version, needs Needs) []Release {
	return needs.least(slices.DeleteFunc(b.Releases(), func(r Release) bool {
		return r.Version.Minor() != minor || !limit.IsZero() && r.Version.After(limit)
	}))
}
