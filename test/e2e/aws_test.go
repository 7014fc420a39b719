package e2e_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestAWS has AWS's own schemas and webhooks check what provider aws writes, and takes a
// cluster through its life, with simulated machines.
func TestAWS(t *testing.T) {
	t.Parallel()
	const instance = "aws"
	startProviderWebhooks(t, instance)
	const group = "infrastructure.cluster.x-k8s.io/v1beta2/"
	startSimulator(t, instance, playedKinds{cluster: group + "AWSCluster", machine: group + "AWSMachine"})
	newNamespace(t, instance, "fleet") // that of the golden file
	t.Run("refused", func(t *testing.T) { assertAWSRefuses(t, instance) })
	t.Run("life", func(t *testing.T) { assertAWSLife(t, instance) })
}

// assertAWSRefuses: what only a webhook refuses is shown in its words, at the line of the file.
func assertAWSRefuses(t *testing.T, instance string) {
	file := filepath.Join(t.TempDir(), "wrong.yaml")
	text, err := os.ReadFile("../../pkg/manifests/testdata/aws-all-fields/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	writeSpec(t, file, strings.Replace(string(text), "{role: control-plane}", `{"aws:role": control-plane}`, 1))
	_, got, _ := strings.Cut(cli(t, 3, "create", "cluster", "-f", file, "--name", instance, "--dry-run=server").stderr, "wrong.yaml:77: ")
	const want = `spec.additionalTags: Invalid value: "aws:role": user created tag's key cannot have prefix aws: (AWSMachineTemplate)` + "\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

// assertAWSLife creates a cluster, upgrades it over three minors and deletes it. Each
// machine that was ever there must have the AMI of its version.
func assertAWSLife(t *testing.T, instance string) {
	namespace := newNamespace(t, instance, "life")
	file := filepath.Join(t.TempDir(), "life.yaml")
	run := func(args ...string) { t.Helper(); cli(t, 0, append(args, "-n", namespace, "--name", instance)...) }
	amis := noteEach(t, instance, namespace, "awsmachines", func(o unstructured.Unstructured) (name, value string) {
		ami, _, _ := unstructured.NestedString(o.Object, "spec", "ami", "id")
		return o.GetName(), ami
	})
	versions := noteEach(t, instance, namespace, "machines", func(o unstructured.Unstructured) (name, value string) {
		name, _, _ = unstructured.NestedString(o.Object, "spec", "infrastructureRef", "name")
		value, _, _ = unstructured.NestedString(o.Object, "spec", "version")
		return name, value
	})

	writeSpec(t, file, awsSpec("1.33"))
	run("create", "cluster", "-f", file)
	assertMachines(t, instance, namespace, "life", "control-plane v1.33.13", "md-0 v1.33.13")
	writeSpec(t, file, awsSpec("1.36"))
	run("upgrade", "cluster", "-f", file)
	assertMachines(t, instance, namespace, "life", "control-plane v1.36.3", "md-0 v1.36.3")
	run("delete", "cluster", "life")

	var got []string
	byMachine := amis()
	for machine, version := range versions() {
		got = append(got, version+" "+byMachine[machine])
	}
	slices.Sort(got)
	want := []string{
		"v1.33.13 ami-0a33", "v1.33.13 ami-0c33", "v1.34.4 ami-0c34", "v1.35.4 ami-0c35", "v1.36.3 ami-0a36", "v1.36.3 ami-0c36",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("machines by version and AMI (-want +got):\n%s", diff)
	}
	if left := len(byMachine); left != len(want) {
		t.Errorf("%d AWSMachines were there, want %d: %v", left, len(want), slices.Sorted(maps.Keys(byMachine)))
	}
	left := list[metav1.PartialObjectMetadata](t, instance, namespace, "clusters,machines,machinedeployments,kubeadmcontrolplanes,kubeadmconfigtemplates,awsclusters,awsmachines,awsmachinetemplates")
	if diff := cmp.Diff([]metav1.PartialObjectMetadata{}, left); diff != "" {
		t.Errorf("left after the deletion (-want +got):\n%s", diff)
	}
}

// noteEach watches a kind until the returned function is called, which returns what was
// noted of each object that was ever there.
func noteEach(t *testing.T, instance, namespace, kind string, of func(unstructured.Unstructured) (name, value string)) (finish func() map[string]string) {
	t.Helper()
	r, err := everyone.readers.of(instance)
	if err != nil {
		t.Fatal(err)
	}
	resource, err := r.resource(kind, namespace)
	if err != nil {
		t.Fatal(err)
	}
	events, err := resource.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	noted := make(chan map[string]string, 1)
	go func() {
		seen := map[string]string{}
		for event := range events.ResultChan() {
			if object, is := event.Object.(*unstructured.Unstructured); is {
				name, value := of(*object)
				seen[name] = value
			}
		}
		noted <- seen
	}()
	return func() map[string]string {
		events.Stop()
		return <-noted
	}
}

func writeSpec(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// awsSpec is a cluster with one machine in each part, and AMIs for what they pass on the
// way from 1.33 to 1.36.
func awsSpec(version string) string {
	return fmt.Sprintf(`apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata: {name: life}
spec:
  kubernetesVersion: %q
  controlPlaneConfiguration:
    count: 1
    machineGroupRef: {kind: AWSMachineConfig, name: control-plane}
  workerNodeGroupConfigurations:
  - name: md-0
    count: 1
    machineGroupRef: {kind: AWSMachineConfig, name: workers}
  clusterNetwork:
    pods: {cidrBlocks: [192.168.0.0/16]}
    services: {cidrBlocks: [10.96.0.0/12]}
  datacenterRef: {kind: AWSDatacenterConfig, name: life}
---
apiVersion: clusterctl-x.io/v1alpha1
kind: AWSDatacenterConfig
metadata: {name: life}
spec: {region: eu-central-1}
---
apiVersion: clusterctl-x.io/v1alpha1
kind: AWSMachineConfig
metadata: {name: control-plane}
spec:
  instanceType: m7i.large
  images:
  - {kubernetesVersion: "1.33", ami: {id: ami-0c33}}
  - {kubernetesVersion: "1.34", ami: {id: ami-0c34}}
  - {kubernetesVersion: "1.35", ami: {id: ami-0c35}}
  - {kubernetesVersion: "1.36", ami: {id: ami-0c36}}
---
apiVersion: clusterctl-x.io/v1alpha1
kind: AWSMachineConfig
metadata: {name: workers}
spec:
  instanceType: m7i.large
  images:
  - {kubernetesVersion: "1.33", ami: {id: ami-0a33}}
  - {kubernetesVersion: "1.36", ami: {id: ami-0a36}}
`, version)
}
