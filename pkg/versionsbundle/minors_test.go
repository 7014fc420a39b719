package versionsbundle_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// TestMinors: what a minor stands for is what Resolve makes of it, and each version says
// what it lacks.
func TestMinors(t *testing.T) {
	t.Parallel()
	bundles := partly([]string{"v1.33.1", "v1.34.1", "v1.34.2"}, []string{"v1.34.1"}, "v1.33.1", "v1.34.1", "v1.34.2", "v1.34.3", "v1.34.4-rc.0")
	bundles.Spec.VersionsBundles[0].EndOfSupport = "2026-06-28"
	type at = map[string]v1alpha1.Version
	type lacks = map[string][]versionsbundle.Lack
	image, kubeadm := versionsbundle.LacksNodeImage, versionsbundle.LacksKubeadm
	want := []versionsbundle.Minor{
		{
			Minor: version("v1.33.1").Minor(), Newest: version("v1.33.1"), EndOfSupport: "2026-06-28",
			Default:         at{"docker": version("v1.33.1"), "inmemory": version("v1.33.1")},
			WithOlderGroups: at{"inmemory": version("v1.33.1")},
			Versions:        []versionsbundle.Available{{Version: version("v1.33.1"), Lacks: lacks{"docker": {kubeadm}}}},
		},
		{
			Minor: version("v1.34.1").Minor(), Newest: version("v1.34.3"),
			Default:         at{"docker": version("v1.34.2"), "inmemory": version("v1.34.3")},
			WithOlderGroups: at{"docker": version("v1.34.1"), "inmemory": version("v1.34.3")},
			Versions: []versionsbundle.Available{
				{Version: version("v1.34.1")},
				{Version: version("v1.34.2"), Lacks: lacks{"docker": {kubeadm}}},
				{Version: version("v1.34.3"), Lacks: lacks{"docker": {image, kubeadm}}},
				{Version: version("v1.34.4-rc.0"), Lacks: lacks{"docker": {image, kubeadm}}},
			},
		},
	}
	got := bundles.Minors(map[string]versionsbundle.Needs{"docker": {NodeImage: "docker", Kubeadm: true}, "inmemory": {}})
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(v1alpha1.Version{}, v1alpha1.Minor{})); diff != "" {
		t.Errorf("minors (-want +got):\n%s", diff)
	}
}
