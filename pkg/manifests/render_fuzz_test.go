package manifests

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// FuzzRender: whatever is valid can be rendered, to objects that have names of
// their own which an API server takes.
func FuzzRender(f *testing.F) {
	for _, c := range goldenCases(f) {
		f.Add(readFile(f, c.spec))
	}
	bundles, err := versionsbundle.Parse("bundles.yaml", readFile(f, "testdata/bundles.yaml"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, spec []byte) {
		resolved, err := validations.Create(v1alpha1.Decode("cluster.yaml", spec), bundles, v1alpha1.ClusterVersions{})
		if err != nil {
			return
		}
		if len(resolved.Config.Cluster.Spec.WorkerNodeGroupConfigurations) > 50 {
			return // says no more than one, and takes time
		}
		objects := mustRender(t, Input{
			Config: resolved.Config, Versions: resolved.Versions, Set: resolved.Set, Namespace: "default", Downloads: bundles.Releases(),
		})
		var names []string
		for _, object := range objects {
			name := object.Kind.Kind + "/" + object.Name
			if slices.Contains(names, name) {
				t.Errorf("%s is rendered twice", name)
			}
			names = append(names, name)
			if problems := validation.IsDNS1123Subdomain(object.Name); len(problems) > 0 {
				t.Errorf("%s: %s", name, problems)
			}
		}
	})
}
