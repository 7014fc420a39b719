package e2e_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/config"
)

// controlPlaneKind is a kind of control plane, as the CRD of its provider has it.
type controlPlaneKind struct {
	kind, version, contract string
	// pattern of spec.version.
	pattern string
	// spec of an object, and what becomes of it.
	spec, want string
	// template is the path of the reference to the template of the machines.
	template []string
	// build is what the provider adds to a version that has none.
	build string
}

func (k controlPlaneKind) crd() string {
	return fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: %[1]ss.controlplane.cluster.x-k8s.io
  labels: {cluster.x-k8s.io/%[2]s: %[3]s}
spec:
  group: controlplane.cluster.x-k8s.io
  names: {kind: %[4]s, plural: %[1]ss}
  scope: Namespaced
  versions:
  - name: %[3]s
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-preserve-unknown-fields: true
        properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {version: {type: string, pattern: '%[5]s'}}}}
---
`, strings.ToLower(k.kind), k.contract, k.version, k.kind, k.pattern)
}

// cluster is a cluster of nothing but its control plane, as kubectl would write it.
func (k controlPlaneKind) cluster(name string) string {
	return fmt.Sprintf(`apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: %[1]s}
spec:
  controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: %[2]s, name: theirs}
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DevCluster, name: %[1]s}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DevCluster
metadata: {name: %[1]s}
spec: {backend: {inMemory: {}}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DevMachineTemplate
metadata: {name: machines}
spec: {template: {spec: {backend: {inMemory: {}}}}}
---
apiVersion: controlplane.cluster.x-k8s.io/%[3]s
kind: %[2]s
metadata: {name: theirs, labels: {cluster.x-k8s.io/cluster-name: %[1]s}}
spec: %[4]s
`, name, k.kind, k.version, k.spec)
}

// TestControlPlanesByContract upgrades clusters that kubectl made, without a file: each
// kind of control plane gets its version, and a template, where its provider has them, and
// nothing else.
func TestControlPlanesByContract(t *testing.T) {
	t.Parallel()
	const exact = `^v[0-9]+\.[0-9]+\.[0-9]+`
	bundles := bundlesOfBuilds(t, "v1.32.5+rke2r1", "v1.33.1+rke2r1")
	tests := map[string]struct {
		kind    controlPlaneKind
		args    []string
		plan    []string
		asked   []string
		refused map[string]string // the output, by --kubernetes-version
	}{
		"rke2": {
			controlPlaneKind{
				kind: "RKE2ControlPlane", version: "v1beta2", contract: "v1beta2", pattern: exact + `\+rke2r[0-9]+$`, template: []string{"spec", "machineTemplate", "spec", "infrastructureRef"},
				spec: "{version: v1.31.4+rke2r1, replicas: 3, registrationMethod: address, machineTemplate: {spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DevMachineTemplate, name: machines}}}}",
				want: "{version: v1.33.1+rke2r1, replicas: 3, registrationMethod: address, machineTemplate: {spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DevMachineTemplate, name: NEW}}}}",
			},
			[]string{"--kubernetes-version", "1.33", "--bundles", bundles},
			[]string{"ControlPlane v1.31.4+rke2r1->v1.32.5+rke2r1", "ControlPlane v1.32.5+rke2r1->v1.33.1+rke2r1"},
			[]string{"v1.32.5+rke2r1", "v1.33.1+rke2r1"},
			map[string]string{
				"1.33":           "is at v1.31.4+rke2r1, and no versions bundle has a release of 1.33 with such a build",
				"v1.33.1+rke2r1": "there is no versions bundle of 1.32 with a build such as +rke2r1; use a file that has it with --bundles",
			},
		},
		"k0s": {
			controlPlaneKind{
				kind: "K0sControlPlane", version: "v1beta1", contract: "v1beta1", pattern: exact, template: []string{"spec", "machineTemplate", "infrastructureRef"}, build: "+k0s.0",
				spec: "{version: v1.31.14, replicas: 1, machineTemplate: {infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DevMachineTemplate, name: machines}}}",
				want: "{version: v1.33.13, replicas: 1, machineTemplate: {infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DevMachineTemplate, name: NEW}}}",
			},
			[]string{"--kubernetes-version", "1.33"},
			[]string{"ControlPlane v1.31.14->v1.32.13", "ControlPlane v1.32.13->v1.33.13"},
			[]string{"v1.32.13", "v1.33.13"}, nil,
		},
		"talos": {
			controlPlaneKind{
				kind: "TalosControlPlane", version: "v1alpha3", contract: "v1beta1", pattern: exact, template: []string{"spec", "infrastructureTemplate"},
				spec: "{version: v1.31.14, replicas: 3, controlPlaneConfig: {controlplane: {generateType: controlplane}}, infrastructureTemplate: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DevMachineTemplate, name: machines}}",
				want: "{version: v1.33.13, replicas: 3, controlPlaneConfig: {controlplane: {generateType: controlplane}}, infrastructureTemplate: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DevMachineTemplate, name: NEW}}",
			},
			[]string{"--kubernetes-version", "v1.33.13"},
			[]string{"ControlPlane v1.31.14->v1.32.13", "ControlPlane v1.32.13->v1.33.13"},
			[]string{"v1.32.13", "v1.33.13"}, nil,
		},
		"eks": {
			controlPlaneKind{
				kind: "AWSManagedControlPlane", version: "v1beta2", contract: "v1beta1", pattern: `^v[0-9]+\.[0-9]+$`,
				spec: "{version: v1.31, region: eu-central-1}", want: "{version: v1.34, region: eu-central-1}",
			},
			[]string{"--kubernetes-version", "1.34"},
			[]string{"ControlPlane v1.31->v1.32", "ControlPlane v1.32->v1.33", "ControlPlane v1.33->v1.34"},
			[]string{"v1.32", "v1.33", "v1.34"}, nil,
		},
	}
	var definitions, names []string
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		kind := tests[name].kind
		definitions, names = append(definitions, kind.crd()), append(names, "crd/"+strings.ToLower(kind.kind)+"s.controlplane.cluster.x-k8s.io")
	}
	kubectl(t, shared, []byte(strings.Join(definitions, "")), "apply", "-f", "-")
	kubectl(t, shared, nil, append([]string{"wait", "--for=condition=Established"}, names...)...)
	images := filepath.Join(t.TempDir(), "images.yaml")
	if err := os.WriteFile(images, []byte(`apiVersion: clusterctl-x.io/v1alpha1
kind: MachineImages
images:
- {kubernetesVersion: "1.33", parts: [control-plane], spec: {backend: {inMemory: {vm: {provisioning: {startupDuration: 1s}}}}}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := newNamespace(t, shared, "contract-"+name)
			kubectl(t, shared, []byte(test.kind.cluster(name)), "apply", "-n", namespace, "-f", "-")
			asked := test.kind.provide(t, namespace)
			kubectl(t, shared, nil, "wait", "-n", namespace, "--for=jsonpath={.status.initialization.infrastructureProvisioned}=true", "cluster/"+name)
			kubectl(t, shared, nil, "wait", "-n", namespace, "--for=jsonpath={.status.version}", strings.ToLower(test.kind.kind)+"/theirs")
			for version, why := range test.refused {
				if r := cli(t, 3, "plan", "upgrade", "-n", namespace, name, "--kubernetes-version", version); !strings.Contains(r.stderr, why) {
					t.Errorf("plan to %s says %s, want %q", version, r.stderr, why)
				}
			}
			args := append([]string{"-n", namespace, name}, test.args...)
			if test.kind.template != nil {
				args = append(args, "--images", images)
			}
			assertPlan(t, decodePlan(t, cli(t, 0, append([]string{"plan", "upgrade", "-o", "json"}, args...)...).stdout), test.plan...)
			cli(t, 0, append([]string{"upgrade", "cluster", "--force-conflicts"}, args...)...) // kubectl has applied the versions
			assertPlan(t, decodePlan(t, cli(t, 0, append([]string{"plan", "upgrade", "-o", "json"}, args...)...).stdout))
			if diff := cmp.Diff(test.asked, asked()[1:]); diff != "" {
				t.Errorf("versions that the provider was asked for (-want +got):\n%s", diff)
			}
			test.kind.assertSpec(t, namespace)
		})
	}
}

// assertSpec compares the whole spec of the control plane. A new template has what the
// images say, and the name of the control plane with a hash.
func (k controlPlaneKind) assertSpec(t *testing.T, namespace string) {
	t.Helper()
	var live, want map[string]any
	text := kubectl(t, shared, nil, "get", "-n", namespace, strings.ToLower(k.kind), "theirs", "-o", "json")
	for from, into := range map[string]*map[string]any{text: &live, "spec: " + k.want: &want} {
		if err := yaml.Unmarshal([]byte(from), into); err != nil {
			t.Fatal(err)
		}
	}
	if k.template != nil {
		path := append(slices.Clone(k.template), "name")
		name, _, _ := unstructured.NestedString(live, path...)
		if !regexp.MustCompile(`^theirs-[0-9a-z]+$`).MatchString(name) {
			t.Errorf("template %q", name)
		}
		if err := unstructured.SetNestedField(want, name, path...); err != nil {
			t.Fatal(err)
		}
		started := kubectl(t, shared, nil, "get", "-n", namespace, "devmachinetemplate", name, "-o", "jsonpath={.spec.template.spec.backend.inMemory.vm.provisioning.startupDuration}")
		if diff := cmp.Diff("1s", started); diff != "" {
			t.Errorf("the new template (-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff(want["spec"], live["spec"]); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
}

// provide plays the provider of the kind, as provideHosted does.
func (k controlPlaneKind) provide(t *testing.T, namespace string) func() []string {
	t.Helper()
	return provide(t, namespace, schema.GroupVersionKind{Group: "controlplane.cluster.x-k8s.io", Version: k.version, Kind: k.kind}, func(ctx context.Context, c client.Client, object *unstructured.Unstructured) []string {
		return provideOnce(ctx, c, object, k.build)
	})
}

// bundlesOfBuilds writes bundles with the releases of a provider that adds builds.
func bundlesOfBuilds(t *testing.T, versions ...string) string {
	t.Helper()
	var bundles map[string]any
	if err := yaml.Unmarshal(config.Bundles, &bundles); err != nil {
		t.Fatal(err)
	}
	var wanted []any
	for _, version := range versions {
		minor := strings.Join(strings.Split(strings.TrimPrefix(version, "v"), ".")[:2], ".")
		for _, bundle := range bundles["spec"].(map[string]any)["versionsBundles"].([]any) {
			if of := bundle.(map[string]any); of["kubeVersion"] == minor {
				release := maps.Clone(of["releases"].([]any)[0].(map[string]any))
				release["version"] = version
				wanted = append(wanted, map[string]any{"kubeVersion": minor, "releases": []any{release}})
			}
		}
	}
	bundles["spec"] = map[string]any{"versionsBundles": wanted}
	text, err := yaml.Marshal(bundles)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "bundles.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
