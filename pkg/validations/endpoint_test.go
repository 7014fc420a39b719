package validations_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// TestSpecEndpoint: the endpoint belongs to whom the provider says.
func TestSpecEndpoint(t *testing.T) {
	t.Parallel()
	const path = "spec.controlPlaneConfiguration."
	const format = "must be an IP address or a DNS name, with a port behind a colon if it is not 6443, such as 10.0.0.5"
	for name, test := range map[string]struct {
		source providers.EndpointSource
		host   string
		skip   bool
		want   []string
	}{
		"address":                 {providers.EndpointOfSpec, "10.0.0.5", false, nil},
		"address and port":        {providers.EndpointOfSpec, "10.0.0.5:8443", false, nil},
		"IPv6":                    {providers.EndpointOfSpec, "fd00::5", false, nil},
		"IPv6 and port":           {providers.EndpointOfSpec, "[fd00::5]:8443", false, nil},
		"name and port":           {providers.EndpointOfEither, "api.example.com:443", true, nil},
		"capital letters":         {providers.EndpointOfSpec, "API.Example.com", false, nil},
		"none where it may be":    {providers.EndpointOfEither, "", false, nil},
		"none where it must be":   {providers.EndpointOfSpec, "", false, []string{path + "endpoint.host: Required value: an IP address in the network of the machines that none of them has, such as 10.0.0.5"}},
		"no host":                 {providers.EndpointOfSpec, "a b", false, []string{path + `endpoint.host: Invalid value: "a b": ` + format}},
		"no port":                 {providers.EndpointOfEither, "10.0.0.5:0", false, []string{path + `endpoint.host: Invalid value: "10.0.0.5:0": ` + format}},
		"nothing to leave out":    {providers.EndpointOfEither, "", true, []string{path + "skipLoadBalancerDeployment: Forbidden: without an endpoint.host no load balancer is deployed; remove it, or add endpoint.host"}},
		"provider's choice":       {"", "", false, nil},
		"against the provider":    {"", "10.0.0.5", false, []string{path + "endpoint.host: Forbidden: provider example chooses the endpoint, and has a load balancer if it needs one; remove it"}},
		"no deployment to be not": {providers.EndpointOfProvider, "", true, []string{path + "skipLoadBalancerDeployment: Forbidden: provider example chooses the endpoint, and has a load balancer if it needs one; remove it"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			known := providers.Set{"example": {Name: "example", Spec: providers.Spec{Datacenter: providers.Document{Kind: "ExampleDatacenterConfig"}, Endpoint: test.source}}}
			cluster := valid(func(c *v1alpha1.Cluster) {
				c.Spec.DatacenterRef.Kind = "ExampleDatacenterConfig"
				c.Spec.ControlPlaneConfiguration.Endpoint = &v1alpha1.Endpoint{Host: test.host}
				c.Spec.ControlPlaneConfiguration.SkipLoadBalancerDeployment = test.skip
			})
			if diff := cmp.Diff(test.want, printed(validations.Spec(cluster, known))); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSpecEndpointOfClass: a class of one's own says where the API server is reached.
func TestSpecEndpointOfClass(t *testing.T) {
	t.Parallel()
	testSpec(t, map[string]specTest{
		"given": {func(c *v1alpha1.Cluster) {
			c.Spec.DatacenterRef, c.Spec.ClusterClass = v1alpha1.Ref{}, &v1alpha1.ClusterClass{Name: "own"}
			c.Spec.ControlPlaneConfiguration.Endpoint = &v1alpha1.Endpoint{Host: "10.0.0.5"}
		}, []string{"spec.controlPlaneConfiguration.endpoint.host: Forbidden: the ClusterClass says where the API server is reached; remove it, and give the variable of the class, if it has one"}},
	})
}
