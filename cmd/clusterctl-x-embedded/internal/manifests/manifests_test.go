package manifests_test

import (
	"cmp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/clusterctl-x/clusterctl-x/cmd/clusterctl-x-embedded/internal/manifests"
)

var endpoints = map[manifests.Server]manifests.Endpoint{ //nolint:gochecknoglobals // a constant
	manifests.Core:      {URL: "https://core:1", CABundle: []byte("CA of core")},
	manifests.Providers: {URL: "https://providers:2", CABundle: []byte("CA of providers")},
}

func load(t *testing.T) manifests.Manifests {
	t.Helper()
	m, err := manifests.Load(endpoints)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// endpointOf is where the controllers of an API group are.
func endpointOf(group string) manifests.Endpoint {
	switch strings.TrimSuffix(group, ".cluster.x-k8s.io") {
	case "bootstrap", "controlplane", "infrastructure":
		return endpoints[manifests.Providers]
	default:
		return endpoints[manifests.Core]
	}
}

func TestCRDs(t *testing.T) {
	t.Parallel()
	got := map[string]int{}
	for _, crd := range load(t).CRDs {
		got[crd.Spec.Group]++
	}
	want := map[string]int{ // 29
		"cluster.x-k8s.io": 8, "addons.cluster.x-k8s.io": 2, "ipam.cluster.x-k8s.io": 2, "runtime.cluster.x-k8s.io": 1,
		"bootstrap.cluster.x-k8s.io": 2, "controlplane.cluster.x-k8s.io": 2, "infrastructure.cluster.x-k8s.io": 12,
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("number of kinds per API group (-want +got):\n%s", diff)
	}
}

func TestConversions(t *testing.T) {
	t.Parallel()
	for _, crd := range load(t).CRDs {
		endpoint := endpointOf(crd.Spec.Group)
		url := endpoint.URL + "/convert"
		want := &apiextensionsv1.CustomResourceConversion{
			Strategy: apiextensionsv1.WebhookConverter,
			Webhook: &apiextensionsv1.WebhookConversion{
				ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: &url, CABundle: endpoint.CABundle},
				ConversionReviewVersions: []string{"v1"},
			},
		}
		if diff := gocmp.Diff(want, crd.Spec.Conversion); diff != "" {
			t.Errorf("%s (-want +got):\n%s", crd.Name, diff)
		}
	}
}

// TestEstablished has every CRD in the state that the API server's own
// controllers would bring it to.
func TestEstablished(t *testing.T) {
	t.Parallel()
	for _, crd := range load(t).CRDs {
		names := crd.Spec.Names
		if names.ListKind != names.Kind+"List" || names.Singular != strings.ToLower(names.Kind) {
			t.Errorf("%s has the names %v", crd.Name, names)
		}
		conditions := map[apiextensionsv1.CustomResourceDefinitionConditionType]apiextensionsv1.ConditionStatus{}
		for _, condition := range crd.Status.Conditions {
			conditions[condition.Type] = condition.Status
		}
		if diff := gocmp.Diff(map[apiextensionsv1.CustomResourceDefinitionConditionType]apiextensionsv1.ConditionStatus{
			apiextensionsv1.NamesAccepted: apiextensionsv1.ConditionTrue, apiextensionsv1.Established: apiextensionsv1.ConditionTrue,
		}, conditions); diff != "" {
			t.Errorf("conditions of %s (-want +got):\n%s", crd.Name, diff)
		}
		status := crd.Status
		status.Conditions = nil
		want := apiextensionsv1.CustomResourceDefinitionStatus{AcceptedNames: names, StoredVersions: []string{"v1beta2"}}
		if diff := gocmp.Diff(want, status); diff != "" {
			t.Errorf("status of %s (-want +got):\n%s", crd.Name, diff)
		}
	}
}

// TestContractLabels names the API versions in which Cluster API's core looks
// for the objects of its providers.
func TestContractLabels(t *testing.T) {
	t.Parallel()
	for _, crd := range load(t).CRDs {
		got := map[string]string{}
		for label, value := range crd.Labels {
			if strings.HasPrefix(label, "cluster.x-k8s.io/") {
				got[label] = value
			}
		}
		want := map[string]string{}
		if endpointOf(crd.Spec.Group).URL == endpoints[manifests.Providers].URL {
			want = map[string]string{"cluster.x-k8s.io/v1beta1": "v1beta1", "cluster.x-k8s.io/v1beta2": "v1beta2"}
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", crd.Name, diff)
		}
	}
}

// webhook is one of either kind.
type webhook struct {
	verb, configuration, name string
	rules                     []admissionregistrationv1.RuleWithOperations
	client                    admissionregistrationv1.WebhookClientConfig
}

func webhooks(m manifests.Manifests) []webhook {
	var all []webhook
	for _, configuration := range m.Mutating {
		for _, w := range configuration.Webhooks {
			all = append(all, webhook{"mutate", configuration.Name, w.Name, w.Rules, w.ClientConfig})
		}
	}
	for _, configuration := range m.Validating {
		for _, w := range configuration.Webhooks {
			all = append(all, webhook{"validate", configuration.Name, w.Name, w.Rules, w.ClientConfig})
		}
	}
	return all
}

// TestWebhooks derives from the kind that a webhook is for where
// controller-runtime serves it.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	m := load(t)
	singular := map[string]string{}
	for _, crd := range m.CRDs {
		singular[crd.Spec.Names.Plural] = crd.Spec.Names.Singular
	}
	count := map[string]int{}
	for _, w := range webhooks(m) {
		count[w.verb+" "+w.configuration]++
		rule := w.rules[0]
		resource, subresource, _ := strings.Cut(rule.Resources[0], "/")
		path := []string{w.verb, strings.ReplaceAll(rule.APIGroups[0], ".", "-"), rule.APIVersions[0], cmp.Or(singular[resource], "no kind for "+resource)}
		if subresource != "" {
			path[0] += "-" + subresource
		}
		endpoint := endpointOf(rule.APIGroups[0])
		url := endpoint.URL + "/" + strings.Join(path, "-")
		want := admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: endpoint.CABundle}
		if diff := gocmp.Diff(want, w.client); diff != "" {
			t.Errorf("%s (-want +got):\n%s", w.name, diff)
		}
	}
	want := map[string]int{
		"mutate cluster-api-core": 8, "mutate cluster-api-bootstrap": 1, "mutate cluster-api-control-plane": 1, "mutate cluster-api-infrastructure-dev": 6,
		"validate cluster-api-core": 13, "validate cluster-api-bootstrap": 2, "validate cluster-api-control-plane": 3, "validate cluster-api-infrastructure-dev": 8,
	}
	if diff := gocmp.Diff(want, count); diff != "" {
		t.Errorf("number of webhooks per configuration (-want +got):\n%s", diff)
	}
}

// TestLoadTwice gives values that share nothing: the seeder changes them.
func TestLoadTwice(t *testing.T) {
	t.Parallel()
	first, second := load(t), load(t)
	first.CRDs[0].Name, first.CRDs[0].Spec.Versions[0].Name = "changed", "changed"
	*first.Mutating[0].Webhooks[0].ClientConfig.URL = "changed"
	if diff := gocmp.Diff(load(t), second); diff != "" {
		t.Errorf("manifests (-want +got):\n%s", diff)
	}
}
