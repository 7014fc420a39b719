// Package versionsbundle has the exact versions of Kubernetes and what belongs to each:
// images, node images, kubeadm.
package versionsbundle

import (
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
