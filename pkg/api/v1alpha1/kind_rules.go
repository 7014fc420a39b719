package v1alpha1

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// kindRules maps the kinds of EKS Anywhere that clusterctl-x does not act on to
// what to do about them.
func kindRules() map[string]string {
	rules := map[string]string{
		"FluxConfig":   "clusterctl-x does not install GitOps tools; remove the document and spec.gitOpsRef, and have yours apply the output of 'clusterctl-x generate manifests'",
		"GitOpsConfig": "clusterctl-x does not install GitOps tools; remove the document and spec.gitOpsRef, and have yours apply the output of 'clusterctl-x generate manifests'",
		"Bundles":      "remove the document; give versions bundles with --bundles FILE, in clusterctl-x's own form",
	}
	for _, kind := range []string{"Package", "PackageBundle", "PackageBundleController"} {
		rules[kind] = "curated packages are a service of EKS Anywhere; remove the document and install what you need with your own tools"
	}
	for _, provider := range []string{"CloudStack", "Nutanix", "Snow", "Tinkerbell", "VSphere"} {
		text := "clusterctl-x has no provider " + strings.ToLower(provider) + "; the kinds of datacenter are " + InMemoryKind + " and " + DockerKind + ": remove the document, and have spec.datacenterRef name one of these"
		rules[provider+"DatacenterConfig"] = text
		rules[provider+"MachineConfig"] = text
	}
	rules["TinkerbellTemplateConfig"] = rules["TinkerbellMachineConfig"]
	rules["SnowIPPool"] = rules["SnowMachineConfig"]
	return rules
}

// unsupportedKind is the error about a kind that is none of ours.
func unsupportedKind(kind string, kinds []string) *field.Error {
	path := field.NewPath("kind")
	if text, known := kindRules()[kind]; known {
		return field.Invalid(path, kind, text)
	}
	return field.NotSupported(path, kind, kinds)
}
