package topology_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
)

// TestVariables: values with the defaults of the class are told apart, and so are
// those that it requires; a part's own value is neither.
func TestVariables(t *testing.T) {
	t.Parallel()
	definition := func(name string, required bool, fallback string) clusterv1.ClusterClassVariable {
		v := clusterv1.ClusterClassVariable{Name: name, Required: new(required)}
		v.Schema.OpenAPIV3Schema.Type = "object"
		if fallback != "" {
			v.Schema.OpenAPIV3Schema.Default = &apiextensionsv1.JSON{Raw: []byte(fallback)}
		}
		return v
	}
	class := &clusterv1.ClusterClass{}
	class.Spec.Variables = []clusterv1.ClusterClassVariable{definition("size", false, `{"a":1,"b":2}`), definition("region", true, ""), definition("tier", true, `"x"`)}
	// Those of runtime extensions are known from the status only.
	external := clusterv1.ClusterClassStatusVariable{Name: "proxy", Definitions: []clusterv1.ClusterClassStatusVariableDefinition{{From: "extension", Required: new(true)}}}
	gone := clusterv1.ClusterClassStatusVariable{Name: "gone", Definitions: []clusterv1.ClusterClassStatusVariableDefinition{{From: clusterv1.VariableDefinitionFromInline, Required: new(true)}}}
	class.Status.Variables = []clusterv1.ClusterClassStatusVariable{external, gone}
	value := func(name, raw string) clusterv1.ClusterVariable {
		return clusterv1.ClusterVariable{Name: name, Value: apiextensionsv1.JSON{Raw: []byte(raw)}}
	}
	cluster := &clusterv1.Cluster{}
	cluster.Spec.Topology.Variables = []clusterv1.ClusterVariable{value("tier", `"y"`), value("size", `{"b": 2, "a": 1}`), value("region", `"eu"`), value("proxy", `1`), value("gone", `1`)}
	cluster.Spec.Topology.ControlPlane.Variables.Overrides = []clusterv1.ClusterVariable{value("size", `{"a":1,"b":2}`)}
	cluster.Spec.Topology.Workers.MachineDeployments = []clusterv1.MachineDeploymentTopology{{Name: "md-0", Variables: clusterv1.MachineDeploymentVariables{Overrides: []clusterv1.ClusterVariable{value("region", `"us"`)}}}}

	want := []topology.Variable{
		{Name: "gone", Value: json.RawMessage(`1`)},
		{Name: "proxy", Value: json.RawMessage(`1`), Required: true},
		{Name: "region", Value: json.RawMessage(`"eu"`), Required: true},
		{Name: "region", Part: "md-0", Value: json.RawMessage(`"us"`)},
		{Name: "size", Value: json.RawMessage(`{"b": 2, "a": 1}`), Default: true},
		{Name: "size", Part: "control-plane", Value: json.RawMessage(`{"a":1,"b":2}`)},
		{Name: "tier", Value: json.RawMessage(`"y"`), Required: true},
	}
	if diff := cmp.Diff(want, topology.Variables(topology.WithStatus(class), cluster)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
