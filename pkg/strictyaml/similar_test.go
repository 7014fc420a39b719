package strictyaml_test

import (
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// TestSimilar: words that many names have in common make none of them similar.
func TestSimilar(t *testing.T) {
	t.Parallel()
	spec := []string{
		"addOns", "clusterClass", "clusterNetwork", "controlPlaneConfiguration", "datacenterRef", "etcdEncryption",
		"externalEtcdConfiguration", "identityProviderRefs", "kubernetesVersion", "machineHealthCheck", "managementCluster",
		"podIamConfig", "proxyConfiguration", "registryMirrorConfiguration", "upgradePolicy", "workerNodeGroupConfigurations",
	}
	for name, want := range map[string]string{
		"etcdConfiguration":            "externalEtcdConfiguration",
		"mirrorConfiguration":          "registryMirrorConfiguration",
		"workerConfiguration":          "workerNodeGroupConfigurations",
		"networkConfiguration":         "",
		"proxyConfig":                  "proxyConfiguration",
		"kubernetesVerison":            "kubernetesVersion",
		"KubernetesVersion":            "kubernetesVersion",
		"workerNodeGroupConfiguration": "workerNodeGroupConfigurations",
		"controlPlane":                 "controlPlaneConfiguration",
		"machineHealthChek":            "machineHealthCheck",
		"dataCenterRef":                "datacenterRef",
		"identityProviderRef":          "identityProviderRefs",
		"gitOps":                       "",
	} {
		if got := strictyaml.Similar(name, spec); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
