package v1alpha1

import (
	"regexp"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// fieldRule is what is done about a field that EKS Anywhere has and that
// clusterctl-x does not act on.
type fieldRule struct {
	warning bool   // else it is an error
	text    string // says what to do
}

func never(text string) fieldRule { return fieldRule{text: text} }

func harmless(text string) fieldRule { return fieldRule{warning: true, text: text} }

// ruleFor is the rule for a field.
func ruleFor(kind string, at *field.Path) (fieldRule, bool) {
	path := indices.ReplaceAllString(at.String(), "")
	if rule, ok := fieldRules[kind+"."+path]; ok {
		return rule, true
	}
	rule, ok := objectRules[path]
	_, ofSpec := documentKinds()[kind]
	return rule, ok && ofSpec
}

var indices = regexp.MustCompile(`\[[0-9]+\]`)

// objectRules maps paths to the rules for what every object in an API server
// has, whichever document of a cluster spec it is.
var objectRules = map[string]fieldRule{
	"status":                     harmless("status is read from the cluster; this one is ignored"),
	"metadata.annotations":       harmless("annotations of the document are not carried over to the cluster"),
	"metadata.labels":            harmless("labels of the document are not carried over to the cluster"),
	"metadata.creationTimestamp": harmless("belongs to an object that was read from a cluster; ignored"),
	"metadata.generation":        harmless("belongs to an object that was read from a cluster; ignored"),
	"metadata.resourceVersion":   harmless("belongs to an object that was read from a cluster; ignored"),
	"metadata.uid":               harmless("belongs to an object that was read from a cluster; ignored"),
	"metadata.finalizers":        harmless("belongs to an object that was read from a cluster; ignored"),
	"metadata.managedFields":     harmless("belongs to an object that was read from a cluster; ignored"),
	"metadata.ownerReferences":   harmless("belongs to an object that was read from a cluster; ignored"),
}

// fieldRules maps kind and path, without indices, to the rule for the field.
var fieldRules = map[string]fieldRule{
	"Cluster.spec.bundlesRef":   harmless("clusterctl-x takes versions from its own bundles or from --bundles; ignored"),
	"Cluster.spec.eksaVersion":  harmless("clusterctl-x takes versions from its own bundles or from --bundles; ignored"),
	"Cluster.spec.licenseToken": harmless("clusterctl-x needs no licence; ignored"),
	"Cluster.spec.gitOpsRef":    never("clusterctl-x does not install GitOps tools; remove it, and have yours apply the output of 'clusterctl-x generate manifests'"),
	"Cluster.spec.packages":     never("curated packages are a service of EKS Anywhere; remove it and install what you need with your own tools"),

	"Cluster.spec.clusterNetwork.cniConfig.cilium.helmValues": never("clusterctl-x does not run helm; remove it, or render Cilium with your values, put the manifest into a ConfigMap and name that in spec.addOns instead of cniConfig"),

	"Cluster.spec.externalEtcdConfiguration.machineGroupRef": never("no provider here makes machines for etcd; remove it"),

	"Cluster.spec.controlPlaneConfiguration.endpoint":                        never("the development providers choose the endpoint themselves; remove it"),
	"Cluster.spec.controlPlaneConfiguration.machineGroupRef":                 never("the development providers have no machine configurations; remove it"),
	"Cluster.spec.controlPlaneConfiguration.skipAdmissionForSystemResources": never("only the API server of EKS Distro can do this; remove it"),
	"Cluster.spec.controlPlaneConfiguration.skipLoadBalancerDeployment":      never("no load balancer is deployed on the control plane's machines; remove it"),
	"Cluster.spec.workerNodeGroupConfigurations.machineGroupRef":             never("the development providers have no machine configurations; remove it"),

	"Cluster.spec.controlPlaneConfiguration.taints.timeAdded":     harmless("Kubernetes sets it; ignored"),
	"Cluster.spec.workerNodeGroupConfigurations.taints.timeAdded": harmless("Kubernetes sets it; ignored"),
}
