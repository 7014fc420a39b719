package e2e_test

import "testing"

// TestAnyInfrastructure: a cluster whose documents carry the in-memory kinds of Cluster API's
// dev provider is created and upgraded as one of provider inmemory is, which makes the same
// kinds by itself, and an observer finds nothing wrong.
func TestAnyInfrastructure(t *testing.T) {
	t.Parallel()
	const ref = "machineGroupRef: {kind: ClusterAPIMachineConfig, name: "
	groups := []groupSpec{{name: "follows"}, {name: "pinned", version: "1.32"}}
	carried := []groupSpec{{name: "follows", more: ref + "workers}"}, {name: "pinned", version: "1.32", more: ref + "workers}"}}
	for name, spec := range map[string]clusterSpec{
		"in-memory": {groups: groups, more: "  controlPlaneConfiguration: {count: 3}\n"},
		"carried": {groups: carried, documents: carriedObjects, more: "  controlPlaneConfiguration: {count: 3, " + ref + "control-plane}}\n" +
			"  datacenterRef: {kind: ClusterAPIDatacenterConfig, name: any}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := newNamespace(t, shared, "any-"+name)
			spec.name, spec.version = "any", "1.32"
			cli(t, 0, "create", "cluster", "-n", namespace, "-f", spec.path(t))
			cp := "control-plane v1.32.13"
			assertMachines(t, shared, namespace, "any", cp, cp, cp, "follows v1.32.13", "pinned v1.32.13")

			spec.version = "1.34"
			assertPlan(t, upgradeAsPlanned(t, namespace, "any", spec.path(t)),
				"ControlPlane v1.32.13->v1.33.13",
				"ControlPlane v1.33.13->v1.34.4",
				"Workers follows v1.32.13->v1.34.4",
			)
			cp = "control-plane v1.34.4"
			assertMachines(t, shared, namespace, "any", cp, cp, cp, "follows v1.34.4", "pinned v1.32.13")
			assertNoUnusedTemplates(t, namespace)

			cli(t, 0, "delete", "cluster", "any", "-n", namespace)
			assertNothingLeft(t, namespace)
		})
	}
}

// carriedObjects are what provider inmemory makes, written by hand, with something of its own
// for each version of the control plane.
const carriedObjects = `---
apiVersion: clusterctl-x.io/v1alpha1
kind: ClusterAPIDatacenterConfig
metadata: {name: any}
spec:
  infrastructureCluster:
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
    kind: DevCluster
    annotations: {example.com/team: platform}
    spec: {backend: {inMemory: {}}}
  controlPlane:
    annotations: {controlplane.cluster.x-k8s.io/skip-coredns: ""}
---
apiVersion: clusterctl-x.io/v1alpha1
kind: ClusterAPIMachineConfig
metadata: {name: control-plane}
spec:
  machineTemplate:
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
    kind: DevMachineTemplate
    spec: {backend: {inMemory: {}}}
  images:
  - {kubernetesVersion: "1.32", spec: {backend: {inMemory: {vm: {provisioning: {startupDuration: 1s}}}}}}
  - {kubernetesVersion: "1.33", spec: {backend: {inMemory: {vm: {provisioning: {startupDuration: 2s}}}}}}
  - {kubernetesVersion: "1.34", spec: {backend: {inMemory: {vm: {provisioning: {startupDuration: 3s}}}}}}
---
apiVersion: clusterctl-x.io/v1alpha1
kind: ClusterAPIMachineConfig
metadata: {name: workers}
spec:
  machineTemplate:
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
    kind: DevMachineTemplate
    spec: {backend: {inMemory: {}}}
`
