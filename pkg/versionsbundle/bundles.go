// Package versionsbundle has the exact versions of Kubernetes and what belongs to each:
// images, node images, kubeadm.
package versionsbundle

import (
	"cmp"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// Kind of a release manifest.
const Kind = "Bundles"

// classKind is the kind of bundles that are the versions of a ClusterClass.
const classKind = "ClusterClass"

// Bundles is a release manifest.
type Bundles struct {
	APIVersion string      `json:"apiVersion"`
	Kind       string      `json:"kind"`
	Metadata   Meta        `json:"metadata"`
	Spec       BundlesSpec `json:"spec"`
}

// OfClass are the versions of a ClusterClass, with what these bundles know of
// them. A class has the rest itself.
func (b *Bundles) OfClass(class string, versions []v1alpha1.Version) *Bundles {
	bundles := &Bundles{Kind: classKind, Metadata: Meta{Name: class}}
	for _, version := range versions {
		release, known := b.Release(version)
		if !known {
			release = VersionOnly(version)
		}
		bundles.Spec.VersionsBundles = append(bundles.Spec.VersionsBundles, VersionsBundle{
			KubeVersion: version.Minor(), EndOfSupport: b.endOfSupport(version.Minor()), Releases: []Release{release},
		})
	}
	return bundles
}

// VersionOnly returns a release of which only the version is known.
func VersionOnly(version v1alpha1.Version) Release {
	return Release{Version: version, VersionOnly: true}
}

// EndOfSupport is the day on which Kubernetes ended its support of a version;
// empty where it supports it, or nothing is known of it.
func (b *Bundles) EndOfSupport(version v1alpha1.Version) string {
	return b.endOfSupport(version.Minor())
}

func (b *Bundles) endOfSupport(minor v1alpha1.Minor) string {
	for _, bundle := range b.Spec.VersionsBundles {
		if bundle.KubeVersion == minor && bundle.EndOfSupport != "" {
			return bundle.EndOfSupport
		}
	}
	return ""
}

// Meta names a release manifest.
type Meta struct {
	Name string `json:"name"`
}

// BundlesSpec has one bundle for each minor of Kubernetes.
type BundlesSpec struct {
	VersionsBundles []VersionsBundle `json:"versionsBundles"`
}

// VersionsBundle is the entry for one minor of Kubernetes.
type VersionsBundle struct {
	KubeVersion v1alpha1.Minor `json:"kubeVersion"`
	// EndOfSupport is the day on which Kubernetes ended its support of the minor,
	// as 2026-02-28. It is empty where that was to come when the bundles were made.
	EndOfSupport string `json:"endOfSupport,omitempty"`
	// Releases are the exact versions that can be had, several for a minor.
	Releases []Release `json:"releases"`
}

// Release is one exact version of Kubernetes with everything that belongs to it.
type Release struct {
	Version v1alpha1.Version `json:"version"`
	Images  Images           `json:"images"`
	// NodeImages maps a provider to the image of its machines. A provider that
	// needs none (inmemory) has no entry.
	NodeImages map[string]string `json:"nodeImages,omitempty"`
	// Kubeadm maps an architecture, as Go calls it, to the program.
	Kubeadm map[string]Download `json:"kubeadm,omitempty"`
	// VersionOnly is true where nothing else is known: a ClusterClass has the rest.
	VersionOnly bool `json:"-"`
}

// Images are full references of container images, with tag.
type Images struct {
	KubeAPIServer         Image `json:"kubeAPIServer"`
	KubeControllerManager Image `json:"kubeControllerManager"`
	KubeScheduler         Image `json:"kubeScheduler"`
	KubeProxy             Image `json:"kubeProxy"`
	Etcd                  Image `json:"etcd"`
	CoreDNS               Image `json:"coreDNS"`
	Pause                 Image `json:"pause"`
}

// Download is a file with its checksum.
type Download struct {
	URL    string `json:"url"`
	SHA256 string `json:"sha256"` // 64 hexadecimal digits
}

// Parse reads a release manifest. All that is wrong with it is in one error, of
// type strictyaml.Problems. The name of the file is used in messages.
func Parse(file string, data []byte) (*Bundles, error) {
	var bundles Bundles
	document, err := strictyaml.Decode(file, data, Kind, v1alpha1.APIVersion, &bundles)
	if err != nil {
		return nil, err
	}
	if err := document.Locate(bundles.validate()).OrNil(); err != nil {
		return nil, err
	}
	return &bundles, nil
}

// Merge returns the bundles with those of another manifest. A version that both have is
// as the other one has it, and so is the end of support of a minor.
func (b *Bundles) Merge(other *Bundles) *Bundles {
	merged := *b
	merged.Spec.VersionsBundles = nil
	for _, bundle := range b.Spec.VersionsBundles {
		bundle.Releases = slices.DeleteFunc(slices.Clone(bundle.Releases), func(r Release) bool {
			_, replaced := other.Release(r.Version)
			return replaced
		})
		merged.Spec.VersionsBundles = append(merged.Spec.VersionsBundles, bundle)
	}
	for _, bundle := range other.Spec.VersionsBundles {
		i := slices.IndexFunc(merged.Spec.VersionsBundles, func(of VersionsBundle) bool { return of.KubeVersion == bundle.KubeVersion })
		if i < 0 {
			merged.Spec.VersionsBundles = append(merged.Spec.VersionsBundles, bundle)
			continue
		}
		into := &merged.Spec.VersionsBundles[i]
		into.EndOfSupport = cmp.Or(bundle.EndOfSupport, into.EndOfSupport)
		into.Releases = append(into.Releases, bundle.Releases...)
		slices.SortFunc(into.Releases, func(x, y Release) int { return x.Version.Compare(y.Version) })
	}
	slices.SortFunc(merged.Spec.VersionsBundles, func(x, y VersionsBundle) int { return x.KubeVersion.Compare(y.KubeVersion) })
	return &merged
}

// Of returns the entries of some versions, each a minor or an exact version, and the
// first one that there is no entry of.
func (b *Bundles) Of(versions []v1alpha1.KubernetesVersion) (*Bundles, v1alpha1.KubernetesVersion) {
	some := *b
	some.Spec.VersionsBundles = nil
	for _, version := range versions {
		if !slices.ContainsFunc(b.Releases(), func(r Release) bool { return means(version, r.Version) }) {
			return nil, version
		}
	}
	for _, bundle := range b.Spec.VersionsBundles {
		bundle.Releases = slices.DeleteFunc(slices.Clone(bundle.Releases), func(r Release) bool {
			return !slices.ContainsFunc(versions, func(version v1alpha1.KubernetesVersion) bool { return means(version, r.Version) })
		})
		if len(bundle.Releases) > 0 {
			some.Spec.VersionsBundles = append(some.Spec.VersionsBundles, bundle)
		}
	}
	return &some, v1alpha1.KubernetesVersion{}
}

// means reports whether a minor or an exact version is that of a release.
func means(asked v1alpha1.KubernetesVersion, version v1alpha1.Version) bool {
	if exact, is := asked.Exact(); is {
		return exact == version
	}
	return asked.Minor() == version.Minor()
}

// Versions are all exact versions, oldest first.
func (b *Bundles) Versions() []v1alpha1.Version {
	var versions []v1alpha1.Version
	for _, release := range b.Releases() {
		versions = append(versions, release.Version)
	}
	return versions
}

// Release returns the entry of an exact version.
func (b *Bundles) Release(version v1alpha1.Version) (Release, bool) {
	for _, bundle := range b.Spec.VersionsBundles {
		for _, release := range bundle.Releases {
			if release.Version == version {
				return release, true
			}
		}
	}
	return Release{}, false
}

// Releases are all releases, oldest first.
func (b *Bundles) Releases() []Release {
	var releases []Release
	for _, bundle := range b.Spec.VersionsBundles {
		releases = append(releases, bundle.Releases...)
	}
	slices.SortFunc(releases, func(x, y Release) int { return x.Version.Compare(y.Version) })
	return releases
}
