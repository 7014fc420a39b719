package e2e_test

import (
	"strings"
	"testing"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
	"github.com/clusterctl-x/clusterctl-x/test/randomspec"
)

// assertRandomSpecsAccepted: a provider refuses no spec that is valid by the schemas in its
// folder. The objects are those of Cluster API and of the infrastructure.
func assertRandomSpecsAccepted(t *testing.T, instance, namespace, provider string) {
	r, err := everyone.readers.of(instance)
	if err != nil {
		t.Fatal(err)
	}
	bundles, err := versionsbundle.Parse("bundles.yaml", config.Bundles)
	if err != nil {
		t.Fatal(err)
	}
	generator := randomspec.New(providers.BuiltIn()[provider])
	const wanted, mostRefused = 200, 100
	accepted, refused := 0, 0
	for seed := uint64(1); accepted < wanted; seed++ {
		spec, err := generator.Spec(seed)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		rendered, refusal, err := spec.Render(bundles, namespace)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if refusal != nil {
			if refused++; refused > mostRefused {
				t.Fatalf("seed %d: the %dth spec that 'validate' refuses: %v", seed, refused, refusal)
			}
			continue
		}
		accepted++
		for _, object := range rendered.Objects {
			if !strings.HasSuffix(object.Kind.Group, "cluster.x-k8s.io") {
				continue
			}
			if err := made(string(object.YAML))(t.Context(), r, namespace); err != nil {
				t.Errorf("seed %d: %v\n%s", seed, err, object.YAML)
			}
		}
	}
	t.Logf("%d accepted, %d refused before", accepted, refused)
}
