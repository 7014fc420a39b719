package manifests

import (
	"bytes"
	"cmp"
	"flag"
	"os"
	"path/filepath"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

var update = flag.Bool("update", false, "write the golden files anew")

// goldenCase is a directory below testdata with what its spec is rendered to.
type goldenCase struct{ name, spec, bundles string }

func goldenCases(t testing.TB) []goldenCase {
	t.Helper()
	specs, err := filepath.Glob("testdata/*/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cases := []goldenCase{{
		"eks-a-modular-upgrades", "../../test/testdata/eks-a-modular-upgrades.yaml", "../../config/bundles/bundles.yaml",
	}}
	for _, spec := range specs {
		cases = append(cases, goldenCase{filepath.Base(filepath.Dir(spec)), spec, "testdata/bundles.yaml"})
	}
	return cases
}

func (c goldenCase) input(t testing.TB) Input {
	t.Helper()
	return resolve(t, readFile(t, c.spec), readFile(t, c.bundles))
}

// resolve makes the input that 'generate manifests' makes of a spec.
func resolve(t testing.TB, spec, release []byte) Input {
	t.Helper()
	config := providers.BuiltIn().Decode("cluster.yaml", spec)
	bundles, err := versionsbundle.Parse("bundles.yaml", release)
	if err != nil {
		t.Fatal(err)
	}
	resolved, err := validations.Create(config, providers.BuiltIn(), bundles, v1alpha1.ClusterVersions{})
	if err != nil {
		t.Fatal(err)
	}
	return Input{
		Config: resolved.Config, Provider: resolved.Provider, Versions: resolved.Versions, Set: resolved.Set,
		Namespace: cmp.Or(config.Cluster.Metadata.Namespace, "default"), Downloads: bundles.Releases(),
	}
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func mustRender(t testing.TB, input Input) []templater.Object {
	t.Helper()
	objects, err := Render(input)
	if err != nil {
		t.Fatal(err)
	}
	return objects.All()
}

// text is what 'generate manifests' prints.
func text(objects []templater.Object) []byte {
	documents := make([][]byte, len(objects))
	for i, object := range objects {
		documents[i] = object.YAML
	}
	return bytes.Join(documents, []byte("---\n"))
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, test := range goldenCases(t) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := text(mustRender(t, test.input(t)))
			path := filepath.Join("testdata", test.name, "want.yaml")
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := gocmp.Diff(string(readFile(t, path)), string(got)); diff != "" {
				t.Errorf("manifests (-want +got; -update writes them anew):\n%s", diff)
			}
		})
	}
}
