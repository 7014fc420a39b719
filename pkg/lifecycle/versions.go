package lifecycle

import (
	"github.com/clusterctl-x/clusterctl-x/pkg/manifests"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// Versions returns the versions of Kubernetes that clusters can have, by minor, with what
// each of them lacks for a provider.
func Versions(bundles *versionsbundle.Bundles) []versionsbundle.Minor {
	needs := map[string]versionsbundle.Needs{}
	for provider := range manifests.Datacenters() {
		needs[provider] = manifests.Needs(provider)
	}
	return bundles.Minors(needs)
}
