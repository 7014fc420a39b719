package providers_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// TestKubeletArgumentsFollowTheVersion: a kubelet refuses to start with an
// argument that it does not know.
func TestKubeletArgumentsFollowTheVersion(t *testing.T) {
	t.Parallel()
	provider := providers.BuiltIn()["docker"]
	eviction := providers.Arg{Name: "eviction-hard", Value: "nodefs.available<0%,nodefs.inodesFree<0%,imagefs.available<0%"}
	cgroups := providers.Arg{Name: "fail-cgroupv1", Value: "false"}
	for version, want := range map[string][]providers.Arg{"v1.30.14": {eviction}, "v1.31.0": {eviction, cgroups}, "v1.36.1": {eviction, cgroups}} {
		got := provider.Node(v1alpha1.MustParseVersion(version)).KubeletExtraArgs
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: arguments (-want +got):\n%s", version, diff)
		}
	}
}
