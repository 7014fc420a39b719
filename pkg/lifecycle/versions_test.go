package lifecycle_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// TestVersionsAreThoseOfNewClusters: a minor is listed with the version that a file which
// asks for it gets, for each provider, with and without a group of an older minor.
func TestVersionsAreThoseOfNewClusters(t *testing.T) {
	t.Parallel()
	bundles, err := versionsbundle.Parse("bundles", config.Bundles)
	if err != nil {
		t.Fatal(err)
	}
	const none = "machines of the group could not join"
	resolved := func(kind, minor, groups string) string {
		t.Helper()
		spec := lifecycle.ReadSpec("cluster.yaml", fmt.Appendf(nil, `apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata: {name: prod}
spec:
  kubernetesVersion: %q
  clusterNetwork:
    pods: {cidrBlocks: [192.168.0.0/16]}
    services: {cidrBlocks: [10.96.0.0/12]}
  workerNodeGroupConfigurations: [%s]
  datacenterRef: {kind: %s, name: prod}
---
apiVersion: clusterctl-x.io/v1alpha1
kind: %s
metadata: {name: prod}
`, minor, groups, kind, kind), providers.BuiltIn(), bundles)
		r, err := spec.Validate()
		switch {
		case err != nil && strings.Contains(err.Error(), "has no download of it"):
			return none
		case err != nil:
			t.Fatal(err)
		}
		return r.Versions.ControlPlane.String()
	}
	listed, got := map[string]string{}, map[string]string{}
	older := ""
	for _, minor := range lifecycle.Versions(providers.BuiltIn(), bundles) {
		for provider, of := range providers.BuiltIn() {
			kind := of.Spec.Datacenter.Kind
			if of.Spec.Machine.Kind != "" {
				continue // its documents have the images
			}
			name := provider + " " + minor.Minor.String()
			listed[name], got[name] = minor.Default[provider].String(), resolved(kind, minor.Minor.String(), "{name: a, count: 1}")
			if older == "" {
				continue // no older minor has a bundle
			}
			name += " with older groups"
			listed[name] = none
			if version, can := minor.WithOlderGroups[provider]; can {
				listed[name] = version.String()
			}
			got[name] = resolved(kind, minor.Minor.String(), fmt.Sprintf("{name: a, count: 1, kubernetesVersion: %q}", older))
		}
		older = minor.Minor.String()
	}
	if diff := cmp.Diff(got, listed); diff != "" {
		t.Errorf("versions (-resolved +listed):\n%s", diff)
	}
}
