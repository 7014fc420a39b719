package validations_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// exampleProvider has documents of machines with one image for the versions of the spec, and
// a list for others.
func exampleProvider(t *testing.T, mismatch providers.Severity) providers.Set {
	t.Helper()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	set, err := providers.Load("providers", fstest.MapFS{
		"example/provider.yaml": file(`apiVersion: clusterctl-x.io/v1alpha1
kind: Provider
metadata: {name: example}
spec:
  datacenter: {kind: ExampleDatacenterConfig}
  machine: {kind: ExampleMachineConfig}
  infrastructure: {apiVersion: example.com/v1, cluster: ExampleCluster, machineTemplate: ExampleMachineTemplate}
  images: images
  image: image
  imageName: {path: name, mismatch: ` + string(mismatch) + `}
`),
		"example/datacenter.schema.yaml": file("{type: object}"),
		"example/machine.schema.yaml": file(`type: object
properties:
  image: &image {type: object, properties: {name: {type: string}, uuid: {type: string}}}
  images: {type: array, items: {type: object, properties: {kubernetesVersion: {type: string, format: kubernetes-version}, image: *image}}}
`),
		"example/infrastructure-cluster.yaml.tmpl": file(""), "example/machine-template.yaml.tmpl": file(""), "example/sample.yaml.tmpl": file(""),
	})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

const oneImage = `apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata: {name: prod}
spec:
  kubernetesVersion: "1.34"
  controlPlaneConfiguration: {machineGroupRef: {kind: ExampleMachineConfig, name: all}}
  workerNodeGroupConfigurations:
  - {name: a, machineGroupRef: {kind: ExampleMachineConfig, name: all}}
  datacenterRef: {kind: ExampleDatacenterConfig, name: prod}
  clusterNetwork: {pods: {cidrBlocks: [192.168.0.0/16]}, services: {cidrBlocks: [10.96.0.0/12]}, cniConfig: {cilium: {}}}
---
apiVersion: clusterctl-x.io/v1alpha1
kind: ExampleMachineConfig
metadata: {name: all}
spec: SPEC
`

// TestNamesOfImages: the name of an image contains the minor that it is for.
func TestNamesOfImages(t *testing.T) {
	t.Parallel()
	const remedy = "must contain 1.34, as 1.34, 1-34, 1_34 or 134, since machines of that version are made from it; name an image of 1.34"
	for name, test := range map[string]struct {
		mismatch       providers.Severity
		spec           string
		want, warnings []string
	}{
		"dots":      {providers.SeverityError, "{image: {name: ubuntu-1.34.2}}", nil, nil},
		"dashes":    {providers.SeverityError, "{image: {name: ubuntu-1-34}}", nil, nil},
		"digits":    {providers.SeverityError, "{image: {name: ubuntu-134}}", nil, nil},
		"no name":   {providers.SeverityError, "{image: {uuid: a}}", nil, nil},
		"another":   {providers.SeverityError, "{image: {name: ubuntu-1.33}}", []string{`cluster.yaml:15: spec.image.name: Invalid value: "ubuntu-1.33": ` + remedy}, nil},
		"of a list": {providers.SeverityError, `{images: [{kubernetesVersion: "1.34", image: {name: ubuntu-1.33}}]}`, []string{`cluster.yaml:15: spec.images[0].image.name: Invalid value: "ubuntu-1.33": ` + remedy}, nil},
		"doubtful":  {providers.SeverityWarning, "{image: {name: ubuntu}}", nil, []string{`cluster.yaml:15: spec.image.name: "ubuntu" does not contain 1.34, the version that its machines are to have; see that it is an image of that version`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			known := exampleProvider(t, test.mismatch)
			resolved, err := validations.Create(known.Decode("cluster.yaml", []byte(strings.Replace(oneImage, "SPEC", test.spec, 1))), known, bundles(), v1alpha1.ClusterVersions{})
			var got, warnings []string
			if err != nil {
				got = strings.Split(err.Error(), "\n")
			}
			for _, warning := range resolved.Warnings {
				warnings = append(warnings, warning.String())
			}
			if diff := cmp.Diff([][]string{test.want, test.warnings}, [][]string{got, warnings}); diff != "" {
				t.Errorf("problems and warnings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestImagesOfRunningMachines: an upgrade needs images for the versions between those that
// the machines have, whose images the spec before named, and those of the spec.
func TestImagesOfRunningMachines(t *testing.T) {
	t.Parallel()
	known := exampleProvider(t, providers.SeverityError)
	decode := func(version, spec string) *v1alpha1.Config {
		text := strings.NewReplacer("SPEC", spec, `"1.34"`, `"`+version+`"`).Replace(oneImage)
		return known.Decode("cluster.yaml", []byte(text))
	}
	running := clusterVersions("v1.32.1", "a v1.32.1")
	missing := func(version, minor, parts string) []plan.Finding {
		reason := fmt.Sprintf("ExampleMachineConfig all has no image for %s, which %s needs; add an entry with kubernetesVersion %q to its spec.images", version, parts, minor)
		return []plan.Finding{{Check: validations.CheckMachineImage, Reason: reason}}
	}
	for name, test := range map[string]struct {
		before *v1alpha1.Config
		spec   string
		want   []plan.Finding
	}{
		"one between":      {decode("1.32", "{image: {name: a-1.32}}"), "{image: {name: a-1.34}}", missing("v1.33.2", "1.33", "the control plane")},
		"listed":           {decode("1.32", "{image: {name: a-1.32}}"), `{image: {name: a-1.34}, images: [{kubernetesVersion: "1.33", image: {name: a-1.33}}]}`, nil},
		"of a list before": {decode("1.32", `{images: [{kubernetesVersion: "1.32", image: {name: a-1.32}}]}`), `{image: {name: a-1.34}, images: [{kubernetesVersion: "1.33", image: {name: a-1.33}}]}`, nil},
		"not known":        {nil, `{image: {name: a-1.34}, images: [{kubernetesVersion: "1.33", image: {name: a-1.33}}, {kubernetesVersion: "1.32", image: {name: a-1.32}}]}`, nil},
		"none before":      {decode("1.32", "{}"), `{image: {name: a-1.34}, images: [{kubernetesVersion: "1.33", image: {name: a-1.33}}]}`, missing("v1.32.1", "1.32", "the control plane, group a")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resolved, err := validations.Create(decode("1.34", test.spec), known, bundles(), running)
			if err != nil {
				t.Fatal(err)
			}
			p := plan.Plan{From: running, To: clusterVersions("v1.34.3", "a v1.34.3"), Steps: []plan.Step{
				controlPlaneTo("v1.32.1", "v1.33.2"), controlPlaneTo("v1.33.2", "v1.34.3"), groupTo(plan.Workers, "a", "v1.32.1", "v1.34.3"),
			}}
			if diff := cmp.Diff(test.want, validations.MissingArtifacts(resolved.Running(test.before, running), p, artifactBundles(nil, nil))); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}
