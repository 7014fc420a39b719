package manifests

import (
	"fmt"

	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// Reference is an object of the cluster's namespace that the rendered ones need
// and that is not rendered, since it has credentials or is the user's.
type Reference struct {
	Kind string   `json:"kind"` // Secret or ConfigMap
	Name string   `json:"name"`
	Type string   `json:"type,omitempty"` // that a Secret must have; empty where any will do
	Keys []string `json:"keys,omitempty"` // that its data must have
	For  string   `json:"for"`            // what it is needed for
	// Exclusive is true of an object that the infrastructure provider makes part of one
	// cluster: it is deleted with the cluster, and others cannot have it.
	Exclusive bool `json:"exclusive,omitempty"`
}

// References returns the Secrets and ConfigMaps that a cluster of a provider needs in
// addition to its objects.
func References(config *v1alpha1.Config, provider providers.Provider) ([]Reference, error) {
	ofProvider, err := referencesOf(provider, config)
	return append(ofProvider, referencesOfSpec(config)...), err
}

// referencesOf returns those that the provider needs.
func referencesOf(provider providers.Provider, of *v1alpha1.Config) ([]Reference, error) {
	if !provider.Known() || !provider.Has(providers.ReferencesTemplate) {
		return nil, nil
	}
	r, err := newRenderer(Input{Config: of, Provider: provider, Namespace: of.Cluster.Metadata.Namespace}, config.Templates)
	if err != nil {
		return nil, err
	}
	text, err := r.templates.Render(providers.ReferencesTemplate, r.infrastructure(""))
	if err != nil {
		return nil, err
	}
	var references []Reference
	if err := yaml.UnmarshalStrict(text, &references); err != nil {
		return nil, fmt.Errorf("decoding what %s renders: %w", providers.ReferencesTemplate, err)
	}
	return references, nil
}

func referencesOfSpec(config *v1alpha1.Config) []Reference {
	spec, name := config.Cluster.Spec, config.Cluster.Metadata.Name
	var references []Reference
	if external := spec.ExternalEtcdConfiguration; external != nil && len(external.Endpoints) > 0 {
		// Cluster API gives these names.
		references = append(references,
			Reference{Kind: "Secret", Name: name + "-etcd", Keys: []string{"tls.crt"}, For: "the authority of the external etcd"},
			Reference{Kind: "Secret", Name: name + "-apiserver-etcd-client", Keys: []string{"tls.crt", "tls.key"}, For: "the API server's access to the external etcd"},
		)
	}
	if mirror := spec.RegistryMirrorConfiguration; mirror != nil && mirror.Authenticate {
		references = append(references, Reference{Kind: "Secret", Name: registryCredentials, Keys: []string{"username", "password"}, For: "the registry mirror"})
	}
	if config.AWSIam != nil {
		references = append(references, Reference{Kind: "Secret", Name: iamSecret(name), Keys: []string{"cert.pem", "key.pem"}, For: "aws-iam-authenticator; 'aws-iam-authenticator init' makes them"})
	}
	for _, addOn := range spec.AddOns {
		for _, resource := range addOn.Resources {
			reference := Reference{Kind: resource.Kind, Name: resource.Name, For: "add-on " + addOn.Name}
			if resource.Kind == string(addonsv1.SecretClusterResourceSetResourceKind) {
				reference.Type = string(addonsv1.ClusterResourceSetSecretType)
			}
			references = append(references, reference)
		}
	}
	return references
}
