// Package manifests holds Cluster API's CustomResourceDefinitions and webhook
// configurations, and our guardrails, as the etcd of an embedded management
// cluster stores them.
//
// manifests.json is generated from the Cluster API modules that go.mod names;
// the build makes it, so it always fits the controllers.
package manifests

import (
	_ "embed"
	"encoding/json"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/clusterctl-x/clusterctl-x/config"
)

//go:generate go run ./generate manifests.json
//go:embed manifests.json
var generated []byte

// Server is the process that serves a webhook.
type Server string

// The two processes that serve webhooks.
const (
	Core      Server = "core"      // Cluster API's core controllers
	Providers Server = "providers" // bootstrap, control plane and infrastructure controllers
)

// Manifests of one server. The client configurations of their webhooks have a
// path, as the service path, and neither address nor CA yet. Policies are of no
// server.
type Manifests struct {
	CRDs       []apiextensionsv1.CustomResourceDefinition
	Mutating   []admissionregistrationv1.MutatingWebhookConfiguration
	Validating []admissionregistrationv1.ValidatingWebhookConfiguration
	Policies   []admissionregistrationv1.ValidatingAdmissionPolicy
	Bindings   []admissionregistrationv1.ValidatingAdmissionPolicyBinding
}

// Endpoint is where a server's webhooks are reached.
type Endpoint struct {
	URL      string // https://host:port, no path
	CABundle []byte // PEM
}

// Load returns the manifests with their webhooks at the given endpoints.
func Load(endpoints map[Server]Endpoint) (Manifests, error) {
	var byServer map[Server]Manifests
	if err := json.Unmarshal(generated, &byServer); err != nil {
		return Manifests{}, fmt.Errorf("reading the generated manifests: %w", err)
	}
	var all Manifests
	for _, server := range []Server{Core, Providers} {
		m, endpoint := byServer[server], endpoints[server]
		for i := range m.CRDs {
			m.CRDs[i].Spec.Conversion = conversion(endpoint)
		}
		for i := range m.Mutating {
			for j := range m.Mutating[i].Webhooks {
				direct(&m.Mutating[i].Webhooks[j].ClientConfig, endpoint)
			}
		}
		for i := range m.Validating {
			for j := range m.Validating[i].Webhooks {
				direct(&m.Validating[i].Webhooks[j].ClientConfig, endpoint)
			}
		}
		all.CRDs = append(all.CRDs, m.CRDs...)
		all.Mutating = append(all.Mutating, m.Mutating...)
		all.Validating = append(all.Validating, m.Validating...)
	}
	return all, all.addGuardrails(config.Guardrails)
}

func conversion(endpoint Endpoint) *apiextensionsv1.CustomResourceConversion {
	url := endpoint.URL + "/convert"
	return &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: &url, CABundle: endpoint.CABundle},
			ConversionReviewVersions: []string{"v1"},
		},
	}
}

// direct turns a reference to a service in the cluster into an address outside of it.
func direct(config *admissionregistrationv1.WebhookClientConfig, endpoint Endpoint) {
	url := endpoint.URL + *config.Service.Path
	*config = admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: endpoint.CABundle}
}
