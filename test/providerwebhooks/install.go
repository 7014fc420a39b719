package main

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// longest is how long the API server may take to serve the kinds: much longer than it does,
// since tests share the machine.
const longest = 5 * time.Minute

// install writes the manifests of both providers to the API server, which asks the webhooks
// at the address.
func install(config *rest.Config, webhooks *http.ServeMux, address *net.TCPAddr, ca []byte) error {
	served := func(path string) bool {
		_, pattern := webhooks.Handler(&http.Request{Method: http.MethodPost, URL: &url.URL{Path: path}})
		return pattern != ""
	}
	crds := envtest.CRDInstallOptions{MaxTime: longest}
	configurations := envtest.WebhookInstallOptions{
		MaxTime:          longest,
		LocalServingHost: address.IP.String(), LocalServingPort: address.Port, LocalServingCAData: ca,
	}
	// The API server sees the configurations of a kind in the order in which they are written:
	// when it asks the webhooks of AWS, which do more than those of GCP, it asks all.
	for _, provider := range []struct {
		name      string
		documents []byte
	}{{"gcp", gcpManifests}, {"aws", awsManifests}} {
		m, err := newManifests(provider.name, provider.documents)
		if err != nil {
			return err
		}
		m.keep(served)
		crds.CRDs = append(crds.CRDs, m.crds...)
		configurations.MutatingWebhooks = append(configurations.MutatingWebhooks, m.mutating)
		configurations.ValidatingWebhooks = append(configurations.ValidatingWebhooks, m.validating)
	}
	if _, err := envtest.InstallCRDs(config, crds); err != nil {
		return fmt.Errorf("installing the CustomResourceDefinitions: %w", err)
	}
	if err := configurations.ModifyWebhookDefinitions(); err != nil {
		return fmt.Errorf("directing the webhook configurations to %s: %w", address, err)
	}
	if err := configurations.Install(config); err != nil {
		return fmt.Errorf("installing the webhook configurations: %w", err)
	}
	return nil
}
