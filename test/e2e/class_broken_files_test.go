package e2e_test

// A class of a user's own, with variables of every kind, and clusters with and
// without a class, which tests break by edits.
const handmadeTemplates = `apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DevClusterTemplate
metadata: {name: handmade}
spec: {template: {spec: {backend: {inMemory: {}}}}}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlaneTemplate
metadata: {name: handmade}
spec:
  template:
    spec:
      kubeadmConfigSpec:
        clusterConfiguration: {featureGates: {}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DevMachineTemplate
metadata: {name: handmade}
spec: {template: {spec: {backend: {inMemory: {vm: {provisioning: {startupDuration: 1s}}}}}}}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: {name: handmade}
spec:
  template:
    spec:
      joinConfiguration: {nodeRegistration: {kubeletExtraArgs: [{name: v, value: "1"}]}}
---
`

const handmadeClass = `apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: {name: handmade}
spec:
  kubernetesVersions: [v1.31.14, v1.32.13, v1.33.13, v1.34.4]
  infrastructure:
    templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DevClusterTemplate, name: handmade}
  controlPlane:
    templateRef: {apiVersion: controlplane.cluster.x-k8s.io/v1beta2, kind: KubeadmControlPlaneTemplate, name: handmade}
` + machinesOfControlPlane + `  workers:
    machineDeployments:
    - class: default-worker
      bootstrap:
        templateRef: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta2, kind: KubeadmConfigTemplate, name: handmade}
      infrastructure:
        templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DevMachineTemplate, name: handmade}
    - class: large
      bootstrap:
        templateRef: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta2, kind: KubeadmConfigTemplate, name: handmade}
      infrastructure:
        templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DevMachineTemplate, name: handmade}
` + variablesAndPatches

const machinesOfControlPlane = `    machineInfrastructure:
      templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DevMachineTemplate, name: handmade}
`

const variablesAndPatches = `  variables:
  - name: region
    required: true
    schema: {openAPIV3Schema: {type: string, enum: [eu, us], description: Where the machines are.}}
  - name: size
    required: false
    schema: {openAPIV3Schema: {type: integer, minimum: 1, maximum: 5, default: 2}}
  - name: proxy
    required: false
    schema:
      openAPIV3Schema:
        type: object
        required: [url]
        properties:
          url: {type: string, minLength: 1}
          hosts: {type: array, items: {type: string}}
  - name: disks
    required: false
    schema:
      openAPIV3Schema:
        type: object
        properties: {least: {type: integer}, most: {type: integer}}
        x-kubernetes-validations: [{rule: self.least <= self.most, message: least must not be above most}]
  - name: epoch
    required: false
    schema:
      openAPIV3Schema:
        type: integer
        x-kubernetes-validations: [{rule: self >= oldSelf, message: an epoch only grows}]
  patches:
  - name: region
    definitions:
    - selector: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta2, kind: KubeadmConfigTemplate, matchResources: {machineDeploymentClass: {names: [default-worker, large]}}}
      jsonPatches:
      - {op: add, path: /spec/template/spec/preKubeadmCommands, valueFrom: {template: '["echo {{ .region }} {{ .size }}"]'}}
`

const managedSpec = `apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata: {name: managed}
spec:
  kubernetesVersion: "1.32"
  clusterClass:
    name: handmade
    variables:
      region: eu
      size: 2
      proxy: {url: "http://proxy"}
      epoch: 3
  clusterNetwork:
    pods: {cidrBlocks: [192.168.0.0/16]}
    services: {cidrBlocks: [10.96.0.0/12]}
  workerNodeGroupConfigurations:
  - name: md-0
  - name: md-1
    class: large
`

const generatedSpec = `apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata: {name: generated}
spec:
  kubernetesVersion: "1.34"
  clusterClass: {name: inmemory}
  clusterNetwork:
    pods: {cidrBlocks: [192.168.0.0/16]}
    services: {cidrBlocks: [10.96.0.0/12]}
  workerNodeGroupConfigurations:
  - name: md-0
  datacenterRef: {kind: InMemoryDatacenterConfig, name: any}
`

const classicSpec = `apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata: {name: classic}
spec:
  kubernetesVersion: "1.31"
  clusterNetwork:
    pods: {cidrBlocks: [192.168.0.0/16]}
    services: {cidrBlocks: [10.96.0.0/12]}
  workerNodeGroupConfigurations:
  - name: md-0
  datacenterRef: {kind: InMemoryDatacenterConfig, name: any}
`

// Lines of managedSpec.
const (
	withVariables = "    variables:\n      region: eu\n      size: 2\n      proxy: {url: \"http://proxy\"}\n      epoch: 3\n"
	withClass     = "  clusterClass:\n    name: handmade\n" + withVariables
	ofLarge       = "    class: large\n"
)

// otherKinds are templates beside those of handmadeTemplates.
const otherKinds = `apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DockerClusterTemplate
metadata: {name: handmade}
spec: {template: {spec: {}}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DockerMachineTemplate
metadata: {name: handmade}
spec: {template: {spec: {}}}
`

// variantsOfHandmade are edits of handmadeClass that make classes of other names.
func variantsOfHandmade() map[string][]string {
	return map[string][]string{
		"half":       {"KubeadmConfigTemplate, name: handmade", "KubeadmConfigTemplate, name: gone"},
		"plain":      {variablesAndPatches, ""},
		"otherkinds": {"kind: DevClusterTemplate", "kind: DockerClusterTemplate", "kind: DevMachineTemplate", "kind: DockerMachineTemplate"},
		"nomachines": {machinesOfControlPlane, ""},
		"paused":     {"metadata: {name: handmade}", "metadata: {name: handmade, annotations: {cluster.x-k8s.io/paused: \"\"}}"},
		"unread":     {"  patches:", "  patches:\n  - {name: unread, external: {generatePatchesExtension: patches.nowhere, discoverVariablesExtension: variables.nowhere}}"},
		"badpatch":   {"/spec/template/spec/preKubeadmCommands", "/spec/template/spec/nothing/preKubeadmCommands"},
	}
}
