package e2e_test

import (
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// playedKinds are the kinds of one infrastructure provider, as GROUP/VERSION/KIND.
type playedKinds struct{ cluster, machine string }

// example is infrastructure that exists only in testdata.
func example() playedKinds {
	return playedKinds{cluster: "infrastructure.example.org/v1/ExampleCluster", machine: "infrastructure.example.org/v1/ExampleMachine"}
}

// installCRDs adds the CRDs of a file to a management cluster and waits until their
// objects can be written. They stay: other tests list all kinds.
func installCRDs(t *testing.T, instance, file string) {
	t.Helper()
	kubectl(t, instance, nil, "apply", "--server-side", "-f", file)
	kubectl(t, instance, nil, "wait", "--for=condition=Established", "-f", file)
	r, err := everyone.readers.of(instance)
	if err != nil {
		t.Fatal(err)
	}
	r.mapper.Reset() // which may have looked before they were there
}

// startSimulator plays the infrastructure providers of kinds, whose CRDs are installed,
// on a management cluster until the test ends: their machines become ready nodes.
func startSimulator(t *testing.T, instance string, kinds ...playedKinds) *running {
	t.Helper()
	args := []string{"--kubeconfig", kubeconfigOf(instance)}
	for _, k := range kinds {
		args = append(args, "--cluster", k.cluster, "--machine", k.machine)
	}
	program := filepath.Join(filepath.Dir(everyone.cli), "infrastructure-simulator")
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("%v: run 'make infrastructure-simulator' first", err)
	}
	r := newRunning(t, program, args...)
	// It ends with its input: with this process, however that ends.
	if _, err := r.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	r.start(t)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the simulator of infrastructure said:\n%s", r.stderr.String())
		}
	})
	r.until(t, "Starting workers")
	return r
}

// TestSimulator takes a cluster on infrastructure that has no controller through its life,
// by kubectl alone: create, a restart of the simulator, upgrade, delete.
func TestSimulator(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "simulated")
	installCRDs(t, shared, "testdata/example-crds.yaml")
	simulator := startSimulator(t, shared, example())

	const older, newer = "v1.33.13", "v1.34.4"
	applyExample(t, namespace, older, "v1.12.0")
	awaitExample(t, namespace, older)
	kubeconfig := kubeconfigInSecret(t, namespace, "example")
	awaitCoreDNS(t, kubeconfig, "v1.12.0")

	simulator.signal(t, syscall.SIGTERM)
	if r := simulator.end(t); r.code != 0 {
		t.Fatalf("the simulator ended with code %d: %s", r.code, r.stderr)
	}
	startSimulator(t, shared, example())
	awaitCoreDNS(t, kubeconfig, "v1.12.0")

	applyExample(t, namespace, newer, "v1.12.1")
	awaitExample(t, namespace, newer)
	awaitCoreDNS(t, kubeconfig, "v1.12.1")

	kubectl(t, shared, nil, "delete", "cluster", "example", "-n", namespace, "--wait=false")
	until(t, "nothing is left of the cluster", func(context.Context) bool {
		return len(objectsOfKind(t, namespace, "clusters")) == 0 && len(objectsIn(t, namespace)) == 0
	})
	// Two simulators would play the same kinds.
	t.Run("provider folder", assertProviderFolder)
	t.Run("class of a provider folder", assertClassOfFolder)
}

// applyExample writes the cluster of testdata at a version.
func applyExample(t *testing.T, namespace, version, coreDNS string) {
	t.Helper()
	text, err := os.ReadFile("testdata/example-cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	manifests := strings.NewReplacer("VERSION", version, "COREDNS", coreDNS).Replace(string(text))
	kubectl(t, shared, []byte(manifests), "apply", "-n", namespace, "-f", "-")
}

// awaitExample waits until the machines of the cluster are ready nodes of a version with
// the image for it, and no others are left.
func awaitExample(t *testing.T, namespace, version string) {
	t.Helper()
	want := []machine{{"control-plane", "Running", version, version}, {"workers", "Running", version, version}, {"workers", "Running", version, version}}
	until(t, "all machines run "+version, func(context.Context) bool { return cmp.Equal(want, machines(t, shared, namespace, "example")) })
	var images []string
	for _, m := range list[exampleMachine](t, shared, namespace, "examplemachines") {
		images = append(images, m.Spec.Image)
	}
	if diff := cmp.Diff(slices.Repeat([]string{"example-" + version}, len(want)), images); diff != "" {
		t.Errorf("images of the machines (-want +got):\n%s", diff)
	}
}

// exampleMachine is as much of an ExampleMachine as the test looks at.
type exampleMachine struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Image string `json:"image"`
	} `json:"spec"`
}

// kubeconfigInSecret writes the kubeconfig that Cluster API made for a cluster to a file.
func kubeconfigInSecret(t *testing.T, namespace, cluster string) string {
	t.Helper()
	encoded := kubectl(t, shared, nil, "get", "secret", cluster+"-kubeconfig", "-n", namespace, "-o", "jsonpath={.data.value}")
	kubeconfig, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// awaitCoreDNS waits until a cluster itself answers that CoreDNS has a version.
func awaitCoreDNS(t *testing.T, kubeconfig, version string) {
	t.Helper()
	until(t, "CoreDNS is at "+version, func(ctx context.Context) bool {
		r := execute(ctx, nil, everyone.environment(), everyone.kubectl, "--kubeconfig", kubeconfig, "get", "deployment", "coredns", "-n", "kube-system",
			"-o", "jsonpath={.spec.template.spec.containers[0].image}")
		return r.stdout == "registry.k8s.io/coredns/coredns:"+version
	})
}
