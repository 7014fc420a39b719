package view_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// TestVersions: a row for each minor, or for each version.
func TestVersions(t *testing.T) {
	t.Parallel()
	v := v1alpha1.MustParseVersion
	type at = map[string]v1alpha1.Version
	type lacks = map[string][]versionsbundle.Lack
	minors := []versionsbundle.Minor{
		{
			Minor: v("v1.33.1").Minor(), Newest: v("v1.33.1"), EndOfSupport: "2026-06-28",
			Default:         at{"docker": v("v1.33.1"), "inmemory": v("v1.33.1")},
			WithOlderGroups: at{"inmemory": v("v1.33.1")},
			Versions:        []versionsbundle.Available{{Version: v("v1.33.1"), Lacks: lacks{"docker": {versionsbundle.LacksKubeadm}}}},
		},
		{
			Minor: v("v1.34.1").Minor(), Newest: v("v1.34.3"),
			Default:         at{"docker": v("v1.34.2"), "inmemory": v("v1.34.3")},
			WithOlderGroups: at{"docker": v("v1.34.1"), "inmemory": v("v1.34.3")},
			Versions: []versionsbundle.Available{
				{Version: v("v1.34.1")},
				{Version: v("v1.34.2"), Lacks: lacks{"docker": {versionsbundle.LacksKubeadm}}},
				{Version: v("v1.34.3"), Lacks: lacks{"docker": {versionsbundle.LacksNodeImage, versionsbundle.LacksKubeadm}}},
			},
		},
	}
	for columns, want := range map[view.Columns]string{
		view.FewColumns: `MINOR   NEWEST    DOCKER    INMEMORY   OUT OF SUPPORT SINCE
1.33    v1.33.1   v1.33.1   v1.33.1    2026-06-28
1.34    v1.34.3   v1.34.2   v1.34.3    -
`,
		view.AllColumns: `MINOR   VERSION   DOCKER                                 INMEMORY    OUT OF SUPPORT SINCE
1.33    v1.33.1   default, no kubeadm                    default     2026-06-28
1.34    v1.34.1   default with older groups              available   -
1.34    v1.34.2   default, no kubeadm                    available   -
1.34    v1.34.3   available, no node image, no kubeadm   default     -
`,
	} {
		t.Run(string(columns), func(t *testing.T) {
			t.Parallel()
			var got strings.Builder
			if err := view.Versions(&got, minors, columns); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.String()); diff != "" {
				t.Errorf("versions (-want +got):\n%s", diff)
			}
		})
	}
}
