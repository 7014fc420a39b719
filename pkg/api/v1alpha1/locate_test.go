package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// TestLocateTellsSiblings: of the errors about a file with a mistake, those
// about it and what is below it are left out, and all others stay.
func TestLocateTellsSiblings(t *testing.T) {
	t.Parallel()
	groups := func(text string) string { return minimal + "  workerNodeGroupConfigurations:\n" + text }
	const group = "spec.workerNodeGroupConfigurations"
	tests := map[string]struct {
		text  string
		kind  string
		told  []string // paths, in their order
		after []string // those that follow from the mistake
	}{
		"misspelt field": {
			with("kubernetesVersion", "kubernetesVerison"), v1alpha1.ClusterKind,
			[]string{"", "spec", "spec.kubernetesVersions", "spec.datacenterRef.kubernetesVersion", "metadata.name", "kubernetesVersion"},
			[]string{"spec.kubernetesVersion", "spec.kubernetesVerison", "spec.kubernetesVersion.minor", "spec.kubernetesVersion[0]"},
		},
		"misspelt field of an item": {
			groups("  - naem: a\n  - name: b\n"), v1alpha1.ClusterKind,
			[]string{group, group + "[0]", group + "[0].count", group + "[1].name"},
			[]string{group + "[0].name", group + "[0].naem"},
		},
		"field like no other": {
			with("metadata:\n", "metadata:\n  color: red\n"), v1alpha1.ClusterKind,
			[]string{"metadata", "metadata.name", "metadata.namespace"}, []string{"metadata.color", "metadata.color.red"},
		},
		"wrong type": {
			minimal + "  controlPlaneConfiguration: [1]\n", v1alpha1.ClusterKind,
			[]string{"spec", "spec.controlPlaneConfigurations", "spec.datacenterRef"},
			[]string{"spec.controlPlaneConfiguration", "spec.controlPlaneConfiguration.count", "spec.controlPlaneConfiguration.labels[a]", "spec.controlPlaneConfiguration[0]"},
		},
		"wrong type of an item": {
			groups("  - name: a\n  - b\n  - name: c\n"), v1alpha1.ClusterKind,
			[]string{group, group + "[0]", group + "[2].name", group + "[10]"}, []string{group + "[1]", group + "[1].name", group + "[1].labels[a]"},
		},
		"null as an item": {
			groups("  - name: a\n  -\n"), v1alpha1.ClusterKind,
			[]string{group, group + "[0].name", group + "[2]"}, []string{group + "[1]", group + "[1].name"},
		},
		"value of a key": {
			minimal + "  controlPlaneConfiguration: {labels: {a: 1, b.c: 2, d: e}}\n", v1alpha1.ClusterKind,
			[]string{"spec.controlPlaneConfiguration.labels", "spec.controlPlaneConfiguration.labels[d]"},
			[]string{"spec.controlPlaneConfiguration.labels[a]", `spec.controlPlaneConfiguration.labels["b.c"]`},
		},
		"value of another program": {
			minimal + "  controlPlaneConfiguration: {kubeletConfiguration: {a: {b: 2026-01-02, c: d}, \"e.f\": .inf}}\n", v1alpha1.ClusterKind,
			[]string{"spec.controlPlaneConfiguration.kubeletConfiguration", "spec.controlPlaneConfiguration.kubeletConfiguration.a", "spec.controlPlaneConfiguration.kubeletConfiguration.a.c"},
			[]string{"spec.controlPlaneConfiguration.kubeletConfiguration.a.b", `spec.controlPlaneConfiguration.kubeletConfiguration."e.f"`},
		},
		"field of EKS Anywhere": {
			minimal + "  externalEtcdConfiguration: {machineGroupRef: {kind: a}}\n", v1alpha1.ClusterKind,
			[]string{"spec.externalEtcdConfiguration", "spec.externalEtcdConfiguration.count"}, []string{"spec.externalEtcdConfiguration.machineGroupRef.kind"},
		},
		"another document": {
			minimal + inMemoryDocument + "spec: {machineStartup: soon, nodeStartup: 1s}\n", "InMemoryDatacenterConfig",
			[]string{"", "metadata.name", "spec", "spec.nodeStartup"}, []string{"spec.machineStartup"},
		},
		"the mistake is in another document": {
			minimal + inMemoryDocument + "spec: soon\n", v1alpha1.ClusterKind, []string{"spec", "spec.machineStartup"}, nil,
		},
		"a warning is no mistake": {
			minimal + "  bundlesRef: {name: a}\nstatus: {}\n", v1alpha1.ClusterKind, []string{"spec.bundlesRef", "spec.bundlesRef.name", "status", "spec"}, nil,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := devProviders().Decode("cluster.yaml", []byte(test.text))
			var errs field.ErrorList
			for _, path := range append(append([]string{}, test.told...), test.after...) {
				errs = append(errs, &field.Error{Type: field.ErrorTypeRequired, Field: path})
			}
			var told []string
			for _, problem := range config.Locate(test.kind, errs) {
				told = append(told, problem.Err.Field)
			}
			if diff := cmp.Diff(test.told, told); diff != "" {
				t.Errorf("errors that are told (-want +got):\n%s", diff)
			}
			if len(errs) != len(test.told)+len(test.after) || errs[0].Field != test.told[0] {
				t.Errorf("Locate changed its argument: %v", errs)
			}
		})
	}
}

// TestLocate finds the lines of fields that are there, and of what contains
// those that are not.
func TestLocate(t *testing.T) {
	t.Parallel()
	config := devProviders().Decode("cluster.yaml", []byte("# comment\n"+minimal+`  workerNodeGroupConfigurations:
  - &group
    name: a
    count: 2
  - kubernetesVersion:
      1.34
  - *group
`+"---\napiVersion: clusterctl-x.io/v1alpha1\nkind: InMemoryDatacenterConfig\nmetadata:\n  name: prod\n"))
	if err := config.Problems.OrNil(); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		kind string
		want int
	}{
		"":                       {v1alpha1.ClusterKind, 2},
		"status":                 {v1alpha1.ClusterKind, 2},
		"metadata.name":          {v1alpha1.ClusterKind, 5},
		"metadata.namespace":     {v1alpha1.ClusterKind, 4},
		"spec.clusterNetwork":    {v1alpha1.ClusterKind, 8},
		"spec.managementCluster": {v1alpha1.ClusterKind, 6},
		"spec.clusterNetwork.services.cidrBlocks[0]":              {v1alpha1.ClusterKind, 12},
		"spec.clusterNetwork.services.cidrBlocks[1]":              {v1alpha1.ClusterKind, 12},
		"spec.workerNodeGroupConfigurations":                      {v1alpha1.ClusterKind, 16},
		"spec.workerNodeGroupConfigurations[0].count":             {v1alpha1.ClusterKind, 19},
		"spec.workerNodeGroupConfigurations[1].name":              {v1alpha1.ClusterKind, 20},
		"spec.workerNodeGroupConfigurations[1].kubernetesVersion": {v1alpha1.ClusterKind, 20},
		"spec.workerNodeGroupConfigurations[2]":                   {v1alpha1.ClusterKind, 22},
		"spec.workerNodeGroupConfigurations[2].kubernetesVersion": {v1alpha1.ClusterKind, 22},
		"metadata":         {"InMemoryDatacenterConfig", 26},
		"spec.nodeStartup": {"InMemoryDatacenterConfig", 24},
	}
	for path, test := range tests {
		t.Run(test.kind+" "+path, func(t *testing.T) {
			t.Parallel()
			err := &field.Error{Type: field.ErrorTypeForbidden, Field: path, Detail: "detail"}
			want := strictyaml.Problems{{File: "cluster.yaml", Line: test.want, Err: err}}
			if diff := cmp.Diff(want, config.Locate(test.kind, field.ErrorList{err})); diff != "" {
				t.Errorf("problem (-want +got):\n%s", diff)
			}
			wantWarnings := []strictyaml.Warning{{File: "cluster.yaml", Line: test.want, Path: path, Text: "text"}}
			if diff := cmp.Diff(wantWarnings, config.LocateWarnings(test.kind, []strictyaml.Warning{{Path: path, Text: "text"}})); diff != "" {
				t.Errorf("warning (-want +got):\n%s", diff)
			}
		})
	}
}
