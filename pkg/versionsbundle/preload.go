package versionsbundle

import (
	"maps"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/skew"
)

// WithPreLoadImages returns the bundles with the images that machines without a registry need
// of other versions while a cluster goes through these: of each release with node images but
// its own kube-proxy and CoreDNS. A node runs those of its control plane, which may be newer,
// and a new control plane machine those of the minor before until the control plane is done.
func (b *Bundles) WithPreLoadImages() *Bundles {
	with := *b
	with.Spec.VersionsBundles = nil
	for _, bundle := range b.Spec.VersionsBundles {
		bundle.Releases = slices.Clone(bundle.Releases)
		for i, release := range bundle.Releases {
			bundle.Releases[i].PreLoadImages = release.preLoading(b.Releases())
		}
		with.Spec.VersionsBundles = append(with.Spec.VersionsBundles, bundle)
	}
	return &with
}

// preLoading returns the images that machines of the release load, for each provider.
func (r Release) preLoading(others []Release) map[string][]Image {
	var images []Image
	for _, other := range others {
		if !r.meets(other) {
			continue
		}
		for _, image := range []Image{other.Images.KubeProxy, other.Images.CoreDNS} {
			if image != r.Images.KubeProxy && image != r.Images.CoreDNS && !slices.Contains(images, image) {
				images = append(images, image)
			}
		}
	}
	all := maps.Clone(r.PreLoadImages)
	for provider := range r.NodeImages {
		if all == nil {
			all = map[string][]Image{}
		}
		all[provider] = images
	}
	return all
}

// meets reports whether nodes of the release can be in a cluster whose control plane has
// another version, or leaves it.
func (r Release) meets(other Release) bool {
	if other.Version.After(r.Version) {
		return skew.Policy{}.Check(other.Version, r.Version) == nil
	}
	before := other.Version.Minor()
	before.Minor++
	return other.Version != r.Version && before.Compare(r.Version.Minor()) >= 0
}
