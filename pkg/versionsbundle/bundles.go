// Package versionsbundle has the exact versions of Kubernetes and what belongs to each:
// images, node images, kubeadm.
package versionsbundle

import (
	"cmp"
	"slices"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// Kind of a release manifest.
const Kind = "Bundles"

// classKind is the kind of bundles that are the versions of a ClusterClass.
const classKind = "ClusterClass"

// Bundles is a release manifest: the versions of Kubernetes that clusters can have, with
// what belongs to each. --bundles FILE adds those of a file to the built-in ones, which
// 'clusterctl-x generate bundles' writes.
type Bundles struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Metadata of the manifest.
	Metadata Meta `json:"metadata"`
	// Spec has the versions.
	Spec BundlesSpec `json:"spec"`
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
	// Name of the manifest; any text.
	Name string `json:"name"`
}

// BundlesSpec has one bundle for each minor of Kubernetes.
type BundlesSpec struct {
	// VersionsBundles are the entries, one for each minor of Kubernetes.
	VersionsBundles []VersionsBundle `json:"versionsBundles"`
}

// VersionsBundle is the entry for one minor of Kubernetes.
type VersionsBundle struct {
	// KubeVersion is the minor, such as "1.34".
	KubeVersion v1alpha1.Minor `json:"kubeVersion"`
	// EndOfSupport is the day on which Kubernetes ended its support of the minor,
	// as 2026-02-28. It is empty where that was to come when the bundles were made.
	EndOfSupport string `json:"endOfSupport,omitempty"`
	// Releases are the exact versions that can be had, several for a minor.
	Releases []Release `json:"releases"`
}

// Release is one exact version of Kubernetes with everything that belongs to it.
type Release struct {
	// Version is the exact version, such as v1.34.2; it is a patch of the minor.
	Version v1alpha1.Version `json:"version"`
	// Images of the programs of the control plane and of each node: full references with
	// tag and without digest, such as registry.k8s.io/pause:3.10.
	Images Images `json:"images"`
	// NodeImages maps a provider to the image of its machines, with digest. A provider
	// that needs none (inmemory) has no entry.
	NodeImages map[string]string `json:"nodeImages,omitempty"`
	// LoadBalancerImages maps a provider whose clusters have a load balancer of their own to
	// its image, which must be called haproxy: for clusters whose control plane has this
	// version. A provider without an entry chooses it.
	LoadBalancerImages map[string]Image `json:"loadBalancerImages,omitempty"`
	// PreLoadImages maps a provider to further images for its machines of this version, which
	// each loads when it is made. Machines without a registry need images of other versions
	// while a cluster is upgraded; 'generate bundles --pre-load-images' lists them.
	PreLoadImages map[string][]Image `json:"preLoadImages,omitempty"`
	// Kubeadm maps an architecture, amd64 or arm64, to the program kubeadm. Machines of an
	// older minor fetch it to join a control plane of this version, unless their node image
	// has it as /opt/kubeadm/VERSION/kubeadm; without an entry they cannot join.
	Kubeadm map[string]Download `json:"kubeadm,omitempty"`
	// VersionOnly is true where nothing else is known: a ClusterClass has the rest.
	VersionOnly bool `json:"-"`
}

// Images are full references of container images, with tag.
type Images struct {
	// KubeAPIServer is the image of kube-apiserver.
	KubeAPIServer Image `json:"kubeAPIServer"`
	// KubeControllerManager is the image of kube-controller-manager.
	KubeControllerManager Image `json:"kubeControllerManager"`
	// KubeScheduler is the image of kube-scheduler.
	KubeScheduler Image `json:"kubeScheduler"`
	// KubeProxy is the image of kube-proxy.
	KubeProxy Image `json:"kubeProxy"`
	// Etcd is the image of etcd.
	Etcd Image `json:"etcd"`
	// CoreDNS is the image of CoreDNS.
	CoreDNS Image `json:"coreDNS"`
	// Pause is the image of the container that holds the namespaces of a pod.
	Pause Image `json:"pause"`
}

// Download is a file with its checksum.
type Download struct {
	// URL of the file, with https:// or http://, or with file:// for one of the node image.
	URL string `json:"url"`
	// SHA256 is the checksum of the file: 64 hexadecimal digits in lower case. Without it
	// machines read it from the publisher, at the URL with .sha256 behind it, which is worth
	// as much as the server that gives both.
	SHA256 string `json:"sha256,omitempty"`
}

// Verified reports whether machines can tell that the file is the right one without asking
// who publishes it. A file of the node image is as trustworthy as the image.
func (d Download) Verified() bool {
	return d.SHA256 != "" || strings.HasPrefix(d.URL, fileScheme)
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
