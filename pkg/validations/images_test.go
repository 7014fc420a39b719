package validations_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

const withImages = `apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata: {name: prod}
spec:
  kubernetesVersion: "1.34"
  controlPlaneConfiguration: {machineGroupRef: {kind: ClusterAPIMachineConfig, name: all}}
  workerNodeGroupConfigurations:
  - {name: a, machineGroupRef: {kind: ClusterAPIMachineConfig, name: all}}
  - {name: b, kubernetesVersion: "1.31", machineGroupRef: {kind: ClusterAPIMachineConfig, name: all}}
  datacenterRef: {kind: ClusterAPIDatacenterConfig, name: prod}
  clusterNetwork: {pods: {cidrBlocks: [192.168.0.0/16]}, services: {cidrBlocks: [10.96.0.0/12]}}
---
apiVersion: clusterctl-x.io/v1alpha1
kind: ClusterAPIDatacenterConfig
metadata: {name: prod}
spec: {infrastructureCluster: {apiVersion: example.com/v1, kind: ACluster}}
---
apiVersion: clusterctl-x.io/v1alpha1
kind: ClusterAPIMachineConfig
metadata: {name: all}
spec:
  machineTemplate: {apiVersion: example.com/v1, kind: AMachineTemplate}
  images: IMAGES
`

// image is an entry of a list of images.
func image(version string) string { return `{kubernetesVersion: "` + version + `", spec: {}}` }

// TestImagesOfANewCluster: each part needs an entry for its version, or none at all.
func TestImagesOfANewCluster(t *testing.T) {
	t.Parallel()
	const at = "cluster.yaml:23: spec.images: "
	for name, test := range map[string]struct {
		images string
		want   []string
	}{
		"no list":             {"[]", nil},
		"minors":              {"[" + image("1.31") + ", " + image("1.34") + "]", nil},
		"exact versions":      {"[" + image("1.31.5") + ", " + image("v1.34.3") + "]", nil},
		"another patch":       {"[" + image("1.31") + ", " + image("1.34.1") + "]", []string{at + `Required value: an entry with kubernetesVersion "1.34", which the control plane, group a needs`}},
		"none that is needed": {"[" + image("1.36") + "]", []string{at + `Required value: an entry with kubernetesVersion "1.31", which group b needs`, at + `Required value: an entry with kubernetesVersion "1.34", which the control plane, group a needs`}},
		"a version twice":     {"[" + image("1.31") + ", " + image("1.34") + ", " + image("1.34") + "]", []string{at[:len(at)-2] + `[2]: Duplicate value: {"kubernetesVersion":"1.34"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := providers.BuiltIn().Decode("cluster.yaml", []byte(strings.Replace(withImages, "IMAGES", test.images, 1)))
			_, err := validations.Create(config, providers.BuiltIn(), bundles(), v1alpha1.ClusterVersions{})
			var got []string
			if err != nil {
				got = strings.Split(err.Error(), "\n")
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestImagesOfAPlan: what is missing on the way is found all at once.
func TestImagesOfAPlan(t *testing.T) {
	t.Parallel()
	config := providers.BuiltIn().Decode("cluster.yaml", []byte(strings.Replace(withImages, "IMAGES", "["+image("1.34")+"]", 1)))
	resolved := validations.Resolved{Config: config, Provider: providers.BuiltIn().Of(config.Cluster)}
	from := clusterVersions("v1.32.1", "a v1.32.1", "b v1.31.2")
	p := plan.Plan{From: from, To: clusterVersions("v1.34.1", "a v1.34.1", "b v1.31.2"), Steps: []plan.Step{
		controlPlaneTo("v1.32.1", "v1.33.2"), controlPlaneTo("v1.33.2", "v1.34.1"), groupTo(plan.Workers, "a", "v1.32.1", "v1.34.1"),
	}}
	missing := func(version, parts, minor string) plan.Finding {
		return plan.Finding{Check: "machine-image", Reason: "ClusterAPIMachineConfig all has no image for " + version + ", which " + parts + " needs; add an entry with kubernetesVersion \"" + minor + "\" to its spec.images"}
	}
	want := []plan.Finding{missing("v1.31.2", "group b", "1.31"), missing("v1.32.1", "the control plane, group a", "1.32"), missing("v1.33.2", "the control plane", "1.33")}
	if diff := cmp.Diff(want, validations.MissingArtifacts(resolved, p, artifactBundles(nil, nil))); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
