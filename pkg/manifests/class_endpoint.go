package manifests

import (
	"fmt"
	"net/netip"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// variableEndpoint is the host of the API server of a cluster, where the provider does not
// choose it.
const variableEndpoint = "endpointHost"

// Placeholders for the host: kube-vip is set up for an address of one version.
const (
	hostIPv4 = "255.254.253.252"
	hostIPv6 = "2001:db8:fe:fd:fc:fb:fa:f9"
	hostName = "host-of-the-endpoint.invalid"
)

// placeholders are the texts in a rendered cluster that stand for what each cluster of a
// class has of its own, with the value that it has.
func placeholders() map[string]string {
	return map[string]string{nameOfCluster: ".builtin.cluster.name", hostIPv4: "." + variableEndpoint, hostIPv6: "." + variableEndpoint, hostName: "." + variableEndpoint}
}

// ofEachCluster reports whether each cluster of a class has another value.
func ofEachCluster(value string) bool {
	for text := range placeholders() {
		if strings.Contains(value, text) {
			return true
		}
	}
	return false
}

// readEndpoint returns the endpoint that the spec of the documents gives, with a placeholder
// for its host, which becomes a variable; nil where it gives none.
func (m *classMaker) readEndpoint() (*v1alpha1.Endpoint, error) {
	if m.Documents == nil {
		return nil, nil
	}
	given := m.Documents.Cluster.Spec.ControlPlaneConfiguration.APIEndpoint()
	if given == nil {
		return nil, nil
	}
	host, port := given.HostPort()
	schema := clusterv1.JSONSchemaProps{Type: "string", Description: "Host that the API server of the cluster is reached at: an address in the network of the machines that none of them has."}
	endpoint := &v1alpha1.Endpoint{}
	switch address, err := netip.ParseAddr(host); {
	case err != nil:
		endpoint.Host, schema.Format = hostName, "hostname"
	case address.Is6():
		endpoint.Host, schema.Format = hostIPv6, "ipv6"
	default:
		endpoint.Host, schema.Format = hostIPv4, "ipv4"
	}
	if _, usual := endpoint.HostPort(); port != usual {
		if m.Documents.Cluster.Spec.ControlPlaneConfiguration.AnnouncesEndpoint() {
			return nil, fmt.Errorf("the endpoint of the file has port %d, at which the machines of a cluster from a class have no API server; use port %d, or a load balancer with skipLoadBalancerDeployment", port, usual)
		}
		if strings.Contains(endpoint.Host, ":") {
			endpoint.Host = "[" + endpoint.Host + "]"
		}
		endpoint.Host = fmt.Sprintf("%s:%d", endpoint.Host, port)
	}
	m.variables = append(m.variables, clusterv1.ClusterClassVariable{Name: variableEndpoint, Required: new(true), Schema: clusterv1.VariableSchema{OpenAPIV3Schema: schema}})
	return endpoint, nil
}
