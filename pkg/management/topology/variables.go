package topology

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	coreadmission "sigs.k8s.io/cluster-api/core/webhooks/admission"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// Default returns the cluster with the defaults of its variables, and what is
// wrong with it for its class, as Cluster API's webhook says it: the errors name
// fields of the Cluster. old is the cluster that is there, or nil.
func Default(ctx context.Context, class *clusterv1.ClusterClass, cluster, old *clusterv1.Cluster) (*clusterv1.Cluster, field.ErrorList) {
	defaulted := cluster.DeepCopy()
	errs := (&coreadmission.Cluster{}).DefaultAndValidateVariables(ctx, defaulted, old, class)
	return defaulted, append(errs, coreadmission.ValidateClusterForClusterClass(defaulted, class)...)
}

// Variable is the value of a variable of a cluster.
type Variable struct {
	Name string `json:"name"`
	// Part that the value is for; empty for the cluster as a whole.
	Part  string          `json:"part,omitempty"`
	Value json.RawMessage `json:"value"`
	// Required is true where the class asks for a value, Default where the value is
	// the one that the class has.
	Required bool `json:"required,omitempty"`
	Default  bool `json:"default,omitempty"`
}

// Variables are the values that a cluster has of the variables of its class, in
// the order of their names, those of the cluster before those of its parts.
func Variables(class *clusterv1.ClusterClass, cluster *clusterv1.Cluster) []Variable {
	definitions := map[string]clusterv1.ClusterClassStatusVariableDefinition{}
	for _, variable := range class.Status.Variables {
		if len(variable.Definitions) > 0 {
			definitions[variable.Name] = variable.Definitions[0]
		}
	}
	var all []Variable
	add := func(part string, values []clusterv1.ClusterVariable) {
		for _, value := range values {
			definition := definitions[value.Name]
			fallback := definition.Schema.OpenAPIV3Schema.Default
			all = append(all, Variable{
				Name: value.Name, Part: part, Value: value.Value.Raw,
				Required: part == "" && definition.Required != nil && *definition.Required,
				Default:  part == "" && fallback != nil && sameJSON(fallback.Raw, value.Value.Raw),
			})
		}
	}
	given := cluster.Spec.Topology
	add("", given.Variables)
	add(v1alpha1.ControlPlaneName, given.ControlPlane.Variables.Overrides)
	for _, group := range given.Workers.MachineDeployments {
		add(group.Name, group.Variables.Overrides)
	}
	slices.SortStableFunc(all, func(a, b Variable) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
