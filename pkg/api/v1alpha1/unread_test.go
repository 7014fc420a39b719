package v1alpha1_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// TestLocateLeavesOutWhatWasNotRead tells which errors of fields are told, and
// which only follow from what Decode has found.
func TestLocateLeavesOutWhatWasNotRead(t *testing.T) {
	t.Parallel()
	const count = "spec.controlPlaneConfiguration.count"
	config := func(fields string) string { return minimal + "  controlPlaneConfiguration: {" + fields + "}\n" }
	groups := func(group string) string { return minimal + "  workerNodeGroupConfigurations: [" + group + "]\n" }
	const groupName = "spec.workerNodeGroupConfigurations[0].name"
	tests := map[string]struct {
		text, path string
		want       bool
	}{
		"read":                             {config("count: 2"), count, true},
		"not given":                        {config("labels: {}"), count, true},
		"of the wrong type":                {config(`count: "2"`), count, false},
		"misspelt":                         {config("cuont: 2"), count, false},
		"in the wrong case":                {config("Count: 2"), count, false},
		"in a misspelt field":              {strings.Replace(config("count: 2"), "controlPlane", "controlPlan", 1), count, false},
		"misspelt, and there":              {config("count: 2, cuont: 3"), count, true},
		"letters in the wrong order":       {groups("{anme: a}"), groupName, false},
		"merged":                           {groups("{<<: {name: a}}"), groupName, false},
		"merged, and there":                {groups("{<<: {name: a}, name: b}"), groupName, true},
		"beside a merge key":               {groups("{<<: {name: a}}"), "spec.kubernetesVersion", true},
		"beside a list as a name":          {config("count: 2, [a]: b"), count, true},
		"beside a list as a name, at root": {minimal + "[a]: b\n", "spec.kubernetesVersion", true},
		"behind the last value that is read": {
			minimal + "  workerNodeGroupConfigurations:\n" + strings.Repeat("  - {}\n", 100_000) + "  addOns: []\n", "spec.addOns", false,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := devProviders().Decode("cluster.yaml", []byte(test.text))
			located := config.Locate(v1alpha1.ClusterKind, field.ErrorList{{Type: field.ErrorTypeRequired, Field: test.path}})
			if got := len(located) == 1; got != test.want {
				t.Errorf("an error about %s is told: %t, want %t", test.path, got, test.want)
			}
		})
	}
}

// TestDecodeReadsNoZeros: a pointer to what could not be read is nil, from which
// nothing follows.
func TestDecodeReadsNoZeros(t *testing.T) {
	t.Parallel()
	config := devProviders().Decode("cluster.yaml", []byte(minimal+`  workerNodeGroupConfigurations:
  - name: a
    kubernetesVersion: latest
    upgradeRolloutStrategy: {rollingUpdate: {maxSurge: 10%, maxUnavailable: 2}}
    taints: {key: a}
    autoscalingConfiguration: [1, 2]
`))
	want := []v1alpha1.WorkerNodeGroupConfiguration{{
		Name:  "a",
		Count: new(1),
		UpgradeRolloutStrategy: &v1alpha1.WorkerRolloutStrategy{
			RollingUpdate: &v1alpha1.WorkerRollingUpdate{MaxUnavailable: new(2)},
		},
	}}
	if diff := cmp.Diff(want, config.Cluster.Spec.WorkerNodeGroupConfigurations); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	if len(config.Problems) != 4 {
		t.Errorf("%d problems, want 4:\n%s", len(config.Problems), config.Problems)
	}
}

// TestDecodeHidesSecrets: what may be a key or a password is not in a problem.
func TestDecodeHidesSecrets(t *testing.T) {
	t.Parallel()
	got := problemsOf(t, []byte(minimal+`  registryMirrorConfiguration: {endpoint: a, caCertContent: "-----BEGIN PRIVATE KEY-----\r\nhunter2"}
  proxyConfiguration: {httpProxy: "http://me:hunter2@proxy\u200B:3128"}
`))
	want := []string{
		"cluster.yaml:15: spec.registryMirrorConfiguration.caCertContent: Invalid value: must be printable text; remove the character U+000D",
		"cluster.yaml:16: spec.proxyConfiguration.httpProxy: Invalid value: must be printable text; remove the character U+200B",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// TestReferencesThatWereNotRead: no document is told to be without a reference
// where the reference may be the one that is wrong.
func TestReferencesThatWereNotRead(t *testing.T) {
	t.Parallel()
	const oidc = "---\napiVersion: clusterctl-x.io/v1alpha1\nkind: OIDCConfig\nmetadata:\n  name: login\n"
	const unknown = "Forbidden: unknown field; did you mean "
	tests := map[string]struct {
		text string
		want []string
	}{
		"misspelt references": {minimal + "  identityProviderRef: [{kind: OIDCConfig, name: login}]\n" + oidc, []string{
			"cluster.yaml:15: spec.identityProviderRef: " + unknown + "identityProviderRefs?",
		}},
		"misspelt spec":                {strings.Replace(minimal, "spec:", "Spec:", 1) + oidc + inMemoryDocument, []string{"cluster.yaml:5: Spec: " + unknown + "spec?"}},
		"reference of an unknown kind": {minimal + "  identityProviderRefs: [{kind: OIDC, name: login}]\n" + oidc, nil},
		"provider of an unknown kind":  {strings.Replace(minimal, "InMemoryDatacenterConfig", "InMemory", 1) + inMemoryDocument, nil},
		"misspelt namespace": {with("name: prod\nspec", "name: prod\n  namspace: team\nspec") + inMemoryDocument + "  namespace: team\n", []string{
			"cluster.yaml:5: metadata.namspace: " + unknown + "namespace?",
		}},
		"references without documents": {minimal + "  identityProviderRefs: [{kind: OIDCConfig}, {kind: AWSIamConfig, name: iam}, {kind: OIDCConfig, name: login}]\n", []string{
			`cluster.yaml:15: spec.identityProviderRefs[0].kind: Invalid value: "OIDCConfig": the file has no document of this kind; add it, or remove the reference`,
			`cluster.yaml:15: spec.identityProviderRefs[1].kind: Invalid value: "AWSIamConfig": the file has no document of this kind; add it, or remove the reference`,
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, problemsOf(t, []byte(test.text))); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDecodeReadsDocumentsThatMayBeReferredTo: their mistakes are told with the
// mistake in the reference.
func TestDecodeReadsDocumentsThatMayBeReferredTo(t *testing.T) {
	t.Parallel()
	config := devProviders().Decode("cluster.yaml", []byte(minimal+`  identityProviderRef: [{kind: OIDCConfig, name: login}]
---
apiVersion: clusterctl-x.io/v1alpha1
kind: OIDCConfig
metadata: {name: login}
spec: {clientId: a}
`))
	if config.OIDC == nil || config.OIDC.Spec.ClientID != "a" {
		t.Errorf("the document is not there: %v", config.OIDC)
	}
}

// TestProblemsShowTheBeginningOfLongValues, which ends between characters.
func TestProblemsShowTheBeginningOfLongValues(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 299)
	got := problemsOf(t, []byte(minimal+"  addOns: ["+long+"x, "+long+"xx, "+long+"ü]\n"))
	const detail = ": must be a mapping: fields with values"
	want := []string{
		`cluster.yaml:15: spec.addOns[0]: Invalid value: "` + long + `x"` + detail,
		`cluster.yaml:15: spec.addOns[1]: Invalid value: "` + long + `x..."` + detail,
		`cluster.yaml:15: spec.addOns[2]: Invalid value: "` + long + `..."` + detail,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}
