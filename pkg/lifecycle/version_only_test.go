package lifecycle

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// TestGroupsBehindTheControlPlane: the annotation that lets a group get machines while it is
// behind is written where a step needs it, stays as long as the group is behind, and is never
// taken from others.
func TestGroupsBehindTheControlPlane(t *testing.T) {
	t.Parallel()
	const key, skew = "machineset.cluster.x-k8s.io/skip-preflight-checks", "KubeadmVersionSkew"
	for name, test := range map[string]struct {
		ours, live    string
		moves, behind bool
		want          string
	}{
		"moves, and is behind":       {moves: true, behind: true, want: skew},
		"moves to the control plane": {moves: true},
		"stays behind, never moved":  {behind: true},
		"stays behind after a move":  {ours: skew, live: skew, behind: true, want: skew},
		"catches up":                 {ours: skew, live: skew, moves: true},
		"others left all checks out": {live: "ControlPlaneIsStable, All", moves: true, behind: true},
		"others left another out":    {live: "ControlPlaneIsStable", moves: true, behind: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object, live := liveObject("MachineDeployment", "md", nil), liveObject("MachineDeployment", "md", nil)
			if test.ours != "" {
				object.SetAnnotations(map[string]string{key: test.ours})
			}
			if test.live != "" {
				live.SetAnnotations(map[string]string{key: test.live})
			}
			m := versionOnlyMode{}
			before, after := v1alpha1.MustParseVersion("v1.33.1"), v1alpha1.MustParseVersion("v1.34.1")
			if test.behind {
				after = v1alpha1.MustParseVersion("v1.33.2")
			}
			if !test.moves {
				before = after
			}
			m.from.start.WorkerNodeGroups = map[string]plan.Part{"md": {Version: before}}
			at := point{versions: v1alpha1.ClusterVersions{ControlPlane: v1alpha1.MustParseVersion("v1.34.1"), WorkerNodeGroups: map[string]v1alpha1.Version{"md": after}}}
			if err := m.allowNewMachines("md", object, live, at); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, object.GetAnnotations()[key]); diff != "" {
				t.Errorf("annotation (-want +got):\n%s", diff)
			}
		})
	}
}
