package skew_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/skew"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ controlPlane, worker, want string }{
		"the same":                          {"v1.34.2", "v1.34.2", ""},
		"older by a patch":                  {"v1.34.2", "v1.34.1", ""},
		"newer by a patch":                  {"v1.34.2", "v1.34.3", "must not be newer than the control plane (v1.34.2)"},
		"newer by a build":                  {"v1.34.2+a.1", "v1.34.2+a.2", "must not be newer than the control plane (v1.34.2+a.1)"},
		"older by a build":                  {"v1.34.2+a.10", "v1.34.2+a.9", ""},
		"newer by a minor":                  {"v1.34.2", "v1.35.0", "must not be newer than the control plane (v1.34.2)"},
		"one minor older":                   {"v1.34.2", "v1.33.9", ""},
		"three minors older":                {"v1.34.2", "v1.31.0", ""},
		"four minors older":                 {"v1.34.2", "v1.30.14", "must not be more than 3 minors older than the control plane (v1.34.2)"},
		"1.25 is three minors older":        {"v1.28.0", "v1.25.0", ""},
		"1.25 is four minors older":         {"v1.29.0", "v1.25.0", "must not be more than 3 minors older than the control plane (v1.29.0)"},
		"1.24 is two minors older":          {"v1.26.0", "v1.24.17", ""},
		"1.24 is three minors older":        {"v1.27.0", "v1.24.17", "must not be more than 2 minors older than the control plane (v1.27.0)"},
		"1.22 is two minors older":          {"v1.24.0", "v1.22.0", ""},
		"1.21 is three minors older":        {"v1.24.0", "v1.21.0", "must not be more than 2 minors older than the control plane (v1.24.0)"},
		"older major":                       {"v2.0.0", "v1.36.0", "must have the major version of the control plane (v2.0.0)"},
		"older major, same minor":           {"v2.36.0", "v1.36.0", "must have the major version of the control plane (v2.36.0)"},
		"newer major":                       {"v1.36.0", "v2.0.0", "must not be newer than the control plane (v1.36.0)"},
		"1.24 of another major is not 1.24": {"v2.27.0", "v2.24.0", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if err := (skew.Policy{}).Check(v1alpha1.MustParseVersion(test.controlPlane), v1alpha1.MustParseVersion(test.worker)); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Check(%s, %s) (-want +got):\n%s", test.controlPlane, test.worker, diff)
			}
		})
	}
}

func TestOldest(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"v1.36.1": "1.33", "v1.29.0": "1.26", "v1.28.5": "1.25", "v1.27.0": "1.25", "v1.26.0": "1.24",
		"v1.25.0": "1.23", "v1.24.9": "1.22", "v1.2.0": "1.0", "v1.1.0": "1.0", "v1.0.0": "1.0", "v2.1.0": "2.0",
	}
	for controlPlane, want := range tests {
		t.Run(controlPlane, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(want, skew.Policy{}.Oldest(v1alpha1.MustParseVersion(controlPlane)).String()); diff != "" {
				t.Errorf("Oldest(%s) (-want +got):\n%s", controlPlane, diff)
			}
		})
	}
}

// TestPolicy: a policy tightens that of Kubernetes, and its words are those of
// the limit that holds.
func TestPolicy(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		maxLag                     uint64
		controlPlane, worker, want string
	}{
		"1, the same":                   {1, "v1.34.2", "v1.34.2", ""},
		"1, newer":                      {1, "v1.34.2", "v1.35.0", "must not be newer than the control plane (v1.34.2)"},
		"1, one minor older":            {1, "v1.34.2", "v1.33.0", ""},
		"1, two minors older":           {1, "v1.34.2", "v1.32.9", "must not be more than 1 minor older than the control plane (v1.34.2)"},
		"1, 1.24 is one minor older":    {1, "v1.25.0", "v1.24.17", ""},
		"1, 1.24 is two minors older":   {1, "v1.26.0", "v1.24.17", "must not be more than 1 minor older than the control plane (v1.26.0)"},
		"1, older major":                {1, "v2.36.0", "v1.36.0", "must have the major version of the control plane (v2.36.0)"},
		"2, two minors older":           {2, "v1.34.2", "v1.32.9", ""},
		"2, three minors older":         {2, "v1.34.2", "v1.31.9", "must not be more than 2 minors older than the control plane (v1.34.2)"},
		"2, 1.24 is three minors older": {2, "v1.27.0", "v1.24.17", "must not be more than 2 minors older than the control plane (v1.27.0)"},
		"3, three minors older":         {3, "v1.34.2", "v1.31.9", ""},
		"3, four minors older":          {3, "v1.34.2", "v1.30.9", "must not be more than 3 minors older than the control plane (v1.34.2)"},
		"3, 1.24 is three minors older": {3, "v1.27.0", "v1.24.17", "must not be more than 2 minors older than the control plane (v1.27.0)"},
		"5, four minors older":          {5, "v1.34.2", "v1.30.9", "must not be more than 3 minors older than the control plane (v1.34.2)"},
		"5, 1.24 is three minors older": {5, "v1.27.0", "v1.24.17", "must not be more than 2 minors older than the control plane (v1.27.0)"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if err := (skew.Policy{MaxLag: test.maxLag}).Check(v1alpha1.MustParseVersion(test.controlPlane), v1alpha1.MustParseVersion(test.worker)); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Check(%s, %s) (-want +got):\n%s", test.controlPlane, test.worker, diff)
			}
		})
	}
}

// TestPolicyBounds: the oldest node beside a control plane, and the newest
// control plane beside a node, by policy.
func TestPolicyBounds(t *testing.T) {
	t.Parallel()
	const other = "v1.34.2"
	type bounds struct{ Oldest, Newest, NewestOf124 string }
	want := map[uint64]bounds{
		0: {"1.31", "1.37", "1.26"},
		1: {"1.33", "1.35", "1.25"},
		2: {"1.32", "1.36", "1.26"},
		3: {"1.31", "1.37", "1.26"},
		5: {"1.31", "1.37", "1.26"},
	}
	got := map[uint64]bounds{}
	for maxLag := range want {
		policy := skew.Policy{MaxLag: maxLag}
		got[maxLag] = bounds{
			policy.Oldest(v1alpha1.MustParseVersion(other)).String(),
			policy.Newest(v1alpha1.MustParseVersion(other)).String(),
			policy.Newest(v1alpha1.MustParseVersion("v1.24.17")).String(),
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bounds by MaxLag (-want +got):\n%s", diff)
	}
}

// TestTooOld: what is newer, or just not too old, is not.
func TestTooOld(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		maxLag               uint64
		controlPlane, worker string
		want                 bool
	}{
		"the same":                      {0, "v1.34.2", "v1.34.2", false},
		"older by a patch":              {1, "v1.34.2", "v1.34.1", false},
		"newer by a patch":              {0, "v1.34.2", "v1.34.3", false},
		"newer by four minors":          {0, "v1.30.0", "v1.34.0", false},
		"newer major":                   {0, "v1.36.0", "v2.0.0", false},
		"three minors older":            {0, "v1.34.2", "v1.31.0", false},
		"four minors older":             {0, "v1.34.2", "v1.30.0", true},
		"one minor older, at most one":  {1, "v1.34.2", "v1.33.0", false},
		"two minors older, at most one": {1, "v1.34.2", "v1.32.9", true},
		"1.24 is two minors older":      {0, "v1.26.0", "v1.24.0", false},
		"1.24 is three minors older":    {5, "v1.27.0", "v1.24.0", true},
		"older major":                   {0, "v2.36.0", "v1.36.0", true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := skew.Policy{MaxLag: test.maxLag}.TooOld(v1alpha1.MustParseVersion(test.controlPlane), v1alpha1.MustParseVersion(test.worker))
			if got != test.want {
				t.Errorf("TooOld(%s, %s) = %t", test.controlPlane, test.worker, got)
			}
		})
	}
}

// TestBoundsAgreeWithCheck: by any policy a worker of any minor may run beside
// a control plane of any minor exactly where it is between Oldest and the
// control plane, and that is between the worker and Newest. Where it is older it
// is TooOld. No policy allows what Kubernetes does not.
func TestBoundsAgreeWithCheck(t *testing.T) {
	t.Parallel()
	const newestMinor = 60
	for _, maxLag := range []uint64{0, 1, 2, 3, 5} {
		policy := skew.Policy{MaxLag: maxLag}
		for cp := range newestMinor {
			for w := range newestMinor {
				controlPlane, worker := version(cp, 5), version(w, 5)
				err, oldest, newest := policy.Check(controlPlane, worker), policy.Oldest(controlPlane), policy.Newest(worker)
				if want := cp >= w && worker.Minor().Compare(oldest) >= 0; (err == nil) != want {
					t.Errorf("%+v.Check(%s, %s) = %v, and the oldest is %s", policy, controlPlane, worker, err, oldest)
				}
				if want := cp >= w && controlPlane.Minor().Compare(newest) <= 0; (err == nil) != want {
					t.Errorf("%+v.Check(%s, %s) = %v, and the newest is %s", policy, controlPlane, worker, err, newest)
				}
				if want := worker.Minor().Compare(oldest) < 0; policy.TooOld(controlPlane, worker) != want {
					t.Errorf("%+v.TooOld(%s, %s) = %t, and the oldest is %s", policy, controlPlane, worker, !want, oldest)
				}
				if wide := (skew.Policy{}).Check(controlPlane, worker); err == nil && wide != nil {
					t.Errorf("%+v allows %s beside %s, and Kubernetes does not: %s", policy, worker, controlPlane, wide)
				}
			}
		}
	}
}

func version(minor, patch int) v1alpha1.Version {
	return v1alpha1.MustParseVersion(fmt.Sprintf("v1.%d.%d", minor, patch))
}
