package providers_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// TestSimulates: two built-in providers have the same kind, and one of them has machines.
func TestSimulates(t *testing.T) {
	t.Parallel()
	object := func(apiVersion, kind string, backend map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "spec": map[string]any{"backend": backend}}}
	}
	const dev = "infrastructure.cluster.x-k8s.io/v1beta2"
	for name, test := range map[string]struct {
		object *unstructured.Unstructured
		want   bool
	}{
		"simulated":         {object(dev, "DevCluster", map[string]any{"inMemory": map[string]any{}}), true},
		"another version":   {object("infrastructure.cluster.x-k8s.io/v1beta1", "DevCluster", map[string]any{"inMemory": map[string]any{}}), true},
		"containers":        {object(dev, "DevCluster", map[string]any{"docker": map[string]any{}}), false},
		"nothing said":      {object(dev, "DevCluster", nil), false},
		"another kind":      {object(dev, "AWSCluster", map[string]any{"inMemory": map[string]any{}}), false},
		"another API group": {object("example.org/v1", "DevCluster", map[string]any{"inMemory": map[string]any{}}), false},
	} {
		if got := providers.BuiltIn().Simulates(test.object); got != test.want {
			t.Errorf("%s: simulated: %t, want %t", name, got, test.want)
		}
	}
	own := providers.Set{"own": {Spec: providers.Spec{Simulated: true, Infrastructure: &providers.Infrastructure{APIVersion: "example.org/v1", Cluster: "DevCluster"}}}}
	if !own.Simulates(object("example.org/v2", "DevCluster", nil)) {
		t.Error("a kind that is the provider's alone is not simulated")
	}
}
