package importer_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/clusterctl-x/clusterctl-x/pkg/importer"
)

// direct is a cluster with a group and a pool, as the API server might have it.
const direct = `
kind: Cluster
apiVersion: cluster.x-k8s.io/v1beta2
metadata: {name: prod, namespace: shop}
spec:
  clusterNetwork: {pods: {cidrBlocks: [10.0.0.0/16]}, services: {cidrBlocks: [10.96.0.0/12]}}
  controlPlaneEndpoint: {host: "", port: 0}
  controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: KubeadmControlPlane, name: prod-kcp}
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AWSCluster, name: prod}
---
kind: AWSCluster
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
metadata: {name: prod, namespace: shop}
spec: {region: eu-central-1, controlPlaneEndpoint: {port: 6443}}
---
kind: KubeadmControlPlane
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
metadata: {name: prod-kcp, namespace: shop}
spec:
  replicas: 3
  version: v1.34.4
  machineTemplate: {spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AWSMachineTemplate, name: prod}}}
  kubeadmConfigSpec: {format: cloud-config}
---
kind: AWSMachineTemplate
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
metadata: {name: prod, namespace: shop}
spec: {template: {spec: {instanceType: m7i.large, ami: {id: ami-1}}}}
---
kind: MachineDeployment
apiVersion: cluster.x-k8s.io/v1beta2
metadata: {name: prod-md-0, namespace: shop}
spec:
  clusterName: prod
  replicas: 2
  template:
    spec:
      clusterName: prod
      version: v1.33.13
      bootstrap: {configRef: {apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfigTemplate, name: prod-md-0}}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AWSMachineTemplate, name: prod}
---
kind: KubeadmConfigTemplate
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
metadata: {name: prod-md-0, namespace: shop}
spec: {template: {spec: {joinConfiguration: {nodeRegistration: {imagePullPolicy: Always}}}}}
---
kind: MachinePool
apiVersion: cluster.x-k8s.io/v1beta2
metadata: {name: prod-mp-0, namespace: shop}
spec:
  clusterName: prod
  template:
    spec:
      version: v1.34.4
      bootstrap: {configRef: {apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfig, name: prod-mp-0}}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AWSMachinePool, name: prod-mp-0}
---
kind: AWSMachinePool
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
metadata: {name: prod-mp-0, namespace: shop}
---
kind: Secret
apiVersion: v1
metadata: {name: credentials, namespace: shop}
`

func kinds() importer.Kinds {
	return importer.Kinds{Datacenter: "DC", Machine: "MC", ImageFields: func(kind schema.GroupKind) []string {
		if kind.Kind == "AWSMachineTemplate" {
			return []string{"ami.id"}
		}
		return nil
	}}
}

func objectsOf(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := importer.Parse("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// TestClusters: the whole spec of a cluster without a class, and its notes.
func TestClusters(t *testing.T) {
	t.Parallel()
	imported, notes, err := importer.Clusters(objectsOf(t, direct), kinds(), false)
	if err != nil {
		t.Fatal(err)
	}
	const want = `apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata:
  name: prod
  namespace: shop
spec:
  kubernetesVersion: v1.34.4
  controlPlaneConfiguration:
    count: 3
    resourceName: prod-kcp
    machineGroupRef:
      kind: MC
      name: control-plane
  workerNodeGroupConfigurations:
  - name: md-0
    count: 2
    kubernetesVersion: v1.33.13
    machineGroupRef:
      kind: MC
      name: md-0
  clusterNetwork:
    pods:
      cidrBlocks:
      - 10.0.0.0/16
    services:
      cidrBlocks:
      - 10.96.0.0/12
  datacenterRef:
    kind: DC
    name: prod
---
apiVersion: clusterctl-x.io/v1alpha1
kind: DC
metadata:
  name: prod
spec:
  infrastructureCluster:
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
    kind: AWSCluster
    spec:
      controlPlaneEndpoint:
        port: 6443
      region: eu-central-1
---
apiVersion: clusterctl-x.io/v1alpha1
kind: MC
metadata:
  name: control-plane
spec:
  machineTemplate:
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
    kind: AWSMachineTemplate
    name: prod
    spec:
      ami:
        id: ami-1
      instanceType: m7i.large
  kubeadmDefaults: None
  kubeadmConfigSpec:
    format: cloud-config
---
apiVersion: clusterctl-x.io/v1alpha1
kind: MC
metadata:
  name: md-0
spec:
  machineTemplate:
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
    kind: AWSMachineTemplate
    name: prod
    spec:
      ami:
        id: ami-1
      instanceType: m7i.large
  kubeadmDefaults: None
  kubeadmConfigSpec:
    joinConfiguration:
      nodeRegistration:
        imagePullPolicy: Always
  bootstrapTemplate:
    name: prod-md-0
`
	if diff := cmp.Diff(want, string(imported[0].YAML)); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	wantNotes := []string{
		"all of AWSMachinePool prod-mp-0: MachinePool prod-mp-0 has it; it stays as it is",
		"all of MachinePool prod-mp-0: a cluster spec has no MachinePools; it stays as it is with what it refers to, and 'upgrade cluster' without a file moves it",
		"ami.id of AWSMachineTemplate prod: an image of one version, which machines of all versions get; before an upgrade, give spec.images of the document an entry for each version of it",
	}
	if diff := cmp.Diff(wantNotes, imported[0].Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Secret credentials is left out: it is no part of one cluster; keep its manifest"}, notes); diff != "" {
		t.Errorf("notes about other objects (-want +got):\n%s", diff)
	}
}

// TestRefused: what no spec can describe is refused with the reason.
func TestRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 49)
	for name, test := range map[string]struct{ old, new, want string }{
		"half created": {
			"  controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: KubeadmControlPlane, name: prod-kcp}\n", "",
			"Cluster prod has no spec.controlPlaneRef yet; import it once its objects refer to each other",
		},
		"half deleted": {
			"{name: prod-kcp, namespace: shop}", "{name: gone, namespace: shop}",
			"KubeadmControlPlane prod-kcp, which Cluster prod names in spec.controlPlaneRef, is not there; add its manifest, or apply it",
		},
		"cluster being deleted": {"metadata: {name: prod, namespace: shop}\nspec:\n  clusterNetwork", "metadata: {name: prod, namespace: shop, deletionTimestamp: 2026-01-01T00:00:00Z}\nspec:\n  clusterNetwork", "it is being deleted"},
		"group being deleted": {
			"{name: prod-md-0, namespace: shop}\nspec:\n  clusterName: prod\n  replicas", "{name: prod-md-0, namespace: shop, deletionTimestamp: 2026-01-01T00:00:00Z}\nspec:\n  clusterName: prod\n  replicas",
			"MachineDeployment prod-md-0 is being deleted; import the cluster once it is gone",
		},
		"no template": {
			"KubeadmConfigTemplate\napiVersion", "KubeadmConfig\napiVersion",
			"KubeadmConfigTemplate prod-md-0, which MachineDeployment prod-md-0 names in spec.template.spec.bootstrap.configRef, is not there; add its manifest, or apply it",
		},
		"other bootstrap": {
			"KubeadmConfigTemplate", "RKE2ConfigTemplate",
			"MachineDeployment prod-md-0 is bootstrapped by kind RKE2ConfigTemplate, and a spec describes kubeadm; 'clusterctl-x upgrade cluster prod --kubernetes-version VERSION' upgrades it without a file",
		},
		"other control plane": {
			"KubeadmControlPlane", "K0sControlPlane",
			"its control plane is of kind K0sControlPlane, and a spec describes those of kubeadm; 'clusterctl-x upgrade cluster prod --kubernetes-version VERSION' upgrades it without a file",
		},
		"group without a version": {"      version: v1.33.13\n", "", "MachineDeployment prod-md-0 has no spec.template.spec.version; set it"},
		"name at its limit":       {"prod-md-0", "prod-" + long[1:], ""},
		"name over its limit": {
			"prod-md-0", "prod-" + long,
			"MachineDeployment prod-" + long + " cannot be a worker node group: its name has more than 48 characters, or another group has it; label it clusterctl-x.io/worker-node-group=NAME",
		},
		"long name with a label":   {"{name: prod-md-0, namespace: shop}\nspec:\n  clusterName: prod\n  replicas", "{name: " + long + ", namespace: shop, labels: {clusterctl-x.io/worker-node-group: general}}\nspec:\n  clusterName: prod\n  replicas", ""},
		"topology without a class": {"spec:\n  clusterNetwork", "spec:\n  topology: {version: v1.34.4}\n  clusterNetwork", "its spec.topology has no classRef"},
		"topology with a managed control plane": {
			"spec:\n  clusterNetwork", "spec:\n  topology: {version: v1.34.4, classRef: {name: eks}}\n  clusterNetwork",
			"its spec.topology.controlPlane.replicas is not set, as in clusters with a managed control plane, and a spec counts the machines of control planes; set it if there are machines, or upgrade without a file: 'clusterctl-x upgrade cluster prod --kubernetes-version VERSION'",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.ReplaceAll(direct, test.old, test.new)
			if text == direct {
				t.Fatalf("%q is not there", test.old)
			}
			_, _, err := importer.Clusters(objectsOf(t, text), kinds(), true)
			refused := &importer.RefusedError{}
			if errors.As(err, &refused) {
				if diff := cmp.Diff(&importer.RefusedError{Cluster: "prod", Reason: test.want}, refused); diff != "" {
					t.Errorf("error (-want +got):\n%s", diff)
				}
			} else if test.want != "" || err != nil {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}
