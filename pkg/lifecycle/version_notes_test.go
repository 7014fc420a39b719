package lifecycle

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

func TestGroupNotes(t *testing.T) {
	t.Parallel()
	older, newer := v1alpha1.MustParseVersion("v1.31.4"), v1alpha1.MustParseVersion("v1.32.5")
	stays := map[string]v1alpha1.Version{"md": older}
	for name, test := range map[string]struct {
		part state.Part
		to   map[string]v1alpha1.Version
		want []string
	}{
		"a group that moves": {part: state.Part{Name: "md", Object: "MachineDeployment/c-md", Version: older}, to: map[string]v1alpha1.Version{"md": newer}},
		"a group that stays": {part: state.Part{Name: "md", Object: "MachineDeployment/c-md", Version: older}, to: stays, want: []string{
			"group md stays at v1.31.4: while the control plane is at 1.32, Cluster API makes no new machines for it (preflight KubeadmVersionSkew of its MachineSets), so it cannot be scaled up, and machines that fail are not replaced; upgrade it soon",
		}},
		"a group that stays, unchecked": {part: state.Part{Name: "md", Object: "MachineDeployment/c-md", Version: older, SkewUnchecked: true}, to: stays},
		"a group without a version":     {part: state.Part{Name: "md", Object: "MachineDeployment/c-md", Unmanaged: true}},
		"a pool that moves": {part: state.Part{Name: "p", Object: "MachinePool/c-p", Version: older, SkewUnchecked: true}, to: map[string]v1alpha1.Version{"p": newer}, want: []string{
			"MachinePool/c-p: its provider replaces the machines, or upgrades them in place, or does nothing for another version; the step waits until its nodes run that version",
		}},
		"a pool that stays": {part: state.Part{Name: "md", Object: "MachinePool/c-p", Version: older, SkewUnchecked: true}, to: stays},
		"a pool without a version": {part: state.Part{Name: "p", Object: "MachinePool/c-p", Unmanaged: true, SkewUnchecked: true}, want: []string{
			"MachinePool/c-p has no version, so that its provider chooses it: the upgrade leaves it as it is; give it spec.template.spec.version to have it upgraded",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := plan.Plan{To: v1alpha1.ClusterVersions{ControlPlane: newer, WorkerNodeGroups: test.to}}
			got := groupNotes(state.Cluster{WorkerNodeGroups: []state.Part{test.part}}, p)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}
