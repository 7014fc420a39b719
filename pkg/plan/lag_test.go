package plan_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// TestScales: a group that loses machines scales as one that gets some.
func TestScales(t *testing.T) {
	t.Parallel()
	got := map[string]bool{
		"none":    plan.Group{MachinesReplaced: 3}.Scales(),
		"added":   plan.Group{MachinesAdded: 1}.Scales(),
		"removed": plan.Group{MachinesRemoved: 1}.Scales(),
	}
	if diff := cmp.Diff(map[string]bool{"none": false, "added": true, "removed": true}, got); diff != "" {
		t.Errorf("which groups scale (-want +got):\n%s", diff)
	}
}

// TestImageOfVersion: an entry for the exact version counts before one for its minor, and among
// those of a minor the first.
func TestImageOfVersion(t *testing.T) {
	t.Parallel()
	entry := func(version, image string, parts ...string) plan.VersionImage {
		return plan.VersionImage{KubernetesVersion: kubernetesVersion(t, version), Parts: parts, Spec: map[string]any{"image": image}}
	}
	change := plan.VersionChange{Images: []plan.VersionImage{
		entry("1.34", "of another part", "md-1"), entry("1.34", "minor"), entry("1.34", "minor again"), entry("v1.34.4", "exact"),
	}}
	for version, want := range map[string]any{"v1.34.4": "exact", "v1.34.3": "minor", "v1.33.3": nil} {
		spec, found := change.Image("md-0", v1alpha1.MustParseVersion(version))
		if spec["image"] != want || found != (want != nil) {
			t.Errorf("image of %s: %v, %t; want %v", version, spec, found, want)
		}
	}
}

func kubernetesVersion(t *testing.T, text string) v1alpha1.KubernetesVersion {
	t.Helper()
	version, err := v1alpha1.ParseKubernetesVersion(text)
	if err != nil {
		t.Fatal(err)
	}
	return version
}
