package v1alpha1

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// fieldRule handles a field that EKS Anywhere has and clusterctl-x does not act on.
type fieldRule struct {
	warning bool   // else it is an error
	text    string // says what to do
	// idle reports whether a value asks for what happens anyway; it is accepted
	// without a word. nil means that no value does.
	idle func(*yaml.Node) bool
	// ofProvider is true of fields that infrastructure providers have and those of
	// clusterctl-x do not.
	ofProvider bool
}

func never(text string) fieldRule { return fieldRule{text: text} }

func harmless(text string) fieldRule { return fieldRule{warning: true, text: text} }

func neverUnless(idle func(*yaml.Node) bool, text string) fieldRule {
	return fieldRule{text: text, idle: idle}
}

func harmlessUnless(idle func(*yaml.Node) bool, text string) fieldRule {
	return fieldRule{warning: true, text: text, idle: idle}
}

func otherProvider(text string) fieldRule { return fieldRule{text: text, ofProvider: true} }

// off reports whether a value is false.
func off(node *yaml.Node) bool {
	var on bool
	return node.Decode(&on) == nil && !on
}

// disabled reports whether a mapping disables what it configures.
func disabled(node *yaml.Node) bool {
	var config struct {
		Disable bool `yaml:"disable"`
	}
	return node.Decode(&config) == nil && config.Disable
}

// verdict returns what is done about the field with a value.
func (r fieldRule) verdict(value *yaml.Node) strictyaml.Verdict {
	switch {
	case r.idle != nil && r.idle(value):
		return strictyaml.Ignore
	case r.warning:
		return strictyaml.Warn
	case r.ofProvider:
		return strictyaml.SetAside
	}
	return strictyaml.Forbid
}

// ruleBook has the rules for the fields of documents of a kind.
type ruleBook struct {
	kind    string
	anyCase bool // finds fields whatever their case
	answers []FieldAnswer
}

// verdict is a strictyaml.Rule.
func (b ruleBook) verdict(at *field.Path, value *yaml.Node) (strictyaml.Verdict, string) {
	path := indices.ReplaceAllString(at.String(), "")
	find := findExactly
	if b.anyCase {
		find = findInAnyCase
	}
	rule, ok := find(fieldRules, b.kind+"."+path)
	if !ok {
		rule, ok = find(objectRules, path)
	}
	if !ok && b.anyCase {
		rule, ok = find(unreadByEKSAnywhere, b.kind+"."+path)
	}
	if !ok {
		rule, ok = find(b.rules(), path)
	}
	if !ok {
		return strictyaml.Unknown, ""
	}
	return rule.verdict(value), rule.text
}

// rules maps paths to the rules of the provider that the kind belongs to.
func (b ruleBook) rules() map[string]fieldRule {
	rules := map[string]fieldRule{}
	for _, answer := range b.answers {
		rules["spec."+answer.Path] = answer.rule()
	}
	return rules
}

func findExactly(rules map[string]fieldRule, path string) (fieldRule, bool) {
	rule, ok := rules[path]
	return rule, ok
}

// findInAnyCase prefers the path as it is.
func findInAnyCase(rules map[string]fieldRule, path string) (fieldRule, bool) {
	if rule, ok := rules[path]; ok {
		return rule, true
	}
	for of, rule := range rules {
		if strings.EqualFold(of, path) {
			return rule, true
		}
	}
	return fieldRule{}, false
}

var indices = regexp.MustCompile(`\[[0-9]+\]`)

// objectRules maps paths to the rules for what every object in an API server
// has, whichever document of a cluster spec it is.
var objectRules = map[string]fieldRule{ //nolint:gochecknoglobals // a constant
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
var fieldRules = map[string]fieldRule{ //nolint:gochecknoglobals // a constant
	"Cluster.spec.bundlesRef":   harmless("clusterctl-x takes versions from its own bundles or from --bundles; ignored"),
	"Cluster.spec.eksaVersion":  harmless("clusterctl-x takes versions from its own bundles or from --bundles; ignored"),
	"Cluster.spec.licenseToken": harmless("clusterctl-x needs no licence; ignored"),
	"Cluster.spec.gitOpsRef":    harmless("clusterctl-x does not install GitOps tools; ignored: have yours apply the output of 'clusterctl-x generate manifests'"),
	"Cluster.spec.packages":     harmlessUnless(disabled, "curated packages are a service of EKS Anywhere; ignored: install what you need with your own tools"),

	"Cluster.spec.clusterNetwork.cniConfig.cilium.helmValues": never("clusterctl-x does not run helm; remove it, or render Cilium with your values, put the manifest into a ConfigMap and name that in spec.addOns instead of cniConfig"),

	"Cluster.spec.externalEtcdConfiguration.machineGroupRef": otherProvider("machines for etcd need EKS Anywhere's fork of Cluster API; remove externalEtcdConfiguration to have etcd on the control plane's machines, or give the endpoints of an etcd that is there"),

	"Cluster.spec.controlPlaneConfiguration.skipAdmissionForSystemResources": neverUnless(off, "only the API server of EKS Distro can do this; remove it"),

	"Cluster.spec.controlPlaneConfiguration.taints.timeAdded":     harmless("Kubernetes sets it; ignored"),
	"Cluster.spec.workerNodeGroupConfigurations.taints.timeAdded": harmless("Kubernetes sets it; ignored"),
}

// unreadByEKSAnywhere has rules for fields that files of EKS Anywhere have and that it does
// not read itself: they do nothing there either.
var unreadByEKSAnywhere = map[string]fieldRule{ //nolint:gochecknoglobals // a constant
	"Cluster.spec.controlPlaneConfiguration.name":                                                harmless("the control plane has no name of its own, in EKS Anywhere neither; ignored"),
	"Cluster.spec.externalEtcdConfiguration.name":                                                harmless("etcd has no name of its own, in EKS Anywhere neither; ignored"),
	"Cluster.spec.controlPlaneConfiguration.upgradeRolloutStrategy.rollingUpdate.maxUnavailable": harmless("of a control plane, EKS Anywhere reads maxSurge only; ignored"),
	"Cluster.spec.clusterNetwork.node":                                                           harmless("EKS Anywhere has no such field, so it did nothing; ignored: write nodes to have its effect"),
}
