package controlplanes

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// Parse reads a version as objects of the kind have it; it is zero for what is no version.
func (k Kind) Parse(text string) v1alpha1.Version {
	if version, err := v1alpha1.ParseVersion(text); err == nil {
		return k.As(version)
	}
	if minor, err := v1alpha1.ParseMinor(text); err == nil && k.Minors {
		return v1alpha1.MinorVersion(minor)
	}
	return v1alpha1.Version{}
}

// As returns a version as objects of the kind can have it: without its patch where they take
// minors only.
func (k Kind) As(version v1alpha1.Version) v1alpha1.Version {
	if k.Minors && !version.IsZero() {
		return v1alpha1.MinorVersion(version.Minor())
	}
	return version
}

// Version returns the version that an object is to have; zero where it has none.
func (k Kind) Version(object *unstructured.Unstructured) v1alpha1.Version {
	text, _, err := unstructured.NestedString(object.Object, k.VersionPath(object)...)
	if err != nil {
		return v1alpha1.Version{}
	}
	return k.Parse(text)
}

// Running returns the versions that run, as the status of an object has them, oldest first;
// none where it has none.
func (k Kind) Running(object *unstructured.Unstructured) []v1alpha1.Version {
	var texts []string
	if list, _, err := unstructured.NestedSlice(object.Object, "status", "versions"); err == nil {
		for _, entry := range list {
			fields, _ := entry.(map[string]any)
			text, _ := fields["version"].(string)
			texts = append(texts, text)
		}
	}
	if path := first(object, split(k.StatusVersions)); len(texts) == 0 && path != nil {
		text, _, _ := unstructured.NestedString(object.Object, path...)
		texts = []string{text}
	}
	var versions []v1alpha1.Version
	wanted := k.Version(object)
	for _, text := range texts {
		if version := k.Parse(text); !version.IsZero() {
			versions = append(versions, version.Completed(wanted))
		}
	}
	slices.SortFunc(versions, v1alpha1.Version.Compare)
	return slices.Compact(versions)
}

// SetVersion gives an object, which may have some fields of a live one only, a version,
// where the live one has it and as it is written there.
func (k Kind) SetVersion(object, live *unstructured.Unstructured, version v1alpha1.Version) error {
	path := k.VersionPath(live)
	text := k.As(version).String()
	if before, _, err := unstructured.NestedString(live.Object, path...); err == nil && before != "" && !strings.HasPrefix(before, "v") {
		text = strings.TrimPrefix(text, "v")
	}
	if err := unstructured.SetNestedField(object.Object, text, path...); err != nil {
		return fmt.Errorf("setting %s of %s/%s: %w", strings.Join(path, "."), live.GetKind(), live.GetName(), err)
	}
	return nil
}

// Releases returns those of the releases that a cluster with such a control plane can go
// through on its way from, or to, a version: those whose build is of the sort that its
// provider has, such as rke2r1 and rke2r2. Where the control plane takes minors only, they
// come with the minors of all releases; no patch is newer than its minor.
func (k Kind) Releases(like v1alpha1.Version, releases []v1alpha1.Version) []v1alpha1.Version {
	build := buildOf(like)
	var offered []v1alpha1.Version
	for _, release := range releases {
		if k.Minors {
			offered = append(offered, release, k.As(release))
		} else if buildOf(release) == build {
			offered = append(offered, release)
		}
	}
	slices.SortFunc(offered, v1alpha1.Version.Compare)
	return slices.Compact(offered)
}

// buildOf is what the builds of a provider have in common: the build of a version without the
// number at its end.
func buildOf(version v1alpha1.Version) string {
	return strings.TrimRight(version.Build(), "0123456789")
}
