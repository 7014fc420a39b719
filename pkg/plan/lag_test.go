package plan_test

import (
	"reflect"
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/skew"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestLags: groups at the version of the control plane are left out unless they are pinned, and
// so are those that have no version yet.
func TestLags(t *testing.T) {
	t.Parallel()
	version := v1alpha1.MustParseVersion
	group := func(name, at string) state.Part {
		g := state.Part{Name: name}
		if at != "" {
			g.Version = version(at)
		}
		return g
	}
	cluster := state.Cluster{
		ControlPlane:     state.Part{Version: version("v1.34.4")},
		WorkerNodeGroups: []state.Part{group("behind", "v1.32.13"), group("new", ""), group("pinned", "v1.34.4"), group("same", "v1.34.4")},
	}
	want := []plan.Lag{
		{WorkerNodeGroup: "behind", Version: version("v1.32.13"), Behind: 2, Margin: 1, Blocks: version("v1.35.0").Minor()},
		{WorkerNodeGroup: "pinned", Version: version("v1.34.4"), Pinned: true, Margin: 3, Blocks: version("v1.37.0").Minor()},
	}
	got := plan.Lags(cluster, func(name string) bool { return name == "pinned" }, skew.Policy{})
	if !reflect.DeepEqual(want, got) {
		t.Errorf("lags:\n%+v, want\n%+v", got, want)
	}
}
