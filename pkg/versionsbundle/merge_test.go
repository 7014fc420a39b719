package versionsbundle_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// of has bundles in which the image pause of each release says whose it is.
func of(owner string, minors map[string][]string, ended map[string]string) *versionsbundle.Bundles {
	bundles := &versionsbundle.Bundles{Kind: versionsbundle.Kind, Metadata: versionsbundle.Meta{Name: owner}}
	for _, minor := range []string{"1.33", "1.34", "1.35", "1.36"} {
		if minors[minor] == nil {
			continue
		}
		parsed, err := v1alpha1.ParseMinor(minor)
		if err != nil {
			panic(err)
		}
		bundle := versionsbundle.VersionsBundle{KubeVersion: parsed, EndOfSupport: ended[minor]}
		for _, text := range minors[minor] {
			bundle.Releases = append(bundle.Releases, versionsbundle.Release{Version: version(text), Images: versionsbundle.Images{Pause: versionsbundle.Image(owner)}})
		}
		bundles.Spec.VersionsBundles = append(bundles.Spec.VersionsBundles, bundle)
	}
	return bundles
}

// owners are the versions with whose they are, in their order, and the ends of support.
func owners(bundles *versionsbundle.Bundles) []string {
	var all []string
	for _, bundle := range bundles.Spec.VersionsBundles {
		all = append(all, bundle.KubeVersion.String()+" "+bundle.EndOfSupport)
		for _, release := range bundle.Releases {
			all = append(all, release.Version.String()+" "+string(release.Images.Pause))
		}
	}
	return all
}

func TestMerge(t *testing.T) {
	t.Parallel()
	ours := func() *versionsbundle.Bundles {
		return of("ours", map[string][]string{"1.34": {"v1.34.1", "v1.34.4"}, "1.35": {"v1.35.0"}}, map[string]string{"1.34": "2026-10-27"})
	}
	for name, test := range map[string]struct {
		other *versionsbundle.Bundles
		want  []string
	}{
		"a patch of a minor": {of("own", map[string][]string{"1.34": {"v1.34.2"}}, nil), []string{"1.34 2026-10-27", "v1.34.1 ours", "v1.34.2 own", "v1.34.4 ours", "1.35 ", "v1.35.0 ours"}},
		"other minors":       {of("own", map[string][]string{"1.36": {"v1.36.0"}, "1.33": {"v1.33.9"}}, nil), []string{"1.33 ", "v1.33.9 own", "1.34 2026-10-27", "v1.34.1 ours", "v1.34.4 ours", "1.35 ", "v1.35.0 ours", "1.36 ", "v1.36.0 own"}},
		"the same version":   {of("own", map[string][]string{"1.34": {"v1.34.4"}}, nil), []string{"1.34 2026-10-27", "v1.34.1 ours", "v1.34.4 own", "1.35 ", "v1.35.0 ours"}},
		"all of a minor":     {of("own", map[string][]string{"1.35": {"v1.35.0"}}, nil), []string{"1.34 2026-10-27", "v1.34.1 ours", "v1.34.4 ours", "1.35 ", "v1.35.0 own"}},
		"an end of support":  {of("own", map[string][]string{"1.34": {"v1.34.2"}, "1.35": {"v1.35.1"}}, map[string]string{"1.34": "2027-01-01", "1.35": "2027-02-28"}), []string{"1.34 2027-01-01", "v1.34.1 ours", "v1.34.2 own", "v1.34.4 ours", "1.35 2027-02-28", "v1.35.0 ours", "v1.35.1 own"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, other := ours(), test.other
			wasOther := owners(other)
			if diff := cmp.Diff(test.want, owners(before.Merge(other))); diff != "" {
				t.Errorf("bundles (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(append(owners(ours()), wasOther...), append(owners(before), owners(other)...)); diff != "" {
				t.Errorf("what was merged has changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	bundles := of("ours", map[string][]string{"1.34": {"v1.34.1", "v1.34.4"}, "1.35": {"v1.35.0"}}, map[string]string{"1.34": "2026-10-27"})
	for name, test := range map[string]struct {
		asked, want []string
		missing     string
	}{
		"a minor":                   {[]string{"1.34"}, []string{"1.34 2026-10-27", "v1.34.1 ours", "v1.34.4 ours"}, ""},
		"a version":                 {[]string{"1.34.4"}, []string{"1.34 2026-10-27", "v1.34.4 ours"}, ""},
		"versions of two":           {[]string{"v1.35.0", "v1.34.1"}, []string{"1.34 2026-10-27", "v1.34.1 ours", "1.35 ", "v1.35.0 ours"}, ""},
		"a version twice":           {[]string{"v1.35.0", "1.35"}, []string{"1.35 ", "v1.35.0 ours"}, ""},
		"a patch that is not there": {[]string{"1.35", "v1.34.2"}, nil, "v1.34.2"},
		"a minor that is not there": {[]string{"1.33"}, nil, "1.33"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked []v1alpha1.KubernetesVersion
			for _, text := range test.asked {
				version, err := v1alpha1.ParseKubernetesVersion(text)
				if err != nil {
					t.Fatal(err)
				}
				asked = append(asked, version)
			}
			some, missing := bundles.Of(asked)
			if missing.String() != test.missing || (some == nil) != (test.want == nil) {
				t.Fatalf("missing %q, want %q; bundles %v", missing, test.missing, some)
			}
			if some == nil {
				return
			}
			if diff := cmp.Diff(test.want, owners(some), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("bundles (-want +got):\n%s", diff)
			}
		})
	}
}
