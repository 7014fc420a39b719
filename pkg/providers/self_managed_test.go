package providers_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// TestSelfManagedDocument: the document of a cluster that manages itself gets what such a cluster
// needs, unless it says otherwise; that of another one stays as it is.
func TestSelfManagedDocument(t *testing.T) {
	t.Parallel()
	type fields = map[string]any
	set := providers.BuiltIn()
	const spec = `apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata: {name: mgmt}
spec:
  kubernetesVersion: "1.35"
  controlPlaneConfiguration: {count: 1}
  datacenterRef: {kind: DockerDatacenterConfig, name: mgmt}
`
	const itself, other, socket = "  managementCluster: {name: mgmt}\n", "  managementCluster: {name: other}\n", `---
apiVersion: clusterctl-x.io/v1alpha1
kind: DockerDatacenterConfig
metadata: {name: mgmt}
spec: {mountDockerSocket: false}
`
	for name, test := range map[string]struct {
		file           string
		spec, complete fields
	}{
		"no document":             {spec + itself, fields{"mountDockerSocket": true}, fields{"mountDockerSocket": true}},
		"a document":              {spec + itself + socket, fields{"mountDockerSocket": false}, fields{"mountDockerSocket": false}},
		"managed by another":      {spec + other, fields{}, fields{"mountDockerSocket": false}},
		"managed by the one used": {spec, fields{}, fields{"mountDockerSocket": false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := set.Decode("cluster.yaml", []byte(test.file))
			if err := config.Problems.OrNil(); err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(test.spec, config.Datacenter.Spec); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.complete, config.Datacenter.Complete); diff != "" {
				t.Errorf("fields with defaults (-want +got):\n%s", diff)
			}
		})
	}
}
