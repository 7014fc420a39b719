package plan

import (
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// VersionChange asks for versions of a cluster, and for nothing else.
type VersionChange struct {
	// KubernetesVersion of the control plane, and of all groups that have none of their own.
	KubernetesVersion v1alpha1.KubernetesVersion `json:"kubernetesVersion"`
	// WorkerNodeGroups have versions of their own.
	WorkerNodeGroups map[string]v1alpha1.KubernetesVersion `json:"workerNodeGroups,omitempty"`
	// Images are what machines are made from, by version.
	Images []VersionImage `json:"images,omitempty"`
}

// VersionImage is what belongs to a version in the templates of machines.
type VersionImage struct {
	// KubernetesVersion is an exact version, or a minor for all of its patches. An entry
	// for the exact version counts before one for its minor.
	KubernetesVersion v1alpha1.KubernetesVersion `json:"kubernetesVersion"`
	// Parts are the control plane ("control-plane") and worker node groups that the entry
	// is for; none means all.
	Parts []string `json:"parts,omitempty"`
	// Spec is merged into spec.template.spec of the template, as a JSON merge patch
	// (RFC 7386). An empty one says that the template is right for the version as it is.
	Spec map[string]any `json:"spec"`
}

// Reached says what a cluster has come to that needs no step of the plan.
func (p Plan) Reached() string {
	if p.Source != nil && p.Source.Change != nil {
		return "has the versions that are asked for"
	}
	return "matches the file"
}

// Image returns what a template for machines of a part has at a version, which may be nothing
// of its own, and false where no entry is about it.
func (c VersionChange) Image(part string, version v1alpha1.Version) (map[string]any, bool) {
	var ofMinor map[string]any
	found := false
	for _, image := range c.Images {
		if !image.covers(part) {
			continue
		}
		exact, is := image.KubernetesVersion.Exact()
		switch {
		case is && exact == version:
			return image.Spec, true
		case !is && image.KubernetesVersion.Minor() == version.Minor() && !found:
			ofMinor, found = image.Spec, true
		}
	}
	return ofMinor, found
}

// covers reports whether the entry is for a part.
func (i VersionImage) covers(part string) bool {
	return len(i.Parts) == 0 || slices.Contains(i.Parts, part)
}
