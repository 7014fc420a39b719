package e2e_test

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// librarySpec is a cluster at a version, in the namespace of the test.
const librarySpec = `apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata: {name: library, namespace: library}
spec:
  kubernetesVersion: %q
  controlPlaneConfiguration: {count: 1}
  clusterNetwork:
    pods: {cidrBlocks: [192.168.0.0/16]}
    services: {cidrBlocks: [10.96.0.0/12]}
  workerNodeGroupConfigurations:
  - {name: md-0, count: 1}
  datacenterRef: {kind: InMemoryDatacenterConfig, name: any}
`

// TestLibraryExample runs the example of pkg/lifecycle as a program of its own, which
// creates a cluster and upgrades it without clusterctl-x.
func TestLibraryExample(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "library")
	program := exampleProgram(t, "../../pkg/lifecycle/example_test.go")
	dir := t.TempDir()
	for name, version := range map[string]string{"old.yaml": "1.34", "new.yaml": "1.35"} {
		if err := os.WriteFile(filepath.Join(dir, name), fmt.Appendf(nil, librarySpec, version), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := append(everyone.environment(), "KUBECONFIG="+filepath.Join(everyone.home, "embedded", shared, "kubeconfig"))
	got := execute(t.Context(), nil, env, "/bin/sh", "-c", `cd "$1" && exec "$2"`, "sh", dir, program)
	want := result{stdout: "library/library is at v1.35.4\n"}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(result{})); diff != "" {
		t.Fatalf("the example (-want +got):\n%s", diff)
	}
	assertMachines(t, shared, namespace, "library", "control-plane v1.35.4", "md-0 v1.35.4")
}

// exampleProgram builds a program whose main function is the function Example of a file.
func exampleProgram(t *testing.T, path string) string {
	t.Helper()
	positions := token.NewFileSet()
	file, err := parser.ParseFile(positions, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	file.Name.Name = "main"
	for _, declaration := range file.Decls {
		if f, ok := declaration.(*ast.FuncDecl); ok && f.Name.Name == "Example" {
			f.Name.Name = "main"
		}
	}
	var text strings.Builder
	if err := format.Node(&text, positions, file); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "example")
	if err := os.WriteFile(source, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := execute(t.Context(), nil, os.Environ(), "go", "build", "-ldflags", "-s -w", "-o", program, source); r.code != 0 {
		t.Fatalf("go build: %s", r.stderr)
	}
	return program
}
