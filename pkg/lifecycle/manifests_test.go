package lifecycle

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
)

// stagesFile is a cluster; VERSION, GROUPS and MORE are replaced.
const stagesFile = `apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata: {name: prod}
spec:
  kubernetesVersion: VERSION
  controlPlaneConfiguration: {count: 3}
  workerNodeGroupConfigurations: [GROUPS]
  clusterNetwork: {pods: {cidrBlocks: [192.168.0.0/16]}, services: {cidrBlocks: [10.96.0.0/12]}}
  datacenterRef: {kind: InMemoryDatacenterConfig, name: prod}
`

func stagesSpec(version, groups string) string {
	return strings.NewReplacer("VERSION", version, "GROUPS", groups).Replace(stagesFile)
}

// decodedByName are the objects by Kind/name.
func decodedByName(t *testing.T, objects []templater.Object) map[string]any {
	t.Helper()
	byName := map[string]any{}
	for _, object := range objects {
		var decoded map[string]any
		if err := yaml.Unmarshal(object.YAML, &decoded); err != nil {
			t.Fatal(err)
		}
		name := object.Kind.Kind + "/" + object.Name
		if _, twice := byName[name]; twice {
			t.Errorf("%s is there twice", name)
		}
		byName[name] = decoded
	}
	return byName
}

// TestLastStepIsTheNewFile: whoever applies the manifests of every step has in
// the end what the new file alone makes.
func TestLastStepIsTheNewFile(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		from, to string
		steps    int
	}{
		"versions":               {stagesSpec("1.31", "{name: a}, {name: b, kubernetesVersion: 1.30}"), stagesSpec("1.35", "{name: a}, {name: b, kubernetesVersion: 1.33}"), 6},
		"a pin is taken away":    {stagesSpec("1.33", "{name: a, kubernetesVersion: 1.31}"), stagesSpec("1.33", "{name: a}"), 1},
		"fields and counts":      {stagesSpec("1.33", "{name: a}, {name: b}"), stagesSpec("1.33", "{name: a, count: 3}, {name: b, labels: {example.com/a: b}}"), 2},
		"fields with a version":  {stagesSpec("1.33", "{name: a}"), stagesSpec("1.34", "{name: a, labels: {example.com/a: b}, count: 2}"), 3},
		"groups come and go":     {stagesSpec("1.33", "{name: a}"), stagesSpec("1.34", "{name: b}, {name: c, kubernetesVersion: 1.33}"), 4},
		"the order of groups":    {stagesSpec("1.33", "{name: a}, {name: b}"), stagesSpec("1.34", "{name: b}, {name: a}"), 2},
		"nothing to do":          {stagesSpec("1.33", "{name: a}"), stagesSpec("1.33", "{name: a}"), 0},
		"the last group goes":    {stagesSpec("1.33", "{name: a}, {name: b}"), stagesSpec("1.33", "{name: b}"), 1},
		"a group grows and goes": {stagesSpec("1.33", "{name: a}, {name: b}"), stagesSpec("1.34", "{name: a, count: 5}"), 4},
	}
	bundles := fewBundles(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := ReadSpec("from.yaml", []byte(test.from), providers.BuiltIn(), bundles), ReadSpec("to.yaml", []byte(test.to), providers.BuiltIn(), bundles)
			u, err := PlanBetween(t.Context(), before, after, UpgradeOptions{}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if steps := len(u.Plan.Steps); steps != test.steps {
				t.Errorf("%d steps, want %d", steps, test.steps)
			}
			last, err := u.Manifests(test.steps)
			if err != nil {
				t.Fatal(err)
			}
			want, err := after.Manifests("default")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decodedByName(t, want), decodedByName(t, last)); diff != "" {
				t.Errorf("objects (-new file +last step):\n%s", diff)
			}
		})
	}
}
