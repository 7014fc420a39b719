package v1alpha1

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// twoProviders have a kind of datacenter each, whose documents have any fields.
func twoProviders(t *testing.T) InfrastructureKinds {
	t.Helper()
	schema, err := strictyaml.NewSchema(apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}, InfrastructureFormats())
	if err != nil {
		t.Fatal(err)
	}
	get := func() *strictyaml.Schema { return schema }
	return InfrastructureKinds{
		"DockerDatacenterConfig":   {Provider: "docker", Schema: get},
		"InMemoryDatacenterConfig": {Provider: "inmemory", Schema: get},
	}
}
