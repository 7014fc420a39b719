package lifecycle_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/rbac"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

func TestObjectKindsOfProviders(t *testing.T) {
	t.Parallel()
	known := providers.Set{
		"acme":     {Spec: providers.Spec{Infrastructure: &providers.Infrastructure{APIVersion: "infrastructure.example.com/v1", Cluster: "AcmeCluster", MachineTemplate: "AcmeMachineTemplate"}}},
		"anything": {},
	}
	controlPlanes := func(group string, kinds ...string) []schema.GroupKind {
		var all []schema.GroupKind
		for _, kind := range kinds {
			all = append(all, schema.GroupKind{Group: group + ".cluster.x-k8s.io", Kind: kind})
		}
		return all
	}
	want := rbac.Kinds{
		ControlPlanes: slices.Concat(
			controlPlanes("controlplane", "AWSManagedControlPlane"), controlPlanes("infrastructure", "AzureManagedControlPlane", "GCPManagedControlPlane"),
			controlPlanes("controlplane", "K0sControlPlane", "K0smotronControlPlane", "KThreesControlPlane", "KamajiControlPlane", "RKE2ControlPlane", "TalosControlPlane"),
		),
		Clusters:         []schema.GroupKind{{Group: "infrastructure.example.com", Kind: "AcmeCluster"}},
		MachineTemplates: []schema.GroupKind{{Group: "infrastructure.example.com", Kind: "AcmeMachineTemplate"}},
		Others:           []schema.GroupKind{{Group: "infrastructure.example.com", Kind: "AcmeClusterTemplate"}},
	}
	if diff := gocmp.Diff(want, lifecycle.ObjectKinds(known)); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
}

// anyInfrastructure has kinds of several API groups, also of Kubernetes itself.
const anyInfrastructure = `apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata: {name: prod}
spec:
  kubernetesVersion: "1.36"
  controlPlaneConfiguration: {machineGroupRef: {kind: ClusterAPIMachineConfig, name: a}}
  workerNodeGroupConfigurations:
  - {name: md-0, machineGroupRef: {kind: ClusterAPIMachineConfig, name: b}}
  clusterNetwork: {pods: {cidrBlocks: [192.168.0.0/16]}, services: {cidrBlocks: [10.96.0.0/12]}, cniConfig: {cilium: {}}}
  datacenterRef: {kind: ClusterAPIDatacenterConfig, name: prod}
---
apiVersion: clusterctl-x.io/v1alpha1
kind: ClusterAPIDatacenterConfig
metadata: {name: prod}
spec:
  infrastructureCluster: {apiVersion: one.example.com/v1, kind: OneCluster}
  resources:
  - {apiVersion: two.example.com/v1, kind: Identity, name: prod, scope: Cluster}
  - {apiVersion: v1, kind: Namespace, name: prod, scope: Cluster}
---
apiVersion: clusterctl-x.io/v1alpha1
kind: ClusterAPIMachineConfig
metadata: {name: a}
spec: {machineTemplate: {apiVersion: one.example.com/v1, kind: OneMachineTemplate}}
---
apiVersion: clusterctl-x.io/v1alpha1
kind: ClusterAPIMachineConfig
metadata: {name: b}
spec: {machineTemplate: {apiVersion: two.example.com/v1, kind: TwoMachineTemplate}}
`

const ofOwnClass = `apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata: {name: prod}
spec:
  kubernetesVersion: v1.36.3
  clusterClass: {name: acme}
  workerNodeGroupConfigurations: [{name: md-0, kubernetesVersion: v1.35.4}]
  clusterNetwork: {pods: {cidrBlocks: [192.168.0.0/16]}, services: {cidrBlocks: [10.96.0.0/12]}}
`

func TestObjectKindsOfSpecs(t *testing.T) {
	t.Parallel()
	bundles, err := versionsbundle.Parse("bundles", config.Bundles)
	if err != nil {
		t.Fatal(err)
	}
	type result struct {
		Kinds rbac.Kinds
		Err   string
	}
	kind := func(group, kind string) schema.GroupKind {
		return schema.GroupKind{Group: group + ".example.com", Kind: kind}
	}
	for name, test := range map[string]struct {
		file string
		want result
	}{
		"any infrastructure": {anyInfrastructure, result{Kinds: rbac.Kinds{
			Clusters:         []schema.GroupKind{kind("one", "OneCluster")},
			MachineTemplates: []schema.GroupKind{kind("one", "OneMachineTemplate"), kind("two", "TwoMachineTemplate")},
			Others:           []schema.GroupKind{kind("one", "OneCluster"), kind("one", "OneMachineTemplate"), kind("two", "Identity"), kind("two", "TwoMachineTemplate")},
		}}},
		"the user's own ClusterClass": {ofOwnClass, result{}},
		"wrong":                       {"kind: Cluster\n", result{Err: "cluster.yaml:1: apiVersion: Required value: each document needs one of clusterctl-x.io/v1alpha1, anywhere.eks.amazonaws.com/v1alpha1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got result
			kinds, err := lifecycle.ReadSpec("cluster.yaml", []byte(test.file), providers.BuiltIn(), bundles).ObjectKinds("ns")
			if err != nil {
				got.Err = err.Error()
			}
			got.Kinds = kinds
			for _, list := range [][]schema.GroupKind{kinds.Clusters, kinds.MachineTemplates, kinds.Others} {
				slices.SortFunc(list, func(a, b schema.GroupKind) int {
					return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
				})
			}
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Errorf("kinds (-want +got):\n%s", diff)
			}
		})
	}
}

// TestObjectKindsOfFolders: the folders name the kinds of all that is rendered for the specs of
// the goldens, but for those whose documents carry objects of any kind.
func TestObjectKindsOfFolders(t *testing.T) {
	t.Parallel()
	known := providers.BuiltIn()
	all := lifecycle.ObjectKinds(known)
	named := slices.Concat(all.Clusters, all.MachineTemplates, all.Others)
	read := func(file string) []byte {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	bundles, err := versionsbundle.Parse("bundles.yaml", read("../manifests/testdata/bundles.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../manifests/testdata/*/cluster.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no specs: %v", err)
	}
	for _, file := range files {
		spec := lifecycle.ReadSpec(file, read(file), known, bundles)
		if of := known.Of(spec.Config.Cluster); of.Spec.Infrastructure == nil {
			continue
		}
		kinds, err := spec.ObjectKinds("default")
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, kind := range slices.Concat(kinds.Clusters, kinds.MachineTemplates, kinds.Others) {
			if !slices.Contains(named, kind) {
				t.Errorf("%s: the folder of the provider does not name %s", file, kind)
			}
		}
	}
}
