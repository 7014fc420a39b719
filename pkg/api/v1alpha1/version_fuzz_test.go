package v1alpha1_test

import (
	"strings"
	"testing"

	"github.com/blang/semver/v4"
	capiversion "sigs.k8s.io/cluster-api/util/version"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// FuzzVersion parses three texts. What is a version prints and parses again to
// itself, and the versions among them are totally ordered, as Cluster API
// orders them where it does.
func FuzzVersion(f *testing.F) {
	f.Add("1.34", "1.34.2", "v1.34.2+vendor.1")
	f.Add("1.30.0+9", "1.30.0+10", "1.30.0+1x")
	f.Add("1.30.0+01.b", "1.30.0+1.a.2", "1.30.0+01.a.10")
	f.Add("0.0", "v0.0.0", "1.30.0+99999999999999999999")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		var versions []v1alpha1.Version
		for _, text := range []string{a, b, c} {
			roundTrip(t, text)
			if version, err := v1alpha1.ParseVersion(text); err == nil {
				versions = append(versions, version)
			}
		}
		for _, x := range versions {
			for _, y := range versions {
				checkPair(t, x, y)
				for _, z := range versions {
					if x.Compare(y) <= 0 && y.Compare(z) <= 0 && x.Compare(z) > 0 {
						t.Errorf("%s <= %s <= %s, and yet %s > %s", x, y, z, x, z)
					}
				}
			}
		}
	})
}

func roundTrip(t *testing.T, text string) {
	t.Helper()
	if version, err := v1alpha1.ParseVersion(text); err == nil {
		again, err := v1alpha1.ParseVersion(version.String())
		if err != nil || again != version || version.IsZero() {
			t.Errorf("%q is %s, which is %s (%v)", text, version, again, err)
		}
		if version.String() != "v"+strings.TrimPrefix(text, "v") {
			t.Errorf("%q prints as %s", text, version)
		}
	}
	if version, err := v1alpha1.ParseKubernetesVersion(text); err == nil {
		again, err := v1alpha1.ParseKubernetesVersion(version.String())
		if err != nil || again != version || version.IsZero() {
			t.Errorf("%q is %s, which is %s (%v)", text, version, again, err)
		}
		if exact, ok := version.Exact(); ok && exact.Minor() != version.Minor() {
			t.Errorf("%q is %s of minor %s", text, exact, version.Minor())
		}
	}
}

func checkPair(t *testing.T, x, y v1alpha1.Version) {
	t.Helper()
	order := x.Compare(y)
	if order != -y.Compare(x) {
		t.Errorf("%s compared with %s is %d, and the other way round %d", x, y, order, y.Compare(x))
	}
	if (order == 0) != (x == y) {
		t.Errorf("%s compared with %s is %d", x, y, order)
	}
	theirs := capiversion.Compare(semver.MustParse(x.String()[1:]), semver.MustParse(y.String()[1:]), capiversion.WithBuildTags())
	const noOrder = 2
	if theirs != 0 && theirs != noOrder && theirs != order {
		t.Errorf("%s compared with %s is %d, and %d to Cluster API", x, y, order, theirs)
	}
}
