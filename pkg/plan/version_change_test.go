package plan_test

import (
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

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
