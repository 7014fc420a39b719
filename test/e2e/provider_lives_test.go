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

// cloud is a provider whose cluster is taken through its life.
type cloud struct {
	kinds playedKinds
	// resources of its machines, and of what must be gone with a cluster besides these.
	machines, others string
	// image is where a machine has what it is made from.
	image []string
	// kind of its documents, without DatacenterConfig and MachineConfig.
	kind string
	// datacenter has the fields of the first, and entry one of the images of the second, NAME.
	datacenter, entry string
	// from is the version that the cluster is created at; it is upgraded to 1.36.
	from string
	// controlPlane and workers are the minors that the parts pass, in this order, and need an
	// image for.
	controlPlane, workers []string
	// made are all machines that there ever were, by version and image.
	made []string
}

func clouds() map[string]cloud {
	const aws, gcp = "infrastructure.cluster.x-k8s.io/v1beta2/", "infrastructure.cluster.x-k8s.io/v1beta1/"
	return map[string]cloud{
		"aws": {
			kinds:    playedKinds{cluster: aws + "AWSCluster", machine: aws + "AWSMachine"},
			machines: "awsmachines", others: "awsclusters,awsmachinetemplates",
			image: []string{"spec", "ami", "id"},
			kind:  "AWS", datacenter: "region: eu-central-1", entry: "ami: {id: ami-NAME}",
			from: "1.33", controlPlane: []string{"1.33", "1.34", "1.35", "1.36"}, workers: []string{"1.33", "1.36"},
			made: []string{
				"v1.33.13 ami-c-1.33", "v1.33.13 ami-w-1.33", "v1.34.4 ami-c-1.34", "v1.35.4 ami-c-1.35", "v1.36.3 ami-c-1.36", "v1.36.3 ami-w-1.36",
			},
		},
		// Workers may be three minors older than the control plane, and not four.
		"gcp": {
			kinds:    playedKinds{cluster: gcp + "GCPCluster", machine: gcp + "GCPMachine"},
			machines: "gcpmachines", others: "gcpclusters,gcpmachinetemplates",
			image: []string{"spec", "image"},
			kind:  "GCP", datacenter: "project: our-project, region: europe-west3", entry: "image: projects/p/global/images/NAME",
			from: "1.32", controlPlane: []string{"1.32", "1.33", "1.34", "1.35", "1.36"}, workers: []string{"1.32", "1.35", "1.36"},
			made: []string{
				"v1.32.13 projects/p/global/images/c-1.32", "v1.32.13 projects/p/global/images/w-1.32", "v1.33.13 projects/p/global/images/c-1.33",
				"v1.34.4 projects/p/global/images/c-1.34", "v1.35.4 projects/p/global/images/c-1.35", "v1.35.4 projects/p/global/images/w-1.35",
				"v1.36.3 projects/p/global/images/c-1.36", "v1.36.3 projects/p/global/images/w-1.36",
			},
		},
	}
}

// TestProviderLives has the schemas and webhooks of AWS and GCP check what their providers
// write, and takes a cluster of each through its life, with simulated machines, and one that AWS's
// template makes from its import to its upgrade.
func TestProviderLives(t *testing.T) {
	t.Parallel()
	const instance = "provider-lives"
	startProviderWebhooks(t, instance)
	var played []playedKinds
	for _, c := range clouds() {
		played = append(played, c.kinds)
	}
	startSimulator(t, instance, played...)
	newNamespace(t, instance, "fleet") // that of the golden file
	t.Run("imported", func(t *testing.T) {
		t.Parallel()
		assertImported(t, instance, newNamespace(t, instance, "imported"))
	})
	t.Run("refused", func(t *testing.T) { assertAWSRefuses(t, instance) })
	for name, c := range clouds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.assertLife(t, instance, newNamespace(t, instance, name))
		})
	}
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

// assertLife creates a cluster, upgrades it over all minors up to 1.36 and deletes it. Each
// machine that was ever there must have the image of its version. An upgrade that lacks one
// image changes nothing.
func (c cloud) assertLife(t *testing.T, instance, namespace string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "life.yaml")
	run := func(code int, args ...string) result {
		t.Helper()
		return cli(t, code, append(args, "-n", namespace, "--name", instance)...)
	}
	images := noteEach(t, instance, namespace, c.machines, func(o unstructured.Unstructured) (name, value string) {
		image, _, _ := unstructured.NestedString(o.Object, c.image...)
		return o.GetName(), image
	})
	versions := noteEach(t, instance, namespace, "machines", func(o unstructured.Unstructured) (name, value string) {
		name, _, _ = unstructured.NestedString(o.Object, "spec", "infrastructureRef", "name")
		value, _, _ = unstructured.NestedString(o.Object, "spec", "version")
		return name, value
	})

	writeSpec(t, file, c.spec(c.from, c.controlPlane[:1], c.workers[:1]))
	run(0, "create", "cluster", "-f", file)
	c.assertMissingImage(t, instance, namespace, file, run)
	writeSpec(t, file, c.spec("1.36", c.controlPlane, c.workers))
	run(0, "upgrade", "cluster", "-f", file)
	assertMachines(t, instance, namespace, "life", "control-plane v1.36.3", "md-0 v1.36.3")
	run(0, "delete", "cluster", "life")

	var got []string
	byMachine := images()
	for machine, version := range versions() {
		got = append(got, version+" "+byMachine[machine])
	}
	slices.Sort(got)
	if diff := cmp.Diff(c.made, got); diff != "" {
		t.Errorf("machines by version and image (-want +got):\n%s", diff)
	}
	if len(byMachine) != len(c.made) {
		t.Errorf("%d machines of the infrastructure were there, want %d: %v", len(byMachine), len(c.made), slices.Sorted(maps.Keys(byMachine)))
	}
	left := list[metav1.PartialObjectMetadata](t, instance, namespace, c.objects())
	if diff := cmp.Diff([]metav1.PartialObjectMetadata{}, left); diff != "" {
		t.Errorf("left after the deletion (-want +got):\n%s", diff)
	}
}

// objects are the resources of a cluster.
func (c cloud) objects() string {
	return "clusters,machines,machinedeployments,kubeadmcontrolplanes,kubeadmconfigtemplates," + c.machines + "," + c.others
}

// assertMissingImage: where one image is missing in the middle of an upgrade, it is refused
// before the first write.
func (c cloud) assertMissingImage(t *testing.T, instance, namespace, file string, run func(code int, args ...string) result) {
	t.Helper()
	generations := func() map[string]int64 {
		all := map[string]int64{}
		for _, o := range list[unstructured.Unstructured](t, instance, namespace, c.objects()) {
			all[o.GetKind()+"/"+o.GetName()] = o.GetGeneration()
		}
		return all
	}
	before := generations()
	without := slices.DeleteFunc(slices.Clone(c.controlPlane), func(minor string) bool { return minor == "1.34" })
	writeSpec(t, file, c.spec("1.36", without, c.workers))
	var got []string
	for line := range strings.Lines(run(3, "upgrade", "cluster", "-f", file).stderr) {
		if _, finding, is := strings.Cut(line, "machine-image: "); is {
			_, finding, _ = strings.Cut(finding, " ") // the kind of the document
			got = append(got, finding)
		}
	}
	want := []string{"control-plane has no image for v1.34.4, which the control plane needs; add an entry with kubernetesVersion \"1.34\" to its spec.images\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("missing images (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, generations()); diff != "" {
		t.Errorf("objects by generation (-before +after the refusal):\n%s", diff)
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

// spec is a cluster with one machine in each part, which have images for these minors.
func (c cloud) spec(version string, controlPlane, workers []string) string {
	var documents strings.Builder
	for _, part := range []struct {
		name   string
		minors []string
	}{{"control-plane", controlPlane}, {"workers", workers}} {
		fmt.Fprintf(&documents, "---\napiVersion: clusterctl-x.io/v1alpha1\nkind: %sMachineConfig\nmetadata: {name: %s}\nspec:\n  instanceType: any\n  images:\n", c.kind, part.name)
		for _, minor := range part.minors {
			fmt.Fprintf(&documents, "  - {kubernetesVersion: %q, %s}\n", minor, strings.ReplaceAll(c.entry, "NAME", part.name[:1]+"-"+minor))
		}
	}
	return fmt.Sprintf(`apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata: {name: life}
spec:
  kubernetesVersion: %q
  controlPlaneConfiguration:
    count: 1
    machineGroupRef: {kind: %[2]sMachineConfig, name: control-plane}
  workerNodeGroupConfigurations:
  - name: md-0
    count: 1
    machineGroupRef: {kind: %[2]sMachineConfig, name: workers}
  clusterNetwork:
    pods: {cidrBlocks: [192.168.0.0/16]}
    services: {cidrBlocks: [10.96.0.0/12]}
  datacenterRef: {kind: %[2]sDatacenterConfig, name: life}
---
apiVersion: clusterctl-x.io/v1alpha1
kind: %[2]sDatacenterConfig
metadata: {name: life}
spec: {%[3]s}
%[4]s`, version, c.kind, c.datacenter, &documents)
}
