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
	const cluster = "apiVersion: clusterctl-x.io/v1alpha1\nkind: Cluster\nspec: {datacenterRef: {kind: DockerDatacenterConfig}}\n---\napiVersion: anywhere.eks.amazonaws.com/v1alpha1\nkind: "
	about := map[string]string{ // what each rule speaks of
		"SnowDatacenterConfig":       "provider snow;",
		"SnowMachineConfig":          "provider snow;",
		"SnowIPPool":                 "provider snow;",
		"TinkerbellDatacenterConfig": "provider tinkerbell;",
		"TinkerbellMachineConfig":    "provider tinkerbell;",
		"TinkerbellTemplateConfig":   "provider tinkerbell;",
	}
	for kind, text := range kindRules(twoProviders(t)) {
		if words, known := about[kind]; !known || !strings.Contains(text, words) {
			t.Errorf("the rule for %s does not speak of %q: %s", kind, words, text)
		}
	}
	for kind := range about {
		want := []string{`f.yaml:6: kind: Invalid value: "` + kind + `": ` + kindRules(twoProviders(t))[kind]}
		if diff := cmp.Diff(want, answers(t, cluster+kind+"\nspec: {anything: true}\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
	}
}

// TestIdleKinds may stay in the file; a warning says what happens instead.
func TestIdleKinds(t *testing.T) {
	t.Parallel()
	const cluster = "apiVersion: clusterctl-x.io/v1alpha1\nkind: Cluster\n---\napiVersion: anywhere.eks.amazonaws.com/v1alpha1\nkind: "
	about := map[string]string{ // what each warning speaks of
		"FluxConfig":              "'clusterctl-x generate manifests'",
		"GitOpsConfig":            "'clusterctl-x generate manifests'",
		"Bundles":                 "--bundles FILE",
		"Package":                 "curated packages",
		"PackageBundle":           "curated packages",
		"PackageBundleController": "curated packages",
	}
	for kind, text := range idleKinds() {
		if words, known := about[kind]; !known || !strings.Contains(text, words) {
			t.Errorf("the warning about %s does not speak of %q: %s", kind, words, text)
		}
		want := []string{"warning f.yaml:5: kind: " + text}
		if diff := cmp.Diff(want, answers(t, cluster+kind+"\nspec: {anything: true}\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
	}
}

// TestKindRulesAreAboutUnknownKinds: a rule for a kind that is read would never
// be asked, and the kinds of others have none.
func TestKindRulesAreAboutUnknownKinds(t *testing.T) {
	t.Parallel()
	for kind := range documentKinds() {
		if text, has := kindRules(twoProviders(t))[kind]; has {
			t.Errorf("%s is read, and has the rule %q", kind, text)
		}
	}
	const others = `f.yaml:2: kind: Unsupported value: "fluxConfig": supported values: "AWSIamConfig", "Cluster", "DockerDatacenterConfig", "InMemoryDatacenterConfig", "OIDCConfig"`
	if diff := cmp.Diff([]string{others}, answers(t, "apiVersion: anywhere.eks.amazonaws.com/v1alpha1\nkind: fluxConfig\n")); diff != "" {
		t.Errorf("another kind (-want +got):\n%s", diff)
	}
}

// TestFilesOfOtherProviders: one line says what such a file is for, instead of
// one for everything in it that makes it one. What else is wrong is told as ever.
func TestFilesOfOtherProviders(t *testing.T) {
	t.Parallel()
	line := func(provider string) string {
		return "f.yaml: this file describes a cluster on " + provider + ", of which there are no documents here: have a ClusterAPIDatacenterConfig and ClusterAPIMachineConfigs carry its objects (docs/tasks/any-infrastructure.md), or name a ClusterClass of your own in spec.clusterClass instead of spec.datacenterRef (docs/cluster-classes.md); what belongs to " + provider + " was not checked"
	}
	const cluster = `apiVersion: anywhere.eks.amazonaws.com/v1alpha1
kind: Cluster
spec:
  kubernetesVersion: "1.34"
  controlPlaneConfiguration: {count: 3, endpoint: {host: 10.0.0.1}, machineGroupRef: {kind: TinkerbellMachineConfig, name: cp}}
  workerNodeGroupConfigurations:
  - {name: a, machineGroupRef: {kind: TinkerbellMachineConfig, name: a}}
  externalEtcdConfiguration: {count: 3, machineGroupRef: {kind: TinkerbellMachineConfig, name: etcd}}
`
	const machine = "---\napiVersion: anywhere.eks.amazonaws.com/v1alpha1\nkind: TinkerbellMachineConfig\nspec: {osFamily: ubuntu}\n"
	reference := func(kind string) string { return "  datacenterRef: {kind: " + kind + ", name: a}\n" }
	tests := map[string]struct {
		text string
		want []string
	}{
		"whole file":        {cluster + reference("TinkerbellDatacenterConfig") + machine + machine + strings.ReplaceAll(machine, "Machine", "Datacenter"), []string{line("Tinkerbell")}},
		"reference alone":   {cluster + reference("SnowDatacenterConfig"), []string{line("Snow")}},
		"no reference":      {cluster + machine, []string{line("Tinkerbell")}},
		"no cluster":        {strings.TrimPrefix(machine, "---\n"), []string{line("Tinkerbell")}},
		"with a mistake":    {cluster + reference("SnowDatacenterConfig") + "  clusterNetwrok: {}\n", []string{line("Snow"), "f.yaml:10: spec.clusterNetwrok: Forbidden: unknown field; did you mean clusterNetwork?"}},
		"leftover document": {"apiVersion: anywhere.eks.amazonaws.com/v1alpha1\nkind: Cluster\nspec:\n" + reference("DockerDatacenterConfig") + machine, []string{`f.yaml:7: kind: Invalid value: "TinkerbellMachineConfig": ` + kindRules(twoProviders(t))["TinkerbellMachineConfig"]}},
		"leftover field": {
			"apiVersion: anywhere.eks.amazonaws.com/v1alpha1\nkind: Cluster\nspec:\n" + reference("DockerDatacenterConfig") + "  workerNodeGroupConfigurations: [{machineGroupRef: {}}]\n",
			[]string{"f.yaml:5: spec.workerNodeGroupConfigurations[0].machineGroupRef: Forbidden: with a datacenterRef of kind DockerDatacenterConfig no document describes machines; remove it"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, answers(t, test.text)); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDocumentsOfOtherAPIs are not applied, which a warning says.
func TestDocumentsOfOtherAPIs(t *testing.T) {
	t.Parallel()
	const cluster = "apiVersion: clusterctl-x.io/v1alpha1\nkind: Cluster\n---\n"
	unapplied := func(line, what string) []string {
		return []string{"warning f.yaml:" + line + ": kind: a document of kind " + what + " is not part of a cluster spec and is not applied; apply it yourself, for instance with kubectl"}
	}
	kinds := `"AWSIamConfig", "Cluster", "DockerDatacenterConfig", "InMemoryDatacenterConfig", "OIDCConfig"`
	for text, want := range map[string][]string{
		"apiVersion: v1\nkind: Secret\ndata: {a: b}\n":                      unapplied("5", "Secret (v1)"),
		"apiVersion: v1\nkind: Namespace\n":                                 unapplied("5", "Namespace (v1)"),
		"kind: Kustomization\napiVersion: kustomize.toolkit.fluxcd.io/v1\n": unapplied("4", "Kustomization (kustomize.toolkit.fluxcd.io/v1)"),
		"kind: Secret\n": {`f.yaml:4: kind: Unsupported value: "Secret": supported values: ` + kinds},
		"kind: Secret\napiVersion: anywhere.eks.amazonaws.com/v1alpha1\n":        {`f.yaml:4: kind: Unsupported value: "Secret": supported values: ` + kinds},
		"kind: OIDCConfig\napiVersion: v1\n":                                     {`f.yaml:5: apiVersion: Unsupported value: "v1": supported values: "clusterctl-x.io/v1alpha1", "anywhere.eks.amazonaws.com/v1alpha1"`},
		"kind: FluxConfig\napiVersion: anywhere.eks.amazonaws.co/v1alpha1\n":     {"warning f.yaml:4: kind: " + idleKinds()["FluxConfig"]},
		"kind: Secret\napiVersion: clusterctl-x.io/v1alpha2\nmetadata: {a: b}\n": {`f.yaml:4: kind: Unsupported value: "Secret": supported values: ` + kinds},
	} {
		if diff := cmp.Diff(want, answers(t, cluster+text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
