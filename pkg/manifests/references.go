package manifests

import (
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// Reference is an object of the cluster's namespace that the rendered ones need
// and that is not rendered, since it has credentials or is the user's.
type Reference struct {
	Kind string // Secret or ConfigMap
	Name string
	Keys []string // that its data must have
	For  string   // what it is needed for
}

// References returns what a cluster needs besides its objects.
func References(config *v1alpha1.Config) []Reference {
	spec, name := config.Cluster.Spec, config.Cluster.Metadata.Name
	var references []Reference
	if external := spec.ExternalEtcdConfiguration; external != nil && len(external.Endpoints) > 0 {
		// Cluster API gives these names.
		references = append(references,
			Reference{"Secret", name + "-etcd", []string{"tls.crt"}, "the authority of the external etcd"},
			Reference{"Secret", name + "-apiserver-etcd-client", []string{"tls.crt", "tls.key"}, "the API server's access to the external etcd"},
		)
	}
	if mirror := spec.RegistryMirrorConfiguration; mirror != nil && mirror.Authenticate {
		references = append(references, Reference{"Secret", registryCredentials, []string{"username", "password"}, "the registry mirror"})
	}
	if config.AWSIam != nil {
		references = append(references, Reference{"Secret", iamSecret(name), []string{"cert.pem", "key.pem"}, "aws-iam-authenticator; 'aws-iam-authenticator init' makes them"})
	}
	for _, addOn := range spec.AddOns {
		for _, resource := range addOn.Resources {
			references = append(references, Reference{Kind: resource.Kind, Name: resource.Name, For: "add-on " + addOn.Name})
		}
	}
	return references
}
