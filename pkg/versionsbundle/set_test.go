package versionsbundle_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// own is a release like release, with an image of its own.
func own(text string) versionsbundle.Release {
	return versionsbundle.Release{Version: version(text), NodeImages: map[string]string{"docker": "example.org/node:" + text}}
}

// TestWith: a record brings releases that have left the manifest, and replaces
// none that is there.
func TestWith(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		bundles *versionsbundle.Bundles
		with    []versionsbundle.Release
		want    []versionsbundle.Release
	}{
		"nothing":                     {bundlesOf("v1.34.2"), nil, []versionsbundle.Release{release("v1.34.2")}},
		"one that is there":           {bundlesOf("v1.34.2"), []versionsbundle.Release{own("v1.34.2")}, []versionsbundle.Release{release("v1.34.2")}},
		"another patch":               {bundlesOf("v1.34.2"), []versionsbundle.Release{own("v1.34.1")}, []versionsbundle.Release{own("v1.34.1"), release("v1.34.2")}},
		"another minor":               {bundlesOf("v1.34.2"), []versionsbundle.Release{own("v1.35.0")}, []versionsbundle.Release{release("v1.34.2"), own("v1.35.0")}},
		"a build is another version":  {bundlesOf("v1.34.2"), []versionsbundle.Release{own("v1.34.2+a.1")}, []versionsbundle.Release{release("v1.34.2"), own("v1.34.2+a.1")}},
		"the first one of two stays":  {bundlesOf("v1.34.2"), []versionsbundle.Release{release("v1.33.1"), own("v1.33.1")}, []versionsbundle.Release{release("v1.33.1"), release("v1.34.2")}},
		"several, and one is there":   {bundlesOf("v1.34.2", "v1.32.1"), []versionsbundle.Release{own("v1.34.2"), own("v1.33.1")}, []versionsbundle.Release{release("v1.32.1"), own("v1.33.1"), release("v1.34.2")}},
		"into bundles without any":    {bundlesOf(), []versionsbundle.Release{own("v1.34.2")}, []versionsbundle.Release{own("v1.34.2")}},
		"nothing, into bundles of no": {bundlesOf(), nil, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := test.bundles.Releases()
			got := test.bundles.With(test.with)
			if diff := cmp.Diff(test.want, got.Releases(), equateVersions()); diff != "" {
				t.Errorf("releases (-want +got):\n%s", diff)
			}
			for _, bundle := range got.Spec.VersionsBundles {
				for _, r := range bundle.Releases {
					if r.Version.Minor() != bundle.KubeVersion {
						t.Errorf("%s stands in the versions bundle of %s", r.Version, bundle.KubeVersion)
					}
				}
			}
			if diff := cmp.Diff(before, test.bundles.Releases(), equateVersions()); diff != "" {
				t.Errorf("the bundles themselves changed (-before +after):\n%s", diff)
			}
		})
	}
}

// TestSetOf: every version has its release or is told as missing, once.
func TestSetOf(t *testing.T) {
	t.Parallel()
	bundles := bundlesOf("v1.33.1", "v1.34.2", "v1.34.2+a.1")
	set := func(versions ...string) versionsbundle.Set {
		s := versionsbundle.Set{}
		for _, text := range versions {
			s[version(text)] = release(text)
		}
		return s
	}
	missing := func(texts ...string) (all []v1alpha1.Version) {
		for _, text := range texts {
			all = append(all, version(text))
		}
		return all
	}
	type byName = map[string]string
	tests := map[string]struct {
		versions v1alpha1.ClusterVersions
		set      versionsbundle.Set
		missing  []v1alpha1.Version
	}{
		"the control plane alone":         {versions("v1.34.2", nil), set("v1.34.2"), nil},
		"groups at its version":           {versions("v1.34.2", byName{"a": "v1.34.2", "b": "v1.34.2"}), set("v1.34.2"), nil},
		"a group at another version":      {versions("v1.34.2", byName{"a": "v1.33.1"}), set("v1.33.1", "v1.34.2"), nil},
		"a build":                         {versions("v1.34.2+a.1", byName{"a": "v1.34.2"}), set("v1.34.2", "v1.34.2+a.1"), nil},
		"none of the control plane":       {versions("v1.35.0", byName{"a": "v1.34.2"}), set("v1.34.2"), missing("v1.35.0")},
		"none of a group":                 {versions("v1.34.2", byName{"a": "v1.33.2", "b": "v1.33.1"}), set("v1.33.1", "v1.34.2"), missing("v1.33.2")},
		"none of any, oldest first, once": {versions("v1.36.0", byName{"a": "v1.35.0", "b": "v1.30.0", "c": "v1.35.0"}), set(), missing("v1.30.0", "v1.35.0", "v1.36.0")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, without := bundles.SetOf(test.versions)
			if diff := cmp.Diff(test.set, got, equateVersions()); diff != "" {
				t.Errorf("set (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.missing, without, equateVersions()); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSetReleases are oldest first, whatever the order of the map.
func TestSetReleases(t *testing.T) {
	t.Parallel()
	tests := map[string][]string{
		"none":    nil,
		"one":     {"v1.34.2"},
		"several": {"v1.9.9", "v1.30.14", "v1.34.2", "v1.34.2+a.9", "v1.34.2+a.10", "v1.34.10", "v2.0.0"},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := versionsbundle.Set{}
			var releases []versionsbundle.Release
			for _, text := range want {
				set[version(text)] = release(text)
				releases = append(releases, release(text))
			}
			if diff := cmp.Diff(releases, set.Releases(), equateVersions()); diff != "" {
				t.Errorf("releases (-want +got):\n%s", diff)
			}
		})
	}
}
