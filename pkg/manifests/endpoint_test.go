package manifests

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// TestEndpointOfADocument: the endpoint of the spec and that of the infrastructure cluster
// must be the same.
func TestEndpointOfADocument(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ own, want string }{
		"the same":    {"api.prod.example.com", "<nil>"},
		"another one": {"10.0.0.9", `cluster.yaml:8: spec.controlPlaneConfiguration.endpoint.host: Invalid value: "api.prod.example.com": contradicts spec.controlPlaneEndpoint of the infrastructure cluster in the ClusterAPIDatacenterConfig, which is "10.0.0.9"; remove one of the two`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := strings.Replace(string(readFile(t, "testdata/clusterapi-endpoint/cluster.yaml")), "kind: ExampleCluster", "kind: ExampleCluster, spec: {controlPlaneEndpoint: {host: "+test.own+", port: 8443}}", 1)
			_, err := Render(resolve(t, []byte(spec), readFile(t, "testdata/bundles.yaml")))
			if diff := gocmp.Diff(test.want, fmt.Sprint(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// TestKubeVIPByVersion: the first machine has another file of credentials from 1.29 on.
func TestKubeVIPByVersion(t *testing.T) {
	t.Parallel()
	r, err := newRenderer(resolve(t, readFile(t, "testdata/clusterapi-endpoint/cluster.yaml"), readFile(t, "testdata/bundles.yaml")), config.Templates)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]string{"v1.28.15": nil, "v1.29.0": {useSuperAdmin}} {
		version, err := v1alpha1.ParseVersion(text)
		if err != nil {
			t.Fatal(err)
		}
		files, commands, err := r.announcer(version)
		if err != nil || len(files) != 1 || !slices.Equal(commands, want) {
			t.Errorf("%s: %d files, commands %q, %v", version, len(files), commands, err)
		}
	}
}
