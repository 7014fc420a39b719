package v1alpha1

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// TestFieldsInAnyCase: EKS Anywhere ignores the case of field names, so its
// documents are read that way, with a warning. Ours are not.
func TestFieldsInAnyCase(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: anywhere.eks.amazonaws.com/v1alpha1\nkind: Cluster\n"
	as := func(line, path, written, name string) string {
		return "warning f.yaml:" + line + ": " + path + ": is written " + written + " here; write " + name + ": EKS Anywhere ignores the case of field names, and other readers of YAML do not"
	}
	tests := map[string]struct {
		text string
		want []string
	}{
		"certSANs": {"spec:\n  controlPlaneConfiguration:\n    certSANs: [a]\n", []string{as("5", "spec.controlPlaneConfiguration.certSans", "certSANs", "certSans")}},
		"several": {"Spec:\n  controlplaneconfiguration: {COUNT: 3}\n", []string{
			as("3", "spec", "Spec", "spec"), as("4", "spec.controlPlaneConfiguration", "controlplaneconfiguration", "controlPlaneConfiguration"),
			as("4", "spec.controlPlaneConfiguration.count", "COUNT", "count"),
		}},
		"twice":                {"spec:\n  controlPlaneConfiguration: {certSans: [a], certSANs: [b]}\n", []string{`f.yaml:4: spec.controlPlaneConfiguration.certSans: Duplicate value: "certSANs": the field is already on line 4; remove one of them`}},
		"mistake in its value": {"spec:\n  controlPlaneConfiguration: {COUNT: many}\n", []string{`f.yaml:4: spec.controlPlaneConfiguration.count: Invalid value: "many": must be a whole number in decimal digits, without quotes`}},
		"field with a rule":    {"spec:\n  gitopsRef: {}\n", []string{"warning f.yaml:4: spec.gitopsRef: " + fieldRules["Cluster.spec.gitOpsRef"].text}},
		"field of any object":  {"Metadata: {resourceversion: a}\n", []string{as("3", "metadata", "Metadata", "metadata"), "warning f.yaml:3: metadata.resourceversion: belongs to an object that was read from a cluster; ignored"}},
		"unknown field":        {"spec: {GitOps: {}}\n", []string{"f.yaml:3: spec.GitOps: Forbidden: unknown field; there are " + strings.Join(slices.Sorted(maps.Keys(strictyaml.FieldsOf(documentKinds()[ClusterKind].Field(3).Type))), ", ")}},
		"keys of others":       {"spec:\n  controlPlaneConfiguration: {kubeletConfiguration: {MaxPods: 1, maxPods: 2}}\n", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, answers(t, head+test.text)); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
		})
	}
	config := Decode("f.yaml", []byte(head+"spec: {controlPlaneConfiguration: {certSANs: [a]}}\n"), twoProviders(t))
	if diff := cmp.Diff([]string{"a"}, config.Cluster.Spec.ControlPlaneConfiguration.CertSANs); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	ours := strings.Replace(head, APIVersionEKSA, APIVersion, 1) + "spec: {controlPlaneConfiguration: {certSANs: [a]}}\n"
	if diff := cmp.Diff([]string{"f.yaml:3: spec.controlPlaneConfiguration.certSANs: Forbidden: unknown field; did you mean certSans?"}, answers(t, ours)); diff != "" {
		t.Errorf("a document of ours (-want +got):\n%s", diff)
	}
}

// TestFieldsThatAskForNothing are accepted without a word: what they say happens anyway.
func TestFieldsThatAskForNothing(t *testing.T) {
	t.Parallel()
	const controlPlane = "Cluster.spec.controlPlaneConfiguration."
	for _, test := range []struct{ rule, value, refused string }{
		{"Cluster.spec.packages", "{disable: true}", "{disable: false}"},
		{"Cluster.spec.packages", "{disable: true, controller: {env: [a]}}", "{controller: {env: [a]}}"},
		{controlPlane + "skipAdmissionForSystemResources", "false", "true"},
		{controlPlane + "skipAdmissionForSystemResources", "false", `"false"`},
	} {
		kind, path, _ := strings.Cut(test.rule, ".")
		text, _, _ := fileWith(kind, path, test.value)
		if diff := cmp.Diff([]string(nil), answers(t, text)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", path, test.value, diff)
		}
		text, _, _ = fileWith(kind, path, test.refused)
		if got := answers(t, text); len(got) != 1 || !strings.HasSuffix(got[0], fieldRules[test.rule].text) {
			t.Errorf("%s: %s: %q", path, test.refused, got)
		}
	}
}
