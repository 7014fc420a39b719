package controlplanes

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	var fields map[string]any
	if err := yaml.Unmarshal([]byte(text), &fields); err != nil {
		t.Fatal(err)
	}
	fields["metadata"] = map[string]any{"name": "c"}
	return &unstructured.Unstructured{Object: fields}
}

func texts(versions []v1alpha1.Version) string {
	var all []string
	for _, version := range versions {
		all = append(all, version.String())
	}
	return strings.Join(all, " ")
}

// TestObjects: what is read of control planes as their providers have them.
func TestObjects(t *testing.T) {
	t.Parallel()
	type result struct {
		Version, Running, Template, Refusal string
		Replaces                            bool
	}
	tests := map[string]struct {
		object string
		want   result
	}{
		"kubeadm": {
			"{kind: KubeadmControlPlane, spec: {version: v1.31.4, machineTemplate: {spec: {infrastructureRef: {name: t}}}}, status: {version: v1.30.1, versions: [{version: v1.30.1, replicas: 2}, {version: v1.31.4, replicas: 1}]}}",
			result{"v1.31.4", "v1.30.1 v1.31.4", "spec.machineTemplate.spec.infrastructureRef", "", true},
		},
		"RKE2, v1beta2": {
			"{kind: RKE2ControlPlane, spec: {version: v1.31.4+rke2r1, machineTemplate: {spec: {infrastructureRef: {name: t}}}}, status: {version: v1.31.4+rke2r1}}",
			result{"v1.31.4+rke2r1", "v1.31.4+rke2r1", "spec.machineTemplate.spec.infrastructureRef", "", true},
		},
		"RKE2, v1beta1": {
			"{kind: RKE2ControlPlane, spec: {version: v1.31.4+rke2r2, machineTemplate: {infrastructureRef: {name: t}}}, status: {version: v1.31.4+rke2r1}}",
			result{"v1.31.4+rke2r2", "v1.31.4+rke2r1", "spec.machineTemplate.infrastructureRef", "", true},
		},
		"K0s in place": {
			"{kind: K0sControlPlane, spec: {version: v1.31.4, machineTemplate: {infrastructureRef: {name: t}}}, status: {version: v1.31.4+k0s.0}}",
			result{"v1.31.4", "v1.31.4", "spec.machineTemplate.infrastructureRef", "", false},
		},
		"K0s recreates": {
			"{kind: K0sControlPlane, spec: {version: v1.31.4+k0s.0, updateStrategy: Recreate}, status: {version: v1.31.4+k0s.1}}",
			result{"v1.31.4+k0s.0", "v1.31.4+k0s.1", "", "", true},
		},
		"K0s without a version": {
			"{kind: K0sControlPlane, spec: {replicas: 1}, status: {version: v1.31.4+k0s.1}}",
			result{"", "v1.31.4+k0s.1", "", "K0sControlPlane/c has no spec.version, so that its provider chooses the version; give it the version that it runs first", false},
		},
		"Talos": {
			"{kind: TalosControlPlane, spec: {version: v1.31.4, infrastructureTemplate: {name: t}}, status: {version: v1.31.4}}",
			result{"v1.31.4", "v1.31.4", "spec.infrastructureTemplate", "", true},
		},
		"MicroK8s": {
			"{kind: MicroK8sControlPlane, spec: {version: v1.31.4, machineTemplate: {infrastructureTemplate: {name: t}}}}",
			result{
				"v1.31.4", "", "spec.machineTemplate.infrastructureTemplate",
				"MicroK8sControlPlane/c cannot be upgraded by its version: its status has no version, so that neither Cluster API nor clusterctl-x can tell when an upgrade of it is done; upgrade it with the tools of its provider", true,
			},
		},
		"EKS": {
			"{kind: AWSManagedControlPlane, spec: {version: v1.31, machineTemplate: {infrastructureRef: {name: t}}}, status: {version: '1.30'}}",
			result{"v1.31", "v1.30", "", "", false},
		},
		"EKS with a patch": {
			"{kind: AWSManagedControlPlane, spec: {version: v1.31.4}}",
			result{"v1.31", "", "", "", false},
		},
		"GKE": {
			"{kind: GCPManagedControlPlane, spec: {version: v1.31.4, controlPlaneVersion: 1.30.1}, status: {version: 1.31.4}}",
			result{"v1.31.4", "v1.31.4", "", "", false},
		},
		"GKE, the older field": {
			"{kind: GCPManagedControlPlane, spec: {controlPlaneVersion: 1.30.1}, status: {currentVersion: 1.30.1}}",
			result{"v1.30.1", "v1.30.1", "", "", false},
		},
		"one that nothing is known of": {
			"{kind: MyControlPlane, spec: {version: v1.31.4, machineTemplate: {infrastructureRef: {name: t}}}, status: {version: v1.31.4}}",
			result{"v1.31.4", "v1.31.4", "spec.machineTemplate.infrastructureRef", "", true},
		},
		"what is no version": {
			"{kind: MyControlPlane, spec: {version: v1.31}, status: {version: latest}}",
			result{"", "", "", `spec.version of MyControlPlane/c is "v1.31", which is no version of Kubernetes; write a version such as v1.34.2`, true},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := object(t, test.object)
			kind := Of(o.GetKind())
			got := result{
				kind.Version(o).String(), texts(kind.Running(o)), strings.Join(kind.TemplatePath(o), "."), kind.Refusal(o), kind.ReplacesMachines(o),
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestSetVersion: a version is written where the live object has it, and in its form.
func TestSetVersion(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ live, version, want string }{
		"as it is":        {"{kind: RKE2ControlPlane, spec: {version: v1.31.4+rke2r1, replicas: 3}}", "v1.32.1+rke2r1", "{kind: RKE2ControlPlane, spec: {version: v1.32.1+rke2r1}}"},
		"a minor":         {"{kind: AWSManagedControlPlane, spec: {version: v1.31}}", "v1.32.13", "{kind: AWSManagedControlPlane, spec: {version: v1.32}}"},
		"the older field": {"{kind: GCPManagedControlPlane, spec: {controlPlaneVersion: 1.31.4}}", "v1.32.13", "{kind: GCPManagedControlPlane, spec: {controlPlaneVersion: 1.32.13}}"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live := object(t, test.live)
			partial := &unstructured.Unstructured{Object: map[string]any{"kind": live.GetKind(), "metadata": map[string]any{"name": "c"}}}
			if err := Of(live.GetKind()).SetVersion(partial, live, v1alpha1.MustParseVersion(test.version)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(object(t, test.want), partial); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestReleases: those of another sort of builds are no versions of the control plane.
func TestReleases(t *testing.T) {
	t.Parallel()
	releases := []v1alpha1.Version{
		v1alpha1.MustParseVersion("v1.32.4"), v1alpha1.MustParseVersion("v1.32.5"), v1alpha1.MustParseVersion("v1.32.5+rke2r2"), v1alpha1.MustParseVersion("v1.33.1+rke2r1"), v1alpha1.MustParseVersion("v1.32.5+k0s.0"),
	}
	tests := map[string]struct{ kind, like, want string }{
		"RKE2":         {"RKE2ControlPlane", "v1.31.4+rke2r1", "v1.32.5+rke2r2 v1.33.1+rke2r1"},
		"K0s":          {"K0sControlPlane", "v1.31.4+k0s.1", "v1.32.5+k0s.0"},
		"Talos":        {"TalosControlPlane", "v1.31.4", "v1.32.4 v1.32.5"},
		"EKS":          {"AWSManagedControlPlane", "v1.31.4", "v1.32.4 v1.32.5 v1.32.5+k0s.0 v1.32.5+rke2r2 v1.32 v1.33.1+rke2r1 v1.33"},
		"K3s has none": {"KThreesControlPlane", "v1.31.4+k3s1", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, texts(Of(test.kind).Releases(v1alpha1.MustParseVersion(test.like), releases))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestReplacingPaths: a kind without machines has none to replace.
func TestReplacingPaths(t *testing.T) {
	t.Parallel()
	got := map[string][][]string{"TalosControlPlane": Of("TalosControlPlane").ReplacingPaths(), "KamajiControlPlane": Of("KamajiControlPlane").ReplacingPaths()}
	want := map[string][][]string{"TalosControlPlane": {{"spec", "version"}, {"spec", "controlPlaneConfig"}, {"spec", "infrastructureTemplate"}}, "KamajiControlPlane": nil}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: clusterctl-x.io/v1alpha1\nkind: ControlPlaneKinds\nspec:\n  kinds:\n"
	tests := map[string]struct{ text, want string }{
		"built in":           {string(config.ControlPlanes), ""},
		"a field too many":   {head + "  - {kind: AControlPlane, source: s, version: spec.version}\n", "f:5: spec.kinds[0].version: Forbidden: unknown field; did you mean versions?"},
		"twice":              {head + "  - {kind: AControlPlane, source: s}\n  - {kind: AControlPlane, source: s}\n", "f: kind AControlPlane is there twice; remove one of them"},
		"no control plane":   {head + "  - {kind: ACluster, source: s}\n", `f: kind "ACluster" does not end in ControlPlane`},
		"without source":     {head + "  - {kind: AControlPlane}\n", "f: kind AControlPlane has no source; say where it is known from"},
		"machines and none":  {head + "  - {kind: AControlPlane, source: s, withoutMachines: true, templates: [spec.a]}\n", "f: kind AControlPlane has no machines and templates; remove one of them"},
		"in place, no field": {head + "  - {kind: AControlPlane, source: s, inPlace: {values: [a]}}\n", "f: kind AControlPlane has inPlace without field or values; give it both"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := read("f", []byte(test.text))
			got := ""
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
