package lifecycle_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// manifestsOf are those of a cluster without groups.
const manifestsOf = `kind: Cluster
apiVersion: cluster.x-k8s.io/v1beta2
metadata: {name: NAME}
spec:
  clusterNetwork: {pods: {cidrBlocks: [10.0.0.0/16]}, services: {cidrBlocks: [10.96.0.0/12]}}
  controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: KubeadmControlPlane, name: kcp}
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DevCluster, name: infra}
---
kind: DevCluster
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
metadata: {name: infra}
spec: {backend: {inMemory: {}}}
---
kind: KubeadmControlPlane
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
metadata: {name: kcp}
spec:
  replicas: 1
  version: v1.34.4
  machineTemplate: {spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DevMachineTemplate, name: machine}}}
  kubeadmConfigSpec: {}
---
kind: DevMachineTemplate
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
metadata: {name: machine}
spec: {template: {spec: {backend: {inMemory: {}}}}}
`

// TestImportManifestsRefused: what cannot be read, or described by a spec, is refused whole, with
// the type that the exit code depends on.
func TestImportManifestsRefused(t *testing.T) {
	t.Parallel()
	bundles, err := versionsbundle.Parse("bundles", config.Bundles)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		text    string
		refused bool   // or else it is no manifest
		want    string // in the message; empty where it is imported
	}{
		"at the limit of names":   {text: strings.ReplaceAll(manifestsOf, "NAME", strings.Repeat("a", 63))},
		"over the limit of names": {strings.ReplaceAll(manifestsOf, "NAME", strings.Repeat("a", 64)), true, "is one that no spec can describe: the spec of cluster "},
		"unset variable":          {strings.ReplaceAll(manifestsOf, "NAME", "${NAME}"), false, "file: is a template whose variables have no values: NAME; "},
		"one of two is refused": {
			strings.ReplaceAll(manifestsOf, "NAME", "one") + "---\n" + strings.NewReplacer("NAME", "two", "name: infra}", "name: other}").Replace(manifestsOf[:strings.Index(manifestsOf, "---")]),
			true, "cluster two cannot be imported: DevCluster other, which Cluster two names in spec.infrastructureRef, is not there; add its manifest, or apply it",
		},
		"older Cluster API, unknown field": {
			strings.NewReplacer("NAME", "one", "kind: Cluster\napiVersion: cluster.x-k8s.io/v1beta2", "kind: Cluster\napiVersion: cluster.x-k8s.io/v1beta1", "clusterNetwork:", "clusterNetworks: {}\n  clusterNetwork:").Replace(manifestsOf),
			false, `reading Cluster one as cluster.x-k8s.io/v1beta1: `,
		},
		"no cluster": {"kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n", false, "the files have no Cluster of Cluster API: name those that have it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			imported, _, err := lifecycle.ImportManifests(t.Context(), []lifecycle.Manifest{{Name: "file", Data: []byte(test.text)}}, providers.BuiltIn(), bundles)
			if test.want == "" {
				if err != nil || len(imported) != 1 {
					t.Errorf("%d clusters, %v", len(imported), err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want %q in it", err, test.want)
			}
			if errors.As(err, new(*management.RefusedError)) != test.refused || errors.As(err, new(*lifecycle.ManifestError)) == test.refused {
				t.Errorf("error is %T: %v", err, err)
			}
		})
	}
}
