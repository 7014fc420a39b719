package lifecycle

import (
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/manifests"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// TestImagesOfClasses: a class has the versions that every document has an image for, and
// says which ones it leaves out. It does not leave out a version that clusters need.
func TestImagesOfClasses(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../manifests/testdata/bundles.yaml")
	if err != nil {
		t.Fatal(err)
	}
	bundles, err := versionsbundle.Parse("bundles.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	const spec = `apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata: {name: prod}
spec:
  kubernetesVersion: "1.34"
  controlPlaneConfiguration: {machineGroupRef: {kind: ClusterAPIMachineConfig, name: a}}
  workerNodeGroupConfigurations: [{name: md-0, machineGroupRef: {kind: ClusterAPIMachineConfig, name: b}}]
  clusterNetwork:
    pods: {cidrBlocks: [192.168.0.0/16]}
    services: {cidrBlocks: [10.96.0.0/12]}
  datacenterRef: {kind: ClusterAPIDatacenterConfig, name: prod}
---
apiVersion: clusterctl-x.io/v1alpha1
kind: ClusterAPIDatacenterConfig
metadata: {name: prod}
spec: {infrastructureCluster: {apiVersion: example.org/v1, kind: ExampleCluster}%s}
---
apiVersion: clusterctl-x.io/v1alpha1
kind: ClusterAPIMachineConfig
metadata: {name: a}
spec: {machineTemplate: {apiVersion: example.org/v1, kind: ExampleMachineTemplate}%s}
---
apiVersion: clusterctl-x.io/v1alpha1
kind: ClusterAPIMachineConfig
metadata: {name: b}
spec: {machineTemplate: {apiVersion: example.org/v1, kind: ExampleMachineTemplate}%s}
`
	images := func(versions ...string) string {
		list := ", images: ["
		for i, version := range versions {
			list += fmt.Sprintf("%s{kubernetesVersion: %q, spec: {image: %q}}", map[bool]string{false: ", "}[i == 0], version, version)
		}
		return list + "]"
	}
	type result struct {
		Versions, Notes []string
		Err             string
	}
	all := []string{"v1.30.14", "v1.31.9", "v1.32.7", "v1.33.3", "v1.34.0", "v1.34.1", "v1.34.2", "v1.35.0"}
	const resources = `, resources: [{apiVersion: v1, kind: Secret, name: key}, {apiVersion: v1, kind: Namespace, name: all, scope: Cluster}]`
	for name, test := range map[string]struct {
		resources, a, b string
		used            []string
		want            result
	}{
		"no images":       {"", "", "", nil, result{Versions: all}},
		"further objects": {resources, "", "", nil, result{Versions: all, Notes: []string{"the class cannot have Secret/key, Namespace/all; make them before the clusters that need them"}}},
		"of one document": {"", images("1.33", "1.34"), "", nil, result{Versions: all[3:7], Notes: []string{"the class leaves out 1.30, 1.31, 1.32, 1.35, for lack of an image in ClusterAPIMachineConfig a"}}},
		"of two documents": {"", images("1.33", "v1.34.1"), images("1.33", "1.34", "1.35"), nil, result{Versions: []string{"v1.33.3", "v1.34.1"}, Notes: []string{
			"the class leaves out 1.30, 1.31, 1.32, for lack of an image in ClusterAPIMachineConfig a and ClusterAPIMachineConfig b; v1.34.0, v1.34.2, 1.35, for lack of an image in ClusterAPIMachineConfig a"}}},
		"a minor is missing": {"", images("1.32", "1.34"), "", nil, result{Err: `there is no image for 1.33 in ClusterAPIMachineConfig a, and an upgrade from v1.32.7 to v1.34.2 goes through every minor; add an entry with kubernetesVersion "1.33" to spec.images there`}},
		"no version of both": {"", images("1.33"), images("1.34"), nil, result{Err: `there is no version that all documents have an image for: 1.30, 1.31, 1.32, 1.35, for lack of an image in ClusterAPIMachineConfig a and ClusterAPIMachineConfig b; 1.33, for lack of an image in ClusterAPIMachineConfig b; 1.34, for lack of an image in ClusterAPIMachineConfig a; add entries to spec.images there`}},
		"a version in use":   {"", images("1.33", "1.34"), "", []string{"v1.34.1", "v1.32.7"}, result{Err: `clusters of the class have v1.32.7, and there is no image for it in ClusterAPIMachineConfig a; add an entry with kubernetesVersion "1.32" to spec.images there`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := providers.BuiltIn().Decode("prod.yaml", fmt.Appendf(nil, spec, test.resources, test.a, test.b))
			if err := config.Problems.OrNil(); err != nil {
				t.Fatal(err)
			}
			var used []v1alpha1.Version
			for _, version := range test.used {
				used = append(used, v1alpha1.MustParseVersion(version))
			}
			class := manifests.Class{Name: "c", Namespace: "default", Provider: providers.BuiltIn()["clusterapi"], Documents: config}
			rendered, err := renderClass(class, bundles, used)
			got := result{Notes: rendered.Notes}
			if err != nil {
				got.Err = err.Error()
			}
			if len(rendered.Objects) > 0 {
				class, err := rendered.Objects[len(rendered.Objects)-1].Unstructured()
				if err != nil {
					t.Fatal(err)
				}
				for _, version := range class.Object["spec"].(map[string]any)["kubernetesVersions"].([]any) {
					got.Versions = append(got.Versions, version.(string))
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
