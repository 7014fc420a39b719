package v1alpha1

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// idleKinds maps the kinds of EKS Anywhere that describe no cluster to what is done about
// them: they may stay in the file.
func idleKinds() map[string]string {
	const flux = "clusterctl-x does not install GitOps tools, so the document has no effect; have yours apply the output of 'clusterctl-x generate manifests'"
	const curated = "curated packages are a service of EKS Anywhere, so the document has no effect; install what you need with your own tools"
	return map[string]string{
		"FluxConfig": flux, "GitOpsConfig": flux,
		"Package": curated, "PackageBundle": curated, "PackageBundleController": curated,
		"Bundles": "versions come from the bundles of clusterctl-x, so the document has no effect; give others with --bundles FILE, in clusterctl-x's own form",
	}
}

// kindRules maps the kinds of EKS Anywhere's providers that there are not here to what to
// do about them.
func kindRules(infrastructure InfrastructureKinds) map[string]string {
	rules := map[string]string{}
	for kind, provider := range otherProviders() {
		if _, here := infrastructure[kind]; !here {
			rules[kind] = "there is no provider " + strings.ToLower(provider) + "; have a ClusterAPIDatacenterConfig and ClusterAPIMachineConfigs carry its objects instead (docs/tasks/any-infrastructure.md)"
		}
	}
	return rules
}

// otherProviders maps the kinds of the infrastructure providers that EKS Anywhere
// has and clusterctl-x does not to the names of these providers.
func otherProviders() map[string]string {
	providers := map[string]string{"TinkerbellTemplateConfig": "Tinkerbell", "SnowIPPool": "Snow"}
	for prefix, provider := range map[string]string{"Snow": "Snow", "Tinkerbell": "Tinkerbell"} {
		providers[prefix+"DatacenterConfig"] = provider
		providers[prefix+"MachineConfig"] = provider
	}
	return providers
}

// otherProviderOf returns the provider of EKS Anywhere that a kind belongs to, where there
// is none of that kind here.
func (d *decoder) otherProviderOf(kind string) (string, bool) {
	provider, is := otherProviders()[kind]
	_, here := d.infrastructure[kind]
	return provider, is && !here
}

// tellProvider reports a file for another infrastructure provider as one problem,
// instead of one for everything in it that belongs to the provider: removing all of
// that would make another cluster.
func (d *decoder) tellProvider() {
	provider, other := d.otherProvider()
	if !other {
		for _, problem := range d.ofProvider {
			problem.Err = strictyaml.Lead(problem.Err)
			d.problems = append(d.problems, problem)
		}
		return
	}
	d.problems = append(d.problems, strictyaml.NewProblem(d.file, 0, field.Invalid(nil, nil, fmt.Sprintf(
		"this file describes a cluster on %[1]s, of which there are no documents here: have a ClusterAPIDatacenterConfig and ClusterAPIMachineConfigs carry its objects (docs/tasks/any-infrastructure.md), or name a ClusterClass of your own in spec.clusterClass instead of spec.datacenterRef (docs/cluster-classes.md); what belongs to %[1]s was not checked",
		provider))))
	if cluster, ok := d.config.documents[ClusterKind]; ok {
		cluster.MarkUnread("spec.datacenterRef") // names no provider here
	}
}

// otherProvider is the provider that the file is for, where it is none of ours. A
// reference of the cluster decides, and else the documents.
func (d *decoder) otherProvider() (string, bool) {
	if d.config.Cluster != nil {
		if kind := d.config.Cluster.Spec.DatacenterRef.Kind; kind != "" {
			return d.otherProviderOf(kind)
		}
	}
	if len(d.providers) == 0 {
		return "", false
	}
	return d.providers[0], true
}

// foreign reports whether a document is of an API that has no part in cluster
// specs. A kind of ours under a wrong apiVersion is a mistake.
func (d *decoder) foreign(h strictyaml.Header) bool {
	_, common := documentKinds()[h.Kind]
	_, ofProvider := d.infrastructure[h.Kind]
	_, ruled := kindRules(d.infrastructure)[h.Kind]
	_, idle := idleKinds()[h.Kind]
	ours := common || ofProvider || idle
	return h.Kind != "" && h.APIVersion != "" && h.Group() != Group && h.Group() != GroupEKSA && !ours && !ruled
}
