package v1alpha1_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// equateVersions compares versions by their values.
func equateVersions() cmp.Option {
	return cmp.Options{
		cmpopts.EquateComparable(v1alpha1.Version{}, v1alpha1.Minor{}, v1alpha1.KubernetesVersion{}),
		cmpopts.IgnoreUnexported(v1alpha1.InfrastructureConfig{}),
	}
}

func TestParseKubernetesVersion(t *testing.T) {
	t.Parallel()
	type parsed struct {
		Minor  v1alpha1.Minor
		Exact  string
		Is     bool
		String string
		Err    string
	}
	const remedy = `write a minor such as "1.34" or an exact version such as "1.34.2"`
	minor := v1alpha1.Minor{Major: 1, Minor: 34}
	tests := map[string]struct {
		text string
		want parsed
	}{
		"minor":                               {"1.34", parsed{Minor: minor, String: "1.34"}},
		"minor that ends in zero":             {"1.30", parsed{Minor: v1alpha1.Minor{Major: 1, Minor: 30}, String: "1.30"}},
		"minor of one digit":                  {"1.3", parsed{Minor: v1alpha1.Minor{Major: 1, Minor: 3}, String: "1.3"}},
		"minor with v":                        {"v1.34", parsed{Minor: minor, String: "1.34"}},
		"exact":                               {"1.34.2", parsed{Minor: minor, Exact: "v1.34.2", Is: true, String: "v1.34.2"}},
		"exact with v":                        {"v1.34.2", parsed{Minor: minor, Exact: "v1.34.2", Is: true, String: "v1.34.2"}},
		"first patch":                         {"1.34.0", parsed{Minor: minor, Exact: "v1.34.0", Is: true, String: "v1.34.0"}},
		"build":                               {"1.34.2+vendor.1", parsed{Minor: minor, Exact: "v1.34.2+vendor.1", Is: true, String: "v1.34.2+vendor.1"}},
		"build with v":                        {"v1.34.2+rke2r1", parsed{Minor: minor, Exact: "v1.34.2+rke2r1", Is: true, String: "v1.34.2+rke2r1"}},
		"build of zeros":                      {"v1.34.2+007", parsed{Minor: minor, Exact: "v1.34.2+007", Is: true, String: "v1.34.2+007"}},
		"nothing":                             {"", parsed{Err: remedy}},
		"word":                                {"latest", parsed{Err: remedy}},
		"major only":                          {"1", parsed{Err: remedy}},
		"major of zero":                       {"0.34", parsed{Err: remedy}},
		"exact with major of zero":            {"v0.0.0", parsed{Err: remedy}},
		"leading zero":                        {"1.034", parsed{Err: remedy}},
		"leading zero of the patch":           {"1.34.02", parsed{Err: remedy}},
		"two v":                               {"vv1.34.2", parsed{Err: remedy}},
		"capital v":                           {"V1.34", parsed{Err: remedy}},
		"pre-release":                         {"1.34.0-rc.1", parsed{Minor: minor, Exact: "v1.34.0-rc.1", Is: true, String: "v1.34.0-rc.1"}},
		"pre-release with build":              {"v1.34.0-alpha.0.7+abc", parsed{Minor: minor, Exact: "v1.34.0-alpha.0.7+abc", Is: true, String: "v1.34.0-alpha.0.7+abc"}},
		"empty pre-release":                   {"1.34.0-", parsed{Err: remedy}},
		"pre-release with a leading zero":     {"1.34.0-rc.01", parsed{Err: remedy}},
		"pre-release of a minor":              {"1.34-rc.1", parsed{Err: remedy}},
		"build of a minor":                    {"1.34+vendor.1", parsed{Err: remedy}},
		"empty build":                         {"1.34.2+", parsed{Err: remedy}},
		"four numbers":                        {"1.34.2.1", parsed{Err: remedy}},
		"space":                               {" 1.34", parsed{Err: remedy}},
		"end of line":                         {"1.34\n", parsed{Err: remedy}},
		"exponent":                            {"1.3e1", parsed{Err: remedy}},
		"minor too large for 64 bits":         {"1.18446744073709551616", parsed{Err: remedy}},
		"major too large for 64 bits":         {"18446744073709551616.1", parsed{Err: remedy}},
		"patch too large for 64 bits":         {"1.34.18446744073709551616", parsed{Err: remedy}},
		"digits of another script":            {"1.３４", parsed{Err: remedy}},
		"exact with a letter after the patch": {"1.34.2a", parsed{Err: remedy}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := parsed{}
			version, err := v1alpha1.ParseKubernetesVersion(test.text)
			if err != nil {
				got.Err = err.Error()
			}
			exact, is := version.Exact()
			got.Minor, got.Exact, got.Is, got.String = version.Minor(), exact.String(), is, version.String()
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("ParseKubernetesVersion(%q) (-want +got):\n%s", test.text, diff)
			}
			if version.IsZero() != (err != nil) {
				t.Errorf("ParseKubernetesVersion(%q).IsZero() = %t", test.text, version.IsZero())
			}
		})
	}
}

func TestVersionsAsText(t *testing.T) {
	t.Parallel()
	type document struct {
		Version           v1alpha1.Version           `json:"version,omitzero"`
		Minor             v1alpha1.Minor             `json:"minor,omitzero"`
		KubernetesVersion v1alpha1.KubernetesVersion `json:"kubernetesVersion,omitzero"`
	}
	tests := map[string]struct{ text, want, err string }{
		"all":                     {`{"version":"1.34.2+a","minor":"v1.33","kubernetesVersion":"1.30"}`, `{"version":"v1.34.2+a","minor":"1.33","kubernetesVersion":"1.30"}`, ""},
		"none":                    {`{}`, `{}`, ""},
		"any patch":               {`{"version":"1.34"}`, `{"version":"v1.34"}`, ""},
		"no version":              {`{"version":"1.34.x"}`, `{}`, `"1.34.x" is not a version of Kubernetes such as v1.34.2`},
		"pre-release":             {`{"version":"1.34.0-rc.1","kubernetesVersion":"1.34.0-rc.1"}`, `{"version":"v1.34.0-rc.1","kubernetesVersion":"v1.34.0-rc.1"}`, ""},
		"no minor":                {`{"minor":"1.34.2"}`, `{}`, `"1.34.2" is not a minor version of Kubernetes such as 1.34`},
		"minor beyond the number": {`{"minor":"1.99999999999999999999"}`, `{}`, `"1.99999999999999999999" is not a minor version of Kubernetes such as 1.34`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var read document
			message := ""
			if err := json.Unmarshal([]byte(test.text), &read); err != nil {
				message = err.Error()
			}
			if diff := cmp.Diff(test.err, message); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			written, err := json.Marshal(read)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(written)); diff != "" {
				t.Errorf("written again (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMinorVersion: a minor that stands for any patch is newer than each of them.
func TestMinorVersion(t *testing.T) {
	t.Parallel()
	minor := v1alpha1.MinorVersion(v1alpha1.Minor{Major: 1, Minor: 34})
	got := map[string]int{}
	for _, text := range []string{"v1.33.9", "v1.34.0", "v1.34.99+a", "v1.35.0-alpha.0"} {
		got[text] = minor.Compare(v1alpha1.MustParseVersion(text))
	}
	if diff := cmp.Diff(map[string]int{"v1.33.9": 1, "v1.34.0": 1, "v1.34.99+a": 1, "v1.35.0-alpha.0": -1}, got); diff != "" {
		t.Errorf("%s compared with (-want +got):\n%s", minor, diff)
	}
	if minor.Compare(minor) != 0 || !minor.AnyPatch() || v1alpha1.MustParseVersion("v1.34.0").AnyPatch() {
		t.Error("a minor is itself, and no patch")
	}
}

func TestCompleted(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ version, wanted, want string }{
		"the same":         {"v1.34.2+k0s.0", "v1.34.2+k0s.0", "v1.34.2+k0s.0"},
		"a part":           {"v1.34.2+k0s", "v1.34.2+k0s.0", "v1.34.2+k0s.0"},
		"no build":         {"v1.34.2", "v1.34.2+k0s.0", "v1.34.2+k0s.0"},
		"none is wanted":   {"v1.34.2+k0s.0", "v1.34.2", "v1.34.2"},
		"another build":    {"v1.34.2+rke2r1", "v1.34.2+rke2r10", "v1.34.2+rke2r1"},
		"another patch":    {"v1.34.1+k0s", "v1.34.2+k0s.0", "v1.34.1+k0s"},
		"a pre-release of": {"v1.34.2-rc.1", "v1.34.2+k0s.0", "v1.34.2-rc.1"},
		"EKS":              {"v1.34.2-eks-cb19647", "v1.34.2", "v1.34.2"},
		"GKE":              {"v1.34.2-gke.1027000", "v1.34.2", "v1.34.2"},
		"K3s":              {"v1.34.2+k3s1", "v1.34.2", "v1.34.2"},
		"RKE2":             {"v1.34.2+rke2r1", "v1.34.2", "v1.34.2"},
		"EKS wanted":       {"v1.34.2", "v1.34.2-eks-cb19647", "v1.34.2-eks-cb19647"},
		"GKE, a part":      {"v1.34.2-gke.1027000", "v1.34.2-gke", "v1.34.2-gke"},
		"EKS, another":     {"v1.34.2-eks-cb19647", "v1.34.2-eks-1-34-9", "v1.34.2-eks-cb19647"},
		"EKS, older patch": {"v1.34.1-eks-cb19647", "v1.34.2", "v1.34.1-eks-cb19647"},
		"EKS, other minor": {"v1.33.2-eks-cb19647", "v1.34.2", "v1.33.2-eks-cb19647"},
		"alpha":            {"v1.35.0-alpha.1", "v1.35.0", "v1.35.0-alpha.1"},
		"beta":             {"v1.35.0-beta.0", "v1.35.0", "v1.35.0-beta.0"},
		"rc":               {"v1.35.0-rc.1", "v1.35.0", "v1.35.0-rc.1"},
		"rc wanted":        {"v1.35.0", "v1.35.0-rc.1", "v1.35.0"},
		"rc, with a build": {"v1.35.0-rc.1+k3s1", "v1.35.0-rc.1", "v1.35.0-rc.1"},
		"nothing wanted":   {"v1.34.2-eks-cb19647", "", "v1.34.2-eks-cb19647"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var wanted v1alpha1.Version
			if test.wanted != "" {
				wanted = v1alpha1.MustParseVersion(test.wanted)
			}
			got := v1alpha1.MustParseVersion(test.version).Completed(wanted)
			if diff := cmp.Diff(test.want, got.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestZeroVersionsPrintNothing(t *testing.T) {
	t.Parallel()
	got := []string{v1alpha1.Version{}.String(), v1alpha1.KubernetesVersion{}.String()}
	if diff := cmp.Diff([]string{"", ""}, got); diff != "" {
		t.Errorf("zero versions (-want +got):\n%s", diff)
	}
}

func TestMustParseVersionPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("MustParseVersion took what is no version")
		}
	}()
	v1alpha1.MustParseVersion("1.34")
}

func TestVersionCompare(t *testing.T) {
	t.Parallel()
	// Oldest first; every one is compared with every other.
	ordered := []string{
		"v1.9.10",
		"v1.30.0-alpha",
		"v1.30.0-alpha.1",
		"v1.30.0-alpha.1.2",
		"v1.30.0-alpha.2",
		"v1.30.0-alpha.10",
		"v1.30.0-alpha.10+1",
		"v1.30.0-alpha.beta", // numbers come before words
		"v1.30.0-beta.0",
		"v1.30.0-rc.1",
		"v1.30.0",
		"v1.30.9",
		"v1.30.10",
		"v1.30.10+0",
		"v1.30.10+01", // the same number: the text decides
		"v1.30.10+1",
		"v1.30.10+1.0",
		"v1.30.10+1.abc",
		"v1.30.10+2",
		"v1.30.10+10",
		"v1.30.10+99999999999999999999", // more than fits: all these are one number
		"v1.30.10+99999999999999999999.1",
		"v1.30.10+1a", // words come after numbers
		"v1.30.10+9abcdef",
		"v1.30.10+a",
		"v1.30.10+a.1",
		"v1.30.10+a.2",
		"v1.30.10+a.10",
		"v1.30.10+a-b",
		"v1.30.10+rke2r1",
		"v1.31.0",
		"v2.0.0",
	}
	for i, left := range ordered {
		for j, right := range ordered {
			a, b := v1alpha1.MustParseVersion(left), v1alpha1.MustParseVersion(right)
			type comparison struct {
				Compare       int
				Before, After bool
			}
			want := comparison{Before: i < j, After: i > j}
			switch {
			case i < j:
				want.Compare = -1
			case i > j:
				want.Compare = 1
			}
			got := comparison{Compare: a.Compare(b), Before: a.Before(b), After: a.After(b)}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s and %s (-want +got):\n%s", left, right, diff)
			}
		}
	}
}

func TestMinorCompare(t *testing.T) {
	t.Parallel()
	ordered := []v1alpha1.Minor{{Major: 1, Minor: 9}, {Major: 1, Minor: 30}, {Major: 2, Minor: 0}}
	shuffled := []v1alpha1.Minor{ordered[2], ordered[0], ordered[1]}
	slices.SortFunc(shuffled, v1alpha1.Minor.Compare)
	if diff := cmp.Diff(ordered, shuffled); diff != "" {
		t.Errorf("minors in order (-want +got):\n%s", diff)
	}
	if got := ordered[1].Compare(ordered[1]); got != 0 {
		t.Errorf("a minor compared with itself is %d", got)
	}
}
