package v1alpha1_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

const withMachines = `apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata: {name: prod}
spec:
  kubernetesVersion: "1.34"
  controlPlaneConfiguration: {machineGroupRef: {kind: ClusterAPIMachineConfig, name: a}}
  workerNodeGroupConfigurations:
  - {name: md-0, machineGroupRef: {kind: ClusterAPIMachineConfig, name: b}}
  datacenterRef: {kind: ClusterAPIDatacenterConfig, name: prod}
---
apiVersion: clusterctl-x.io/v1alpha1
kind: ClusterAPIDatacenterConfig
metadata: {name: prod}
spec: {infrastructureCluster: {apiVersion: example.com/v1, kind: ACluster}}
---
apiVersion: clusterctl-x.io/v1alpha1
kind: ClusterAPIMachineConfig
metadata: {name: a}
spec: {machineTemplate: {apiVersion: example.com/v1, kind: AMachineTemplate, spec: {script: "a\nb\n", cpus: 4, share: 1.5, on: true}}}
---
apiVersion: clusterctl-x.io/v1alpha1
kind: ClusterAPIMachineConfig
metadata: {name: b}
spec: {machineTemplate: {apiVersion: example.com/v1, kind: AMachineTemplate}}
`

// TestAttachMachines: each part names a document, and each document is named.
func TestAttachMachines(t *testing.T) {
	t.Parallel()
	missing := func(line, path, name string) []string {
		return []string{"cluster.yaml:" + line + ": " + path + ".name: Invalid value: \"" + name + "\": the file has no ClusterAPIMachineConfig of this name; add it ('clusterctl-x explain ClusterAPIMachineConfig'), or correct the reference"}
	}
	const group = "spec.workerNodeGroupConfigurations[0].machineGroupRef"
	for name, test := range map[string]struct {
		old, replacement string
		want             []string
	}{
		"as it is":             {"", "", nil},
		"one for both":         {"name: b}}", "name: a}}", []string{"warning: cluster.yaml:23: metadata.name: no machineGroupRef of the cluster names this ClusterAPIMachineConfig: it has no effect; add the reference, or remove the document"}},
		"no reference":         {", machineGroupRef: {kind: ClusterAPIMachineConfig, name: b}", "", []string{"cluster.yaml:8: " + group + ": Required value: the kind and name of the ClusterAPIMachineConfig that describes the machines", "warning: cluster.yaml:23: metadata.name: no machineGroupRef of the cluster names this ClusterAPIMachineConfig: it has no effect; add the reference, or remove the document"}},
		"to one that is not":   {"metadata: {name: b}", "metadata: {name: c}", append(missing("8", group, "b"), "warning: cluster.yaml:23: metadata.name: no machineGroupRef of the cluster names this ClusterAPIMachineConfig: it has no effect; add the reference, or remove the document")},
		"of another kind":      {"{kind: ClusterAPIMachineConfig, name: b}", "{kind: OIDCConfig, name: b}", []string{"cluster.yaml:8: " + group + `.kind: Unsupported value: "OIDCConfig": supported values: "ClusterAPIMachineConfig"`, "warning: cluster.yaml:23: metadata.name: no machineGroupRef of the cluster names this ClusterAPIMachineConfig: it has no effect; add the reference, or remove the document"}},
		"without a name":       {"{kind: ClusterAPIMachineConfig, name: b}", "{kind: ClusterAPIMachineConfig}", []string{"cluster.yaml:8: " + group + ".name: Required value: the name of a document of kind ClusterAPIMachineConfig", "warning: cluster.yaml:23: metadata.name: no machineGroupRef of the cluster names this ClusterAPIMachineConfig: it has no effect; add the reference, or remove the document"}},
		"two of one name":      {"metadata: {name: b}", "metadata: {name: a}", append(missing("8", group, "b"), `cluster.yaml:21: metadata.name: Duplicate value: "a": the document on line 16 has this kind and name already; give each a name of its own`)},
		"no datacenter":        {"kind: ClusterAPIDatacenterConfig\nmetadata: {name: prod}\n", "kind: ClusterAPIDatacenterConfig\nmetadata: {name: test}\n", []string{`cluster.yaml:13: metadata.name: Invalid value: "test": spec.datacenterRef of the cluster names "prod"; use one name for both`}},
		"what must be there":   {"kind: AMachineTemplate}", "kind: Machine}", []string{`cluster.yaml:24: spec.machineTemplate.kind: Invalid value: "Machine": should match '^[A-Z][A-Za-z0-9]*Template$'`}},
		"what is missing":      {"spec: {machineTemplate: {apiVersion: example.com/v1, kind: AMachineTemplate}}", "spec: {}", []string{"cluster.yaml:24: spec.machineTemplate: Required value: machineTemplate is the template that machines are made from"}},
		"an unknown field":     {"kind: AMachineTemplate}}", "kind: AMachineTemplate}, image: []}", []string{"cluster.yaml:24: spec.image: Forbidden: unknown field; did you mean images?"}},
		"another of its types": {"kind: AMachineTemplate}}", "kind: AMachineTemplate}, images: {}}", []string{"cluster.yaml:24: spec.images: Invalid value: \"a mapping\": must be a list"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(withMachines, test.old, test.replacement, 1)
			config := providers.BuiltIn().Decode("cluster.yaml", []byte(text))
			var got []string
			for _, problem := range config.Problems {
				got = append(got, problem.String())
			}
			for _, warning := range config.Warnings {
				got = append(got, "warning: "+warning.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("problems and warnings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMachinesAsJSON: values without a type of ours are of the types of unstructured objects.
func TestMachinesAsJSON(t *testing.T) {
	t.Parallel()
	config := providers.BuiltIn().Decode("cluster.yaml", []byte(withMachines))
	want := map[string]any{"machineTemplate": map[string]any{
		"apiVersion": "example.com/v1", "kind": "AMachineTemplate", "spec": map[string]any{"script": "a\nb\n", "cpus": int64(4), "share": 1.5, "on": true},
	}}
	if diff := cmp.Diff(want, config.Machines[*config.Cluster.Spec.ControlPlaneConfiguration.MachineGroupRef].Spec); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
}
