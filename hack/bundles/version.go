package main

import (
	"cmp"
	"fmt"
)

// releaseVersion is the version of a Kubernetes release. Pre-releases have no
// place in the bundles, so it knows none.
type releaseVersion struct {
	Major, Minor, Patch int
}

// parseVersion accepts exactly the form in which Kubernetes tags its releases,
// because the text is also used as tag of images and in download URLs.
func parseVersion(text string) (releaseVersion, error) {
	var v releaseVersion
	if _, err := fmt.Sscanf(text, "v%d.%d.%d", &v.Major, &v.Minor, &v.Patch); err != nil {
		return releaseVersion{}, fmt.Errorf("parse version %q: %w", text, err)
	}
	if v.String() != text {
		return releaseVersion{}, fmt.Errorf("version %q is not of the form v1.2.3", text)
	}
	return v, nil
}

func (v releaseVersion) String() string {
	return fmt.Sprintf("v%d.%d.%d", v.Major, v.Minor, v.Patch)
}

// KubeVersion is the minor version that a bundle covers, such as "1.34".
func (v releaseVersion) KubeVersion() string {
	return fmt.Sprintf("%d.%d", v.Major, v.Minor)
}

// Compare orders versions as releases are ordered, not as text is: 1.30.14
// comes after 1.30.4.
func (v releaseVersion) Compare(other releaseVersion) int {
	return cmp.Or(
		cmp.Compare(v.Major, other.Major),
		cmp.Compare(v.Minor, other.Minor),
		cmp.Compare(v.Patch, other.Patch),
	)
}
