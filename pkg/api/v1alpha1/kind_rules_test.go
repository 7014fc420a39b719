package v1alpha1

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestKindRules puts a document of each kind of EKS Anywhere that is not read
// beside a cluster: its rule is told, at its kind, and nothing else.
func TestKindRules(t *testing.T) {
	t.Parallel()
	const cluster = "apiVersion: clusterctl-x.io/v1alpha1\nkind: Cluster\n---\napiVersion: anywhere.eks.amazonaws.com/v1alpha1\nkind: "
	about := map[string]string{ // what each rule speaks of
		"FluxConfig":                 "'clusterctl-x generate manifests'",
		"GitOpsConfig":               "'clusterctl-x generate manifests'",
		"Bundles":                    "--bundles FILE",
		"Package":                    "curated packages",
		"PackageBundle":              "curated packages",
		"PackageBundleController":    "curated packages",
		"CloudStackDatacenterConfig": "provider cloudstack;",
		"CloudStackMachineConfig":    "provider cloudstack;",
		"NutanixDatacenterConfig":    "provider nutanix;",
		"NutanixMachineConfig":       "provider nutanix;",
		"SnowDatacenterConfig":       "provider snow;",
		"SnowMachineConfig":          "provider snow;",
		"SnowIPPool":                 "provider snow;",
		"TinkerbellDatacenterConfig": "provider tinkerbell;",
		"TinkerbellMachineConfig":    "provider tinkerbell;",
		"TinkerbellTemplateConfig":   "provider tinkerbell;",
		"VSphereDatacenterConfig":    "provider vsphere;",
		"VSphereMachineConfig":       "provider vsphere;",
	}
	for kind, text := range kindRules() {
		if words, known := about[kind]; !known || !strings.Contains(text, words) {
			t.Errorf("the rule for %s does not speak of %q: %s", kind, words, text)
		}
	}
	for kind := range about {
		want := []string{`f.yaml:5: kind: Invalid value: "` + kind + `": ` + kindRules()[kind]}
		if diff := cmp.Diff(want, answers(cluster+kind+"\nspec: {anything: true}\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
	}
}

// TestKindRulesAreAboutUnknownKinds: a rule for a kind that is read would never
// be asked, and the kinds of others have none.
func TestKindRulesAreAboutUnknownKinds(t *testing.T) {
	t.Parallel()
	for kind := range documentKinds() {
		if text, has := kindRules()[kind]; has {
			t.Errorf("%s is read, and has the rule %q", kind, text)
		}
	}
	const others = `f.yaml:2: kind: Unsupported value: "fluxConfig": supported values: "AWSIamConfig", "Cluster", "DockerDatacenterConfig", "InMemoryDatacenterConfig", "OIDCConfig"`
	if diff := cmp.Diff([]string{others}, answers("apiVersion: v1\nkind: fluxConfig\n")); diff != "" {
		t.Errorf("another kind (-want +got):\n%s", diff)
	}
}
