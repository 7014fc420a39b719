package manifests

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

func TestReferences(t *testing.T) {
	t.Parallel()
	addOn := func(name string, resources ...v1alpha1.AddOnResource) v1alpha1.AddOn {
		return v1alpha1.AddOn{Name: name, Resources: resources}
	}
	addOns := []v1alpha1.AddOn{
		addOn("z", v1alpha1.AddOnResource{Kind: "Secret", Name: "b"}, v1alpha1.AddOnResource{Kind: "ConfigMap", Name: "a"}),
		addOn("none"), addOn("a", v1alpha1.AddOnResource{Kind: "Secret", Name: "b"}),
	}
	forAddOns := []Reference{
		{Kind: "Secret", Name: "b", Type: "addons.cluster.x-k8s.io/resource-set", For: "add-on z"}, {Kind: "ConfigMap", Name: "a", For: "add-on z"}, {Kind: "Secret", Name: "b", Type: "addons.cluster.x-k8s.io/resource-set", For: "add-on a"},
	}
	etcd := []Reference{
		{Kind: "Secret", Name: "prod-etcd", Keys: []string{"tls.crt"}, For: "the authority of the external etcd"},
		{Kind: "Secret", Name: "prod-apiserver-etcd-client", Keys: []string{"tls.crt", "tls.key"}, For: "the API server's access to the external etcd"},
	}
	mirror := []Reference{{Kind: "Secret", Name: "registry-credentials", Keys: []string{"username", "password"}, For: "the registry mirror"}}
	iam := []Reference{{Kind: "Secret", Name: "prod-aws-iam-authenticator-ca", Keys: []string{"cert.pem", "key.pem"}, For: "aws-iam-authenticator; 'aws-iam-authenticator init' makes them"}}
	tests := map[string]struct {
		config v1alpha1.Config
		spec   v1alpha1.ClusterSpec
		want   []Reference
	}{
		"nothing": {v1alpha1.Config{}, v1alpha1.ClusterSpec{}, nil},
		"what needs nothing": {
			v1alpha1.Config{OIDC: &v1alpha1.OIDCConfig{}},
			v1alpha1.ClusterSpec{
				ExternalEtcdConfiguration: &v1alpha1.ExternalEtcdConfiguration{Count: 3}, RegistryMirrorConfiguration: &v1alpha1.RegistryMirrorConfiguration{Endpoint: "a"},
				AddOns: []v1alpha1.AddOn{addOn("none")},
			}, nil,
		},
		"external etcd":   {v1alpha1.Config{}, v1alpha1.ClusterSpec{ExternalEtcdConfiguration: &v1alpha1.ExternalEtcdConfiguration{Endpoints: []string{"a"}}}, etcd},
		"registry mirror": {v1alpha1.Config{}, v1alpha1.ClusterSpec{RegistryMirrorConfiguration: &v1alpha1.RegistryMirrorConfiguration{Authenticate: true}}, mirror},
		"IAM":             {v1alpha1.Config{AWSIam: &v1alpha1.AWSIamConfig{}}, v1alpha1.ClusterSpec{}, iam},
		"add-ons":         {v1alpha1.Config{}, v1alpha1.ClusterSpec{AddOns: addOns}, forAddOns},
		"everything": {
			v1alpha1.Config{OIDC: &v1alpha1.OIDCConfig{}, AWSIam: &v1alpha1.AWSIamConfig{}},
			v1alpha1.ClusterSpec{
				ExternalEtcdConfiguration:   &v1alpha1.ExternalEtcdConfiguration{Count: 3, Endpoints: []string{"a", "b"}},
				RegistryMirrorConfiguration: &v1alpha1.RegistryMirrorConfiguration{Endpoint: "a", Authenticate: true, CACertContent: "b"},
				AddOns:                      addOns,
			},
			append(append(append(append([]Reference{}, etcd...), mirror...), iam...), forAddOns...),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := test.config
			config.Cluster = &v1alpha1.Cluster{Metadata: v1alpha1.Meta{Name: "prod", Namespace: "team"}, Spec: test.spec}
			got, err := References(&config, providers.Provider{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Errorf("references (-want +got):\n%s", diff)
			}
		})
	}
}
