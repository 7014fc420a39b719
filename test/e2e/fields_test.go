package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// fieldsSpec has what can be seen on a simulated cluster.
const fieldsSpec = `apiVersion: anywhere.eks.amazonaws.com/v1alpha1
kind: Cluster
metadata:
  name: fields
spec:
  kubernetesVersion: "1.34"
  controlPlaneConfiguration:
    labels:
      node-role.kubernetes.io/management: ""
      example.org/by: kubelet
  workerNodeGroupConfigurations:
  - name: labelled
    labels:
      node-restriction.kubernetes.io/tenant: blue
    failureDomains: [rack-1]
  - name: elastic
    autoscalingConfiguration: {minCount: 2, maxCount: 5}
  machineHealthCheck: {}
  clusterNetwork:
    cniConfig: {cilium: {policyEnforcementMode: always}}
    pods: {cidrBlocks: [192.168.0.0/16]}
    services: {cidrBlocks: [10.96.0.0/12]}
  addOns:
  - name: hello
    resources: [{kind: ConfigMap, name: hello}]
  registryMirrorConfiguration: {endpoint: mirror.example.org, authenticate: true}
  datacenterRef: {kind: InMemoryDatacenterConfig, name: any}
`

// TestFieldsActOnTheCluster creates a cluster and looks at it from inside.
func TestFieldsActOnTheCluster(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "fields")
	file := filepath.Join(t.TempDir(), "fields.yaml")
	if err := os.WriteFile(file, []byte(fieldsSpec), 0o600); err != nil {
		t.Fatal(err)
	}
	refusedWithoutReferences(t, namespace, file)
	kubectl(t, shared, nil, "create", "secret", "generic", "-n", namespace, "registry-credentials", "--from-literal=username=u", "--from-literal=password=p")
	kubectl(t, shared, nil, "create", "configmap", "-n", namespace, "hello", "--from-literal=hello.yaml={apiVersion: v1, kind: ConfigMap, metadata: {name: hello, namespace: default}, data: {from: add-on}}")
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", file)

	// Labels that Cluster API carries over are there; a simulated machine has no
	// kubelet that would set the others.
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	cli(t, 0, "get", "kubeconfig", "fields", "-n", namespace, "--to", kubeconfig)
	nodesWith := map[string]int{}
	for _, node := range inside[corev1.NodeList](t, kubeconfig, "get", "nodes").Items {
		for key, value := range node.Labels {
			nodesWith[key+"="+value]++
		}
	}
	want := map[string]int{
		"node-role.kubernetes.io/control-plane=": 1, "node-role.kubernetes.io/management=": 1, "node-restriction.kubernetes.io/tenant=blue": 1,
	}
	if diff := cmp.Diff(want, nodesWith); diff != "" {
		t.Errorf("nodes by label (-want +got):\n%s", diff)
	}

	// Network plugin and add-on were applied.
	got := map[string]string{}
	for _, configMap := range inside[corev1.ConfigMapList](t, kubeconfig, "get", "configmaps", "-A").Items {
		switch configMap.Name {
		case "hello":
			got["hello"] = configMap.Data["from"]
		case "cilium-config":
			got["enable-policy"] = configMap.Data["enable-policy"]
		}
	}
	if diff := cmp.Diff(map[string]string{"hello": "add-on", "enable-policy": "always"}, got); diff != "" {
		t.Errorf("what was applied to the cluster (-want +got):\n%s", diff)
	}
	groupsAndChecks(t, namespace)

	cli(t, 0, "delete", "cluster", "fields", "-n", namespace)
	var left []string
	for _, object := range list[metav1.PartialObjectMetadata](t, shared, namespace, "configmaps,secrets,clusterresourcesets,machinehealthchecks") {
		left = append(left, object.Kind+"/"+object.Name)
	}
	if diff := cmp.Diff([]string{"ConfigMap/hello", "Secret/registry-credentials"}, left); diff != "" {
		t.Errorf("what the user made and is left (-want +got):\n%s", diff)
	}
}

// refusedWithoutReferences: what the spec needs and does not describe is asked
// for before anything is written.
func refusedWithoutReferences(t *testing.T, namespace, file string) {
	t.Helper()
	r := cli(t, 3, "create", "cluster", "-n", namespace, "-f", file)
	for _, line := range []string{
		"Secret " + namespace + "/registry-credentials does not exist; create it with username and password, for the registry mirror",
		"ConfigMap " + namespace + "/hello does not exist; create it, for add-on hello",
	} {
		if !strings.Contains(r.stderr, line+"\n") {
			t.Errorf("stderr lacks %q:\n%s", line, r.stderr)
		}
	}
	if r := cli(t, 0, "create", "cluster", "-n", namespace, "-f", file, "--dry-run=server"); !strings.Contains(r.stderr, "warning: ConfigMap "+namespace+"/hello does not exist") {
		t.Errorf("the dry run does not tell what is missing:\n%s", r.stderr)
	}
	if clusters := list[metav1.PartialObjectMetadata](t, shared, namespace, "clusters"); len(clusters) > 0 {
		t.Errorf("a cluster was made all the same: %v", clusters)
	}
}

// groupsAndChecks compares what Cluster API made of groups and health checks.
func groupsAndChecks(t *testing.T, namespace string) {
	t.Helper()
	type group struct {
		Machines        int32
		Failure         string
		Autoscaler      [2]string
		HealthCheckedOf int32
	}
	checks := map[string]int32{}
	for name, machines := range map[string]string{"fields-control-plane": "1", "fields-labelled": "1", "fields-elastic": "2"} {
		kubectl(t, shared, nil, "wait", "-n", namespace, "machinehealthcheck/"+name, "--for=jsonpath={.status.expectedMachines}="+machines, "--timeout=30s")
	}
	for _, check := range list[clusterv1.MachineHealthCheck](t, shared, namespace, "machinehealthchecks") {
		checks[check.Name] = *check.Status.ExpectedMachines
	}
	got := map[string]group{"fields-control-plane": {HealthCheckedOf: checks["fields-control-plane"]}}
	for _, deployment := range list[clusterv1.MachineDeployment](t, shared, namespace, "machinedeployments") {
		got[deployment.Name] = group{
			Machines:        *deployment.Spec.Replicas,
			Failure:         deployment.Spec.Template.Spec.FailureDomain,
			Autoscaler:      [2]string{deployment.Annotations[clusterv1.AutoscalerMinSizeAnnotation], deployment.Annotations[clusterv1.AutoscalerMaxSizeAnnotation]},
			HealthCheckedOf: checks[deployment.Name],
		}
	}
	want := map[string]group{
		"fields-control-plane": {HealthCheckedOf: 1},
		"fields-labelled":      {Machines: 1, Failure: "rack-1", HealthCheckedOf: 1},
		"fields-elastic":       {Machines: 2, Autoscaler: [2]string{"2", "5"}, HealthCheckedOf: 2},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}

// inside reads a list of objects from the cluster itself.
func inside[T any](t *testing.T, kubeconfig string, args ...string) T {
	t.Helper()
	r := execute(t.Context(), nil, everyone.environment(), everyone.kubectl, append([]string{"--kubeconfig", kubeconfig, "-o", "json"}, args...)...)
	if r.code != 0 {
		t.Fatalf("kubectl %s: %s", strings.Join(args, " "), r.stderr)
	}
	var objects T
	if err := json.Unmarshal([]byte(r.stdout), &objects); err != nil {
		t.Fatal(err)
	}
	return objects
}
