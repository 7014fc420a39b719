package e2e_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReferenceExample creates the example of EKS Anywhere's design for groups
// with their own version (a copy of it is in test/testdata), unchanged but for its
// provider.
func TestReferenceExample(t *testing.T) {
	t.Parallel()
	example, err := os.ReadFile("../testdata/eks-a-modular-upgrades.yaml")
	if err != nil {
		t.Fatal(err)
	}
	namespace := newNamespace(t, shared, "reference")
	file := filepath.Join(t.TempDir(), "cluster.yaml")
	simulated := bytes.Replace(example, []byte("DockerDatacenterConfig"), []byte("InMemoryDatacenterConfig"), 1)
	if err := os.WriteFile(file, simulated, 0o600); err != nil {
		t.Fatal(err)
	}
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", file)
	const newer, older = "v1.26.15", "v1.25.16"
	want := []machine{{"control-plane", "Running", newer, newer}, {"md-0", "Running", newer, newer}, {"md-1", "Running", older, older}}
	if diff := cmp.Diff(want, machines(t, shared, namespace, "mgmt")); diff != "" {
		t.Errorf("machines (-want +got):\n%s", diff)
	}
}
