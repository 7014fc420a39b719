package e2e_test

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestPinsThatClusterAPITakes: where Cluster API takes a version for a group of a
// topology, nothing is taken out of the topology. No release of it does yet, so that
// the field is added to what the API server knows; what Cluster API will do about
// it is not to be seen here.
func TestPinsThatClusterAPITakes(t *testing.T) {
	t.Parallel()
	const instance = "native"
	cli(t, 0, "management", "start", "--name", instance)
	takeVersions(t, instance)
	on := func(code int, args ...string) result { return cli(t, code, append(args, "--name", instance)...) }
	kubectl(t, instance, []byte(on(0, "generate", "clusterclass", "--provider", "inmemory").stdout), "apply", "-f", "-")
	spec := clusterSpec{name: "native", version: "1.34", class: "name: inmemory", groups: []groupSpec{{name: "md-0"}, {name: "md-1"}}}
	on(0, "create", "cluster", "-f", spec.path(t))
	before := names(t, instance, "default", "native")

	spec.groups[1].version = "1.34"
	file := spec.path(t)
	assertPlan(t, decodePlan(t, on(0, "plan", "upgrade", "-f", file, "-o", "json").stdout), "Detach md-1 v1.34.4->v1.34.4")
	on(0, "upgrade", "cluster", "-f", file)
	assertEntries(t, instance, map[string]string{"md-0": "", "md-1": "v1.34.4"})
	assertPlan(t, decodePlan(t, on(0, "plan", "upgrade", "-f", file, "-o", "json").stdout))
	assertSame(t, before, names(t, instance, "default", "native"))

	spec.groups[1].version = ""
	file = spec.path(t)
	assertPlan(t, decodePlan(t, on(0, "plan", "upgrade", "-f", file, "-o", "json").stdout), "Return md-1 v1.34.4->v1.34.4")
	on(0, "upgrade", "cluster", "-f", file)
	assertEntries(t, instance, map[string]string{"md-0": "", "md-1": ""})
	assertPlan(t, decodePlan(t, on(0, "plan", "upgrade", "-f", file, "-o", "json").stdout))
	assertSame(t, before, names(t, instance, "default", "native"))
}

// takeVersions adds the field to the schema of Clusters.
func takeVersions(t *testing.T, instance string) {
	t.Helper()
	crd := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(kubectl(t, instance, nil, "get", "crd", "clusters.cluster.x-k8s.io", "-o", "json")), &crd.Object); err != nil {
		t.Fatal(err)
	}
	versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range versions {
		path := []string{"schema", "openAPIV3Schema", "properties", "spec", "properties", "topology", "properties", "workers", "properties", "machineDeployments", "items", "properties", "version"}
		if err := unstructured.SetNestedMap(version.(map[string]any), map[string]any{"type": "string"}, path...); err != nil {
			t.Fatal(err)
		}
	}
	if err := unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions"); err != nil {
		t.Fatal(err)
	}
	unstructured.RemoveNestedField(crd.Object, "status")
	data, err := json.Marshal(crd.Object)
	if err != nil {
		t.Fatal(err)
	}
	kubectl(t, instance, data, "replace", "-f", "-")
}

// assertEntries compares the versions of the groups in a topology.
func assertEntries(t *testing.T, instance string, want map[string]string) {
	t.Helper()
	var cluster struct {
		Spec struct {
			Topology struct {
				Workers struct {
					MachineDeployments []struct{ Name, Version string }
				}
			}
			Paused bool
		}
	}
	if err := json.Unmarshal([]byte(kubectl(t, instance, nil, "get", "cluster", "native", "-o", "json")), &cluster); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, entry := range cluster.Spec.Topology.Workers.MachineDeployments {
		got[entry.Name] = entry.Version
	}
	assertSame(t, want, got)
}
