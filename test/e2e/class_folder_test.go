package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// assertClassOfFolder makes a ClusterClass from the documents of a provider that is a folder of
// data, and takes a cluster of it over three minors, two of which the class gets later: its
// machines have the images of their versions, from the cluster or from the class.
func assertClassOfFolder(t *testing.T) {
	namespace := newNamespace(t, shared, "folder-class")
	with := func(code int, args ...string) result {
		t.Helper()
		return cli(t, code, append(args, "--providers", exampleProviders)...)
	}
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	sample := with(0, "generate", "clusterconfig", "folder", "--provider", "example").stdout
	applyClassWith := func(images ...string) (warnings string) {
		t.Helper()
		documents := strings.Replace(sample, `kubernetesVersion: "1.36"`, fmt.Sprintf("kubernetesVersion: %q", images[0]), 1)
		for _, name := range []string{"a", "b"} {
			documents = strings.Replace(documents, "\n  - {kubernetesVersion: \"1.36\", name: "+name+"}", exampleImages("  ", "", images...), 1)
		}
		class := with(0, "generate", "clusterclass", "-n", namespace, "--class", "folder", "-f", write("documents.yaml", documents))
		applyTo(t, namespace, []byte(class.stdout))
		return class.stderr
	}
	const leftOut = "warning: the class leaves out 1.25, 1.26, 1.27, 1.28, 1.29, 1.30, 1.31, 1.32, 1.35, 1.36, for lack of an image in ExampleMachineConfig control-plane and ExampleMachineConfig workers\n"
	if warnings := applyClassWith("1.33", "1.34"); !strings.HasSuffix(warnings, leftOut) {
		t.Errorf("stderr is %q, want at the end %q", warnings, leftOut)
	}

	cluster := func(version string) string {
		t.Helper()
		return write("cluster.yaml", fmt.Sprintf(`apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata: {name: of-folder}
spec:
  kubernetesVersion: %q
  clusterClass:
    name: folder
    variables:
      workersImages:%s
  workerNodeGroupConfigurations:
  - name: md-0
  clusterNetwork:
    cniConfig: {cilium: {}}
    pods: {cidrBlocks: [192.168.0.0/16]}
    services: {cidrBlocks: [10.96.0.0/12]}
`, version, exampleImages("      ", "own-", "1.33", "1.36")))
	}
	with(0, "create", "cluster", "-n", namespace, "-f", cluster("1.33"))
	seen := map[string]string{}
	noteImages(t, namespace, seen)
	with(0, "upgrade", "cluster", "-n", namespace, "-f", cluster("1.34"))
	noteImages(t, namespace, seen)
	// The cluster has the default of the first class in its variables.
	applyClassWith("1.33", "1.34", "1.35", "1.36")
	for _, minor := range []string{"1.35", "1.36"} {
		with(0, "upgrade", "cluster", "-n", namespace, "-f", cluster(minor))
		noteImages(t, namespace, seen)
	}
	got := map[string]int{}
	for _, image := range seen {
		got[image]++
	}
	want := map[string]int{
		"v1.33.13 example-1.33": 1, "v1.34.4 example-1.34": 2, "v1.35.4 example-1.35": 2, "v1.36.3 example-1.36": 1,
		"v1.33.13 example-own-1.33": 1, "v1.36.3 example-own-1.36": 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("machines by version and image (-want +got):\n%s", diff)
	}
	with(0, "delete", "cluster", "of-folder", "-n", namespace)
}

// exampleImages is a list of images of ExampleMachines, indented.
func exampleImages(indent, prefix string, minors ...string) string {
	list := ""
	for _, minor := range minors {
		list += fmt.Sprintf("\n%s- {kubernetesVersion: %q, name: %q}", indent, minor, prefix+minor)
	}
	return list
}
