package providers_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// spreading has failure domains that name groups.
func spreading(t *testing.T) providers.Set {
	t.Helper()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	set, err := providers.Load("providers", fstest.MapFS{
		"example/provider.yaml": file(`apiVersion: clusterctl-x.io/v1alpha1
kind: Provider
metadata: {name: example}
spec: {datacenter: {kind: ExampleDatacenterConfig}, failureDomains: domains, spread: groups}
`),
		"example/datacenter.schema.yaml":           file("{type: object, properties: {domains: {type: array, items: {type: object, properties: {name: {type: string}, groups: {type: array, items: {type: string}}}}}}}"),
		"example/infrastructure-cluster.yaml.tmpl": file(""), "example/machine-template.yaml.tmpl": file(""), "example/sample.yaml.tmpl": file(""),
	})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

const spread = `apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata: {name: prod}
spec:
  kubernetesVersion: "1.34"
  workerNodeGroupConfigurations:
  - {name: first}
  - GROUP
  - {name: last, failureDomains: [c]}
  datacenterRef: {kind: ExampleDatacenterConfig, name: prod}
  clusterNetwork: {pods: {cidrBlocks: [192.168.0.0/16]}, services: {cidrBlocks: [10.96.0.0/12]}, cniConfig: {cilium: {}}}
---
apiVersion: clusterctl-x.io/v1alpha1
kind: ExampleDatacenterConfig
metadata: {name: prod}
spec:
  domains: DOMAINS
`

// TestSpread: a group that failure domains name is a group in each of them, and what is wrong
// with it is reported once, at its line.
func TestSpread(t *testing.T) {
	t.Parallel()
	const three = "[{name: a, groups: [md]}, {name: b, groups: [md]}, {name: c, groups: [md]}]"
	others := func(groups ...string) []string {
		return append(append([]string{"first 1 []"}, groups...), "last 1 [c]")
	}
	for name, test := range map[string]struct {
		group, domains string
		want, problems []string
	}{
		"divides":           {"{name: md, count: 6}", three, others("md-a 2 [a]", "md-b 2 [b]", "md-c 2 [c]"), nil},
		"does not divide":   {"{name: md, count: 5}", three, others("md-a 2 [a]", "md-b 2 [b]", "md-c 1 [c]"), nil},
		"fewer machines":    {"{name: md, count: 1}", three, others("md-a 1 [a]", "md-b 0 [b]", "md-c 0 [c]"), nil},
		"autoscaled":        {"{name: md, autoscalingConfiguration: {minCount: 1, maxCount: 5}}", three, others("md-a 1..2 [a]", "md-b 0..2 [b]", "md-c 0..1 [c]"), nil},
		"in one":            {"{name: md, count: 2}", "[{name: a, groups: [md]}, {name: c}]", others("md-a 2 [a]"), nil},
		"in none":           {"{name: md, count: 2}", "[{name: a}, {name: c}]", others("md 2 []"), nil},
		"mistake of a part": {"{name: md, labels: {\"a b\": c}}", three, others("md-a 1 [a]", "md-b 0 [b]", "md-c 0 [c]"), []string{`cluster.yaml:8: spec.workerNodeGroupConfigurations[1].labels["a b"]`}},
		"unknown group":     {"{name: md}", "[{name: c, groups: [mdd]}]", others("md 1 []"), []string{`cluster.yaml:17: spec.domains[0].groups[0]: Invalid value: "mdd": the cluster has no worker node group of this name; correct or remove it`}},
		"has its own":       {"{name: md}", "[{name: c, groups: [last]}]", others("md 1 []"), []string{`cluster.yaml:17: spec.domains[0].groups[0]: Invalid value: "last": the group has failureDomains of its own in the Cluster; remove one of the two`}},
		"unknown domain":    {"{name: md}", "[{name: a}]", others("md 1 []"), []string{`cluster.yaml:9: spec.workerNodeGroupConfigurations[2].failureDomains[0]: Invalid value: "c": spec.domains of the ExampleDatacenterConfig has no failure domain of this name; add it there, or correct the name`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			known := spreading(t)
			bundles, err := versionsbundle.Parse("bundles.yaml", config.Bundles)
			if err != nil {
				t.Fatal(err)
			}
			spec := known.Decode("cluster.yaml", []byte(strings.NewReplacer("GROUP", test.group, "DOMAINS", test.domains).Replace(spread)))
			var got []string
			for _, group := range spec.Cluster.Spec.WorkerNodeGroupConfigurations {
				got = append(got, described(group))
			}
			var problems []string
			if _, err := validations.Create(spec, known, bundles, v1alpha1.ClusterVersions{}); err != nil {
				for _, line := range strings.Split(err.Error(), "\n") {
					if place, _, long := strings.Cut(line, ": Invalid value: \"a b\""); long {
						line = place
					}
					problems = append(problems, line)
				}
			}
			if diff := cmp.Diff([][]string{test.want, test.problems}, [][]string{got, problems}); diff != "" {
				t.Errorf("groups and problems (-want +got):\n%s", diff)
			}
		})
	}
}

func described(group v1alpha1.WorkerNodeGroupConfiguration) string {
	count := fmt.Sprint(group.Replicas())
	if bounds := group.AutoscalingConfiguration; bounds != nil {
		count = fmt.Sprintf("%d..%d", bounds.MinCount, bounds.MaxCount)
	}
	return fmt.Sprint(group.Name, " ", count, " ", group.FailureDomains)
}
