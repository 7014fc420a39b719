package lifecycle

import (
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// Versions returns the versions of Kubernetes that clusters can have, by minor, with what
// each of them lacks for a provider.
func Versions(known providers.Set, bundles *versionsbundle.Bundles) []versionsbundle.Minor {
	needs := map[string]versionsbundle.Needs{}
	for name, provider := range known {
		if provider.Spec.Machine.Kind != "" {
			continue // the documents have the images
		}
		needs[name] = provider.Needs()
	}
	return bundles.Minors(needs)
}
