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
			if err := skew.Check(v1alpha1.MustParseVersion(test.controlPlane), v1alpha1.MustParseVersion(test.worker)); err != nil {
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
			if diff := cmp.Diff(want, skew.Oldest(v1alpha1.MustParseVersion(controlPlane)).String()); diff != "" {
				t.Errorf("Oldest(%s) (-want +got):\n%s", controlPlane, diff)
			}
		})
	}
}

// TestOldestAgreesWithCheck: a worker of any minor may run beside a control
// plane of any minor exactly where it is between Oldest and the control plane.
func TestOldestAgreesWithCheck(t *testing.T) {
	t.Parallel()
	const newestMinor = 60
	for cp := range newestMinor {
		for w := range newestMinor {
			controlPlane, worker := version(cp, 5), version(w, 5)
			want := cp >= w && worker.Minor().Compare(skew.Oldest(controlPlane)) >= 0
			if err := skew.Check(controlPlane, worker); (err == nil) != want {
				t.Errorf("Check(%s, %s) = %v, and the oldest is %s", controlPlane, worker, err, skew.Oldest(controlPlane))
			}
		}
	}
}

func version(minor, patch int) v1alpha1.Version {
	return v1alpha1.MustParseVersion(fmt.Sprintf("v1.%d.%d", minor, patch))
}
