package v1alpha1

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
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
	for kind, provider := range otherProviders() {
		rules[kind] = "clusterctl-x has no provider " + strings.ToLower(provider) + "; the kinds of datacenter are " + InMemoryKind + " and " + DockerKind + ": remove the document, and have spec.datacenterRef name one of these"
	}
	return rules
}

// otherProviders maps the kinds of the infrastructure providers that EKS Anywhere
// has and clusterctl-x does not to the names of these providers.
func otherProviders() map[string]string {
	providers := map[string]string{"TinkerbellTemplateConfig": "Tinkerbell", "SnowIPPool": "Snow"}
	for prefix, provider := range map[string]string{"CloudStack": "CloudStack", "Nutanix": "Nutanix", "Snow": "Snow", "Tinkerbell": "Tinkerbell", "VSphere": "vSphere"} {
		providers[prefix+"DatacenterConfig"] = provider
		providers[prefix+"MachineConfig"] = provider
	}
	return providers
}

func providerOfKind(kind string) (string, bool) {
	provider, is := otherProviders()[kind]
	return provider, is
}

// tellProvider reports a file for another infrastructure provider as one problem,
// instead of one for everything in it that belongs to the provider: removing all of
// that would make another cluster.
func (d *decoder) tellProvider() {
	provider, other := d.otherProvider()
	if !other {
		d.problems = append(d.problems, d.ofProvider...)
		return
	}
	d.problems = append(d.problems, strictyaml.NewProblem(d.file, 0, field.Invalid(nil, nil, fmt.Sprintf(
		"this file describes a cluster on %[1]s, and clusterctl-x has providers for simulated machines (%[2]s) and containers (%[3]s) only: for %[1]s name a ClusterClass of your own in spec.clusterClass instead of spec.datacenterRef (docs/cluster-classes.md), or make a file for another provider with 'clusterctl-x generate clusterconfig'; what belongs to %[1]s was not checked",
		provider, InMemoryKind, DockerKind))))
	if cluster, ok := d.config.documents[ClusterKind]; ok {
		cluster.MarkUnread("spec.datacenterRef") // names no provider here
	}
}

// otherProvider is the provider that the file is for, where it is none of ours. A
// reference of the cluster decides, and else the documents.
func (d *decoder) otherProvider() (string, bool) {
	if d.config.Cluster != nil {
		if kind := d.config.Cluster.Spec.DatacenterRef.Kind; kind != "" {
			return providerOfKind(kind)
		}
	}
	if len(d.providers) == 0 {
		return "", false
	}
	return d.providers[0], true
}

// foreign reports whether a document is of an API that has no part in cluster
// specs. A kind of ours under a wrong apiVersion is a mistake.
func foreign(h strictyaml.Header) bool {
	_, ours := documentKinds()[h.Kind]
	_, ruled := kindRules()[h.Kind]
	return h.Kind != "" && h.APIVersion != "" && h.Group() != Group && h.Group() != GroupEKSA && !ours && !ruled
}
