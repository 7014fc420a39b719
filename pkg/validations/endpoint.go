package validations

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// endpoint returns what is wrong with where the API server is to be reached, in the fields
// of the control plane at a path.
func endpoint(cluster *v1alpha1.Cluster, known providers.Set, path *field.Path) field.ErrorList {
	config, provider := cluster.Spec.ControlPlaneConfiguration, known.Of(cluster)
	given, at := config.APIEndpoint(), path.Child("endpoint", "host")
	skip := path.Child("skipLoadBalancerDeployment")
	switch source := provider.Spec.Endpoint; {
	case !provider.Known() && cluster.Spec.ClusterClass == nil:
		return nil // an unknown provider is a problem of its own
	case !provider.Known():
		return fieldsOfOthers(config, "the ClusterClass says where the API server is reached; remove it, and give the variable of the class, if it has one", at, skip)
	case source == "" || source == providers.EndpointOfProvider:
		return fieldsOfOthers(config, fmt.Sprintf("provider %s chooses the endpoint, and has a load balancer if it needs one; remove it", provider.Name), at, skip)
	case given == nil && source == providers.EndpointOfSpec:
		return field.ErrorList{field.Required(at, "an IP address in the network of the machines that none of them has, such as 10.0.0.5")}
	case given == nil && config.SkipLoadBalancerDeployment:
		return field.ErrorList{field.Forbidden(skip, "without an endpoint.host no load balancer is deployed; remove it, or add endpoint.host")}
	case given != nil && !validHost(strings.ToLower(given.Host)) && !validHostPort(strings.ToLower(given.Host)):
		return field.ErrorList{field.Invalid(at, given.Host, "must be an IP address or a DNS name, with a port behind a colon if it is not 6443, such as 10.0.0.5")}
	}
	return nil
}

// fieldsOfOthers returns the errors of fields about an endpoint that the spec does not give.
func fieldsOfOthers(config v1alpha1.ControlPlaneConfiguration, remedy string, endpoint, skip *field.Path) field.ErrorList {
	var errs field.ErrorList
	if config.APIEndpoint() != nil {
		errs = append(errs, field.Forbidden(endpoint, remedy))
	}
	if config.SkipLoadBalancerDeployment {
		errs = append(errs, field.Forbidden(skip, remedy))
	}
	return errs
}
