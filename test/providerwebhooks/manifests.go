package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// What the modules of the providers have below config: the kustomization of their CRDs, the
// CRDs, and the configurations of their webhooks. The Makefile makes these files.
var (
	//go:embed aws.yaml
	awsManifests []byte
	//go:embed gcp.yaml
	gcpManifests []byte
)

// manifests of one provider.
type manifests struct {
	labels     map[string]string // of every CRD: the contract of Cluster API
	crds       []*apiextensionsv1.CustomResourceDefinition
	mutating   *admissionregistrationv1.MutatingWebhookConfiguration
	validating *admissionregistrationv1.ValidatingWebhookConfiguration
}

// newManifests reads the manifests of the provider with the name.
func newManifests(name string, documents []byte) (manifests, error) {
	var m manifests
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(documents)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = m.add(document)
		}
		if err != nil {
			return manifests{}, fmt.Errorf("reading the manifests of %s: %w", name, err)
		}
	}
	for _, crd := range m.crds {
		if crd.Labels == nil {
			crd.Labels = map[string]string{}
		}
		maps.Copy(crd.Labels, m.labels)
	}
	m.mutating.Name, m.validating.Name = "cluster-api-infrastructure-"+name, "cluster-api-infrastructure-"+name
	return m, nil
}

func (m *manifests) add(document []byte) error {
	var object metav1.TypeMeta
	if err := yaml.Unmarshal(document, &object); err != nil {
		return err
	}
	switch object.Kind {
	case "CustomResourceDefinition":
		crd := &apiextensionsv1.CustomResourceDefinition{}
		m.crds = append(m.crds, crd)
		return yaml.Unmarshal(document, crd)
	case "MutatingWebhookConfiguration":
		return yaml.Unmarshal(document, &m.mutating)
	case "ValidatingWebhookConfiguration":
		return yaml.Unmarshal(document, &m.validating)
	case "": // the kustomization
		var kustomization struct{ CommonLabels map[string]string }
		err := yaml.Unmarshal(document, &kustomization)
		m.labels = kustomization.CommonLabels
		return err
	default:
		return fmt.Errorf("unexpected kind %s", object.Kind)
	}
}

// keep leaves out the webhooks that are not served, and the kinds without webhooks: of those
// the API server would accept what the provider does not.
func (m *manifests) keep(served func(path string) bool) {
	m.mutating.Webhooks = slices.DeleteFunc(m.mutating.Webhooks, func(w admissionregistrationv1.MutatingWebhook) bool {
		return !served(*w.ClientConfig.Service.Path)
	})
	m.validating.Webhooks = slices.DeleteFunc(m.validating.Webhooks, func(w admissionregistrationv1.ValidatingWebhook) bool {
		return !served(*w.ClientConfig.Service.Path)
	})
	m.crds = slices.DeleteFunc(m.crds, func(crd *apiextensionsv1.CustomResourceDefinition) bool {
		return !slices.ContainsFunc(m.validating.Webhooks, func(w admissionregistrationv1.ValidatingWebhook) bool {
			return slices.Contains(w.Rules[0].Resources, crd.Spec.Names.Plural)
		})
	})
}
