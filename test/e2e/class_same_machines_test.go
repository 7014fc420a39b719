package e2e_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// fullSpec has fields of every kind that ends in a machine.
func fullSpec() clusterSpec {
	const machines = `kubeletConfiguration: {maxPods: 50, evictionHard: {memory.available: 5%}}
    taints: [{key: example.org/batch, value: nightly, effect: PreferNoSchedule}]`
	return clusterSpec{
		name: "same", version: "1.34.1",
		groups: []groupSpec{
			{name: "md-0", labels: map[string]string{"node-restriction.kubernetes.io/tenant": "blue"}, more: machines + "\n    annotations: {example.org/contact: team-b}\n    failureDomains: [rack-1]"},
			{name: "md-1", labels: map[string]string{"example.org/part": "workers"}, more: "machineDeletion: {nodeDrainTimeout: 10m}"},
		},
		more: `  proxyConfiguration: {httpProxy: proxy.example.org:3128, httpsProxy: proxy.example.org:3128, noProxy: [.example.org]}
  registryMirrorConfiguration: {endpoint: mirror.example.org}
  controlPlaneConfiguration:
    count: 1
    labels: {node-role.kubernetes.io/management: "", example.org/by: kubelet}
    annotations: {example.org/contact: team-a}
    ` + machines + `
    certSans: [api.example.org]
    apiServerExtraArgs: {max-requests-inflight: "800"}
    auditPolicyContent: "{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Metadata}]}"
    machineDeletion: {nodeDrainTimeout: 5m}
  datacenterRef: {kind: InMemoryDatacenterConfig, name: slow}
`,
		documents: "---\napiVersion: clusterctl-x.io/v1alpha1\nkind: InMemoryDatacenterConfig\nmetadata: {name: slow}\nspec: {machineStartup: 1s, nodeStartup: 2s, apiServerStartup: 3s, etcdStartup: 4s}\n",
	}
}

// TestSameMachinesWithAndWithoutClass creates one spec without a ClusterClass and
// with one: Cluster API makes machines with the same content.
func TestSameMachinesWithAndWithoutClass(t *testing.T) {
	t.Parallel()
	classic, managed := newNamespace(t, shared, "same-classic"), applyClass(t, "same-managed")
	spec := fullSpec()
	cli(t, 0, "create", "cluster", "-n", classic, "-f", spec.path(t), "--wait=false")
	spec.class = "name: inmemory"
	cli(t, 0, "create", "cluster", "-n", managed, "-f", spec.path(t), "--wait=false")
	for _, namespace := range []string{classic, managed} {
		cli(t, 0, "watch", "cluster", "same", "-n", namespace)
	}
	want := machineContent(t, classic)
	if len(want) != 9 { // three machines, each with a KubeadmConfig and a DevMachine
		t.Fatalf("there are %d objects: %v", len(want), want)
	}
	if diff := cmp.Diff(want, machineContent(t, managed)); diff != "" {
		t.Errorf("content of machines (-without +with a class):\n%s", diff)
	}
}

// machineContent maps the kinds of objects that machines consist of, and the
// parts that they belong to, to what is in them, without names of others.
func machineContent(t *testing.T, namespace string) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, object := range list[unstructured.Unstructured](t, shared, namespace, "machines,kubeadmconfigs,devmachines") {
		part := object.GetLabels()[v1alpha1.WorkerNodeGroupLabel]
		if _, is := object.GetLabels()[clusterv1.MachineControlPlaneLabel]; is {
			part = controlPlane
		}
		for _, path := range [][]string{
			{"bootstrap"}, {"infrastructureRef"}, {"providerID"}, // of Machines and DevMachines
			{"clusterConfiguration", "controlPlaneEndpoint"}, // has the port
			{"joinConfiguration", "discovery"},               // has the token
		} {
			unstructured.RemoveNestedField(object.Object, append([]string{"spec"}, path...)...)
		}
		all[object.GetKind()+" of "+part] = map[string]any{
			"spec": object.Object["spec"], "labels": carried(object.GetLabels()), "annotations": carried(object.GetAnnotations()),
		}
	}
	return all
}

// carried are the labels or annotations that are not Cluster API's own.
func carried(all map[string]string) map[string]string {
	for name := range all {
		if domain, _, _ := strings.Cut(name, "/"); domain == "cluster.x-k8s.io" || strings.HasSuffix(domain, ".cluster.x-k8s.io") {
			delete(all, name)
		}
	}
	delete(all, clusterv1.MachineDeploymentUniqueLabel) // a hash, names of templates included
	return all
}
