package v1alpha1_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// FuzzDecode reads any file: without a panic, with problems of one line each,
// or to a spec that is the same after it was written and read again.
func FuzzDecode(f *testing.F) {
	example, err := os.ReadFile("../../../test/testdata/eks-a-modular-upgrades.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(example)
	goldens, err := filepath.Glob("../../manifests/testdata/*/cluster.yaml")
	if err != nil || len(goldens) == 0 {
		f.Fatal(goldens, err)
	}
	for _, golden := range goldens {
		data, err := os.ReadFile(golden)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(minimal))
	f.Add([]byte(minimal + inMemoryDocument + "spec: {machineStartup: 1m30s}\nstatus: {}\n"))
	f.Add([]byte(minimal + "  workerNodeGroupConfigurations: [&a {name: a, count: 3, kubernetesVersion: 1.30}, {}, *a]\n"))
	f.Add([]byte(minimal + "  managementCluster: {name: \"'\\\": # \\U0001F600\"}\n  externalEtcdConfiguration: {}\n"))
	f.Add([]byte(with("InMemory", "Docker") + dockerDocument + "spec:\n"))
	f.Add([]byte("kind: Cluster\napiVersion: clusterctl-x.io/v1alpha1\nspec: &a {clusterNetwork: *a}\n"))
	f.Add([]byte("kind: Cluster\napiVersion: clusterctl-x.io/v1alpha1\n<<: {}\n? [a]\n: b\n\tc"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := providers.BuiltIn().Decode("cluster.yaml", data).Problems.OrNil(); err != nil {
			checkProblems(t, err)
			return
		}
		kinds := providers.BuiltIn().Kinds() // without what providers make of groups
		before := documentsOf(v1alpha1.Decode("cluster.yaml", data, kinds))
		text := marshal(t, before)
		again := v1alpha1.Decode("cluster.yaml", text, kinds)
		if err := again.Problems.OrNil(); err != nil {
			t.Fatalf("written again it cannot be read:\n%s\n%s", text, err)
		}
		if diff := cmp.Diff(before, documentsOf(again), equateVersions()); diff != "" {
			t.Errorf("read again (-before +after):\n%s\n%s", diff, text)
		}
	})
}

// marshal writes the documents of a spec.
func marshal(t *testing.T, spec decoded) []byte {
	t.Helper()
	documents := []any{spec.Cluster}
	if spec.Datacenter != nil {
		documents = append(documents, spec.Datacenter)
	}
	for _, ref := range slices.SortedFunc(maps.Keys(spec.Machines), func(a, b v1alpha1.Ref) int { return strings.Compare(a.Name, b.Name) }) {
		documents = append(documents, spec.Machines[ref])
	}
	if spec.OIDC != nil {
		documents = append(documents, spec.OIDC)
	}
	if spec.AWSIam != nil {
		documents = append(documents, spec.AWSIam)
	}
	var text []byte
	for _, document := range documents {
		data, err := yaml.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, "---\n"...), data...)
	}
	return text
}

// checkProblems checks that there are problems, each on a line of its own that
// a terminal can show.
func checkProblems(t *testing.T, err error) {
	t.Helper()
	var problems strictyaml.Problems
	if !errors.As(err, &problems) || len(problems) == 0 {
		t.Fatalf("the error is a %T: %v", err, err)
	}
	for _, problem := range problems {
		line := problem.String()
		if !strings.HasPrefix(line, "cluster.yaml:") || strings.Contains(line, "<nil>") || strings.ContainsFunc(line, unicode.IsControl) {
			t.Errorf("a problem prints as %q", line)
		}
	}
}
