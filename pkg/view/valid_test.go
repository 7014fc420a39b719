package view

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// TestValid: the line has what was checked, and says what was not.
func TestValid(t *testing.T) {
	t.Parallel()
	version := v1alpha1.MustParseVersion("v1.34.4")
	plain := Valid{
		File: "c.yaml", Cluster: &v1alpha1.Cluster{Metadata: v1alpha1.Meta{Name: "prod"}},
		Versions: v1alpha1.ClusterVersions{ControlPlane: version, WorkerNodeGroups: map[string]v1alpha1.Version{"md-0": version}},
	}
	upgraded := plain
	upgraded.From, upgraded.Steps = "old.yaml", 2
	upgraded.Cluster = &v1alpha1.Cluster{Metadata: plain.Cluster.Metadata}
	upgraded.Cluster.Spec.WorkerNodeGroupConfigurations = []v1alpha1.WorkerNodeGroupConfiguration{{Name: "md-0"}}
	upgraded.Cluster.Spec.ClusterClass = &v1alpha1.ClusterClass{Name: "docker"}
	for want, valid := range map[string]Valid{
		"c.yaml: cluster prod is valid: control plane v1.34.4\n":                                                                                plain,
		"c.yaml: cluster prod is valid: control plane v1.34.4, md-0 v1.34.4; steps from old.yaml: 2; not checked against ClusterClass docker\n": upgraded,
	} {
		var text strings.Builder
		if err := valid.Write(&text); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, text.String()); diff != "" {
			t.Errorf("line (-want +got):\n%s", diff)
		}
	}
}
