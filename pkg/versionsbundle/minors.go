package versionsbundle

import "github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"

// Minor is what bundles have of one minor of Kubernetes.
type Minor struct {
	Minor v1alpha1.Minor `json:"minor"`
	// Newest is the newest version of the minor, and no pre-release if there is a release.
	Newest v1alpha1.Version `json:"newest"`
	// Default maps a provider to the version that the minor stands for in the file of a new
	// cluster.
	Default map[string]v1alpha1.Version `json:"default"`
	// WithOlderGroups is Default where a worker node group of the file has an older minor. It
	// has no entry for a provider whose machines could not join.
	WithOlderGroups map[string]v1alpha1.Version `json:"withOlderGroups"`
	// EndOfSupport is the day on which Kubernetes ended its support of the minor; empty
	// where it supports it, or nothing is known of it.
	EndOfSupport string `json:"endOfSupport,omitempty"`
	// Versions are all of the minor, oldest first.
	Versions []Available `json:"versions"`
}

// Available is one version of Kubernetes that bundles have.
type Available struct {
	Version v1alpha1.Version `json:"version"`
	// Lacks maps a provider to what its machines need and the bundles do not have; it has no
	// entry for a provider that lacks nothing.
	Lacks map[string][]Lack `json:"lacks,omitempty"`
}

// Lack is something that machines need from a release.
type Lack string

// What a release may lack.
const (
	LacksNodeImage Lack = "nodeImage"
	LacksKubeadm   Lack = "kubeadm"
)

// Minors returns what the bundles have by minor, oldest first, for providers whose machines
// have these needs in a cluster with groups of an older minor.
func (b *Bundles) Minors(providers map[string]Needs) []Minor {
	var minors []Minor
	for _, release := range b.Releases() {
		minor := release.Version.Minor()
		if len(minors) == 0 || minors[len(minors)-1].Minor != minor {
			minors = append(minors, Minor{
				Minor: minor, Newest: b.newest(minor, Needs{}), EndOfSupport: b.endOfSupport(minor),
				Default: map[string]v1alpha1.Version{}, WithOlderGroups: map[string]v1alpha1.Version{},
			})
		}
		m := &minors[len(minors)-1]
		available := Available{Version: release.Version}
		for provider, needs := range providers {
			if lacks := needs.lacks(release); len(lacks) > 0 {
				if available.Lacks == nil {
					available.Lacks = map[string][]Lack{}
				}
				available.Lacks[provider] = lacks
			}
		}
		m.Versions = append(m.Versions, available)
	}
	for provider, needs := range providers {
		for i := range minors {
			minors[i].Default[provider] = b.newest(minors[i].Minor, Needs{NodeImage: needs.NodeImage})
			withOlder := b.newest(minors[i].Minor, needs)
			if release, _ := b.Release(withOlder); !needs.LacksKubeadm(release) {
				minors[i].WithOlderGroups[provider] = withOlder
			}
		}
	}
	return minors
}

// newest returns the version that a minor stands for.
func (b *Bundles) newest(minor v1alpha1.Minor, needs Needs) v1alpha1.Version {
	offered := b.offered(minor, v1alpha1.Version{}, needs)
	return offered[len(offered)-1].Version
}

// lacks returns what a release lacks.
func (n Needs) lacks(r Release) []Lack {
	var lacks []Lack
	if n.LacksNodeImage(r) {
		lacks = append(lacks, LacksNodeImage)
	}
	if n.LacksKubeadm(r) {
		lacks = append(lacks, LacksKubeadm)
	}
	return lacks
}
