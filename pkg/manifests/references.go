package manifests

import (
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// Reference is an object of the cluster's namespace that the rendered ones need
// and that is not rendered, since it has credentials or is the user's.
type Reference struct {
	Kind string // Secret or ConfigMap
	Name string
	Type string   // that a Secret must have; empty where any will do
	Keys []string // that its data must have
	For  string   // what it is needed for
}

// References returns the Secrets and ConfigMaps that a cluster needs in addition to its
// objects.
func References(config *v1alpha1.Config) []Reference {
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
