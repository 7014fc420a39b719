package v1alpha1_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// TestClusterVersionsAll: each version once, oldest first.
func TestClusterVersionsAll(t *testing.T) {
	t.Parallel()
	type byName = map[string]v1alpha1.Version
	at := v1alpha1.MustParseVersion
	tests := map[string]struct {
		controlPlane string
		groups       byName
		want         []string
	}{
		"the control plane alone":       {"v1.34.2", nil, []string{"v1.34.2"}},
		"groups at its version":         {"v1.34.2", byName{"a": at("v1.34.2"), "b": at("v1.34.2")}, []string{"v1.34.2"}},
		"groups behind it":              {"v1.34.2", byName{"a": at("v1.33.9"), "b": at("v1.31.4"), "c": at("v1.33.9")}, []string{"v1.31.4", "v1.33.9", "v1.34.2"}},
		"a group ahead of it":           {"v1.34.2", byName{"a": at("v1.35.0")}, []string{"v1.34.2", "v1.35.0"}},
		"by number, not by text":        {"v1.34.10", byName{"a": at("v1.34.9"), "b": at("v1.9.9")}, []string{"v1.9.9", "v1.34.9", "v1.34.10"}},
		"builds are different versions": {"v1.34.2+a.10", byName{"a": at("v1.34.2+a.9"), "b": at("v1.34.2")}, []string{"v1.34.2", "v1.34.2+a.9", "v1.34.2+a.10"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			versions := v1alpha1.ClusterVersions{ControlPlane: at(test.controlPlane), WorkerNodeGroups: test.groups}
			before, err := json.Marshal(versions)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, version := range versions.All() {
				got = append(got, version.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("versions (-want +got):\n%s", diff)
			}
			after, err := json.Marshal(versions)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(before), string(after)); diff != "" {
				t.Errorf("the versions themselves changed (-before +after):\n%s", diff)
			}
		})
	}
}
