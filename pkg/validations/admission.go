package validations

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// InfrastructureAdmission returns what the API server, or a webhook of the infrastructure
// provider, has against the infrastructure cluster or a machine template of a spec, at the
// fields of the document that the object is made from. The error is of type Refused; it is
// nil where the details are about another object.
func InfrastructureAdmission(config *v1alpha1.Config, details *metav1.StatusDetails) error {
	document, carried := documentOf(config, details)
	if document == nil {
		return nil
	}
	var errs field.ErrorList
	for _, cause := range details.Causes {
		if cause.Field == "<nil>" {
			continue // that there are other errors
		}
		err := OfCause(cause)
		err.Field = placeIn(document, carried, cause.Field)
		err.Detail += " (" + details.Kind + ")"
		errs = append(errs, err)
	}
	if len(errs) == 0 {
		return nil
	}
	return Refused{config.LocateIn(document, errs)}
}

// documentOf returns the document that an object is made from, and the field of the document
// that carries objects of any provider; nil for an object of no document.
func documentOf(config *v1alpha1.Config, details *metav1.StatusDetails) (document *v1alpha1.InfrastructureConfig, carried string) {
	cluster := config.Cluster
	if config.Datacenter == nil || details.Kind == "Cluster" || details.Kind == "KubeadmControlPlane" {
		return nil, ""
	}
	if details.Name == cluster.Metadata.Name {
		return config.Datacenter, "infrastructureCluster"
	}
	refs := map[string]*v1alpha1.Ref{v1alpha1.ControlPlaneName: cluster.Spec.ControlPlaneConfiguration.MachineGroupRef}
	for _, group := range cluster.Spec.WorkerNodeGroupConfigurations {
		refs[group.Name] = group.MachineGroupRef
	}
	part, hashed := strings.CutPrefix(details.Name, cluster.Metadata.Name+"-")
	end := strings.LastIndex(part, "-")
	if !hashed || end < 0 || details.Kind == "KubeadmConfigTemplate" || refs[part[:end]] == nil {
		return nil, ""
	}
	return config.Machines[*refs[part[:end]]], "machineTemplate"
}

// placeIn returns the path in a document of a field of the object that is made from it. Some
// webhooks name fields of machine templates as those of machines.
func placeIn(document *v1alpha1.InfrastructureConfig, carried, path string) string {
	rest := strings.TrimPrefix(strings.TrimPrefix(path, "spec"), ".template.spec")
	if _, generic := document.Complete[carried]; generic {
		return "spec." + carried + ".spec" + rest
	}
	return "spec" + rest
}
