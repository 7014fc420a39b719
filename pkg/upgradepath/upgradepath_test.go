package upgradepath_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/upgradepath"
)

func versions(texts ...string) []v1alpha1.Version {
	var all []v1alpha1.Version
	for _, text := range texts {
		all = append(all, v1alpha1.MustParseVersion(text))
	}
	return all
}

func minor(number uint64) v1alpha1.Minor { return v1alpha1.Minor{Major: 1, Minor: number} }

func equate() cmp.Option {
	return cmp.Comparer(func(a, b v1alpha1.Version) bool { return a == b })
}

func TestNewestPatches(t *testing.T) {
	t.Parallel()
	got := upgradepath.NewestPatches(versions("v1.31.9", "v1.30.2", "v1.31.10", "v1.31.0", "v1.30.10"))
	want := map[v1alpha1.Minor]v1alpha1.Version{
		minor(30): v1alpha1.MustParseVersion("v1.30.10"),
		minor(31): v1alpha1.MustParseVersion("v1.31.10"),
	}
	if diff := cmp.Diff(want, got, equate()); diff != "" {
		t.Errorf("newest patches (-want +got):\n%s", diff)
	}
}

func TestBetween(t *testing.T) {
	t.Parallel()
	type result struct {
		Path    []v1alpha1.Version
		Missing []v1alpha1.Minor
	}
	releases := versions("v1.33.1", "v1.30.9", "v1.31.2", "v1.31.4", "v1.34.0", "v1.35.2")
	for name, test := range map[string]struct {
		from, to string
		want     result
	}{
		"the same version":    {"v1.31.2", "v1.31.2", result{}},
		"another patch":       {"v1.31.2", "v1.31.4", result{}},
		"the next minor":      {"v1.30.0", "v1.31.0", result{}},
		"one minor between":   {"v1.30.0", "v1.32.0", result{Path: versions("v1.31.4")}},
		"minors that miss":    {"v1.29.0", "v1.35.0", result{Path: versions("v1.30.9", "v1.31.4", "v1.33.1", "v1.34.0"), Missing: []v1alpha1.Minor{minor(32)}}},
		"another major":       {"v1.30.0", "v2.0.0", result{}},
		"down":                {"v1.35.0", "v1.30.0", result{}},
		"none of the bundles": {"v1.35.0", "v1.38.0", result{Missing: []v1alpha1.Minor{minor(36), minor(37)}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got result
			got.Path, got.Missing = upgradepath.Between(v1alpha1.MustParseVersion(test.from), v1alpha1.MustParseVersion(test.to), releases)
			if diff := cmp.Diff(test.want, got, equate()); diff != "" {
				t.Errorf("path (-want +got):\n%s", diff)
			}
		})
	}
}
