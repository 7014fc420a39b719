package manifests

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

func testReleases(t *testing.T) []versionsbundle.Release {
	t.Helper()
	bundles, err := versionsbundle.Parse("bundles.yaml", readFile(t, "testdata/bundles.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return bundles.Releases()
}

func mustRenderClass(t *testing.T, class Class) []templater.Object {
	t.Helper()
	objects, err := RenderClass(class)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// classIn decodes the ClusterClass, which comes last.
func classIn(t *testing.T, objects []templater.Object) clusterv1.ClusterClass {
	t.Helper()
	var class clusterv1.ClusterClass
	if err := json.Unmarshal(objects[len(objects)-1].JSON, &class); err != nil {
		t.Fatal(err)
	}
	return class
}

// classOf is the class of a provider with the releases that it can have. The documents that
// it is made from, if it needs any, are in a file.
func classOf(t *testing.T, provider string) Class {
	t.Helper()
	class := Class{Name: provider + "-class", Namespace: "classes", Provider: providers.BuiltIn()[provider], Releases: testReleases(t)}
	if class.Provider.Spec.Machine.Kind != "" {
		class.Documents = resolve(t, readFile(t, filepath.Join("testdata", "classes", provider+".spec.yaml")), readFile(t, "testdata/bundles.yaml")).Config
	}
	class, _ = class.WithImages()
	return class
}

func TestClassGolden(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"aws", "clusterapi", "docker", "inmemory"} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			objects := mustRenderClass(t, classOf(t, provider))
			got := text(objects)
			path := filepath.Join("testdata", "classes", provider+".yaml")
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := gocmp.Diff(string(readFile(t, path)), string(got)); diff != "" {
				t.Errorf("class (-want +got; -update writes it anew):\n%s", diff)
			}
			for _, problem := range refusals(t, objects[len(objects)-1]) {
				t.Error(problem)
			}
		})
	}
}

// refusals are where a ClusterClass breaks the schema that an API server has of
// it, which is in the module of Cluster API.
func refusals(t *testing.T, object templater.Object) []error {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/cluster-api")
	dir, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Name   string
				Schema struct {
					OpenAPIV3Schema spec.Schema `json:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(readFile(t, filepath.Join(strings.TrimSpace(string(dir)), "core/config/crd/bases/cluster.x-k8s.io_clusterclasses.yaml")), &crd); err != nil {
		t.Fatal(err)
	}
	for _, version := range crd.Spec.Versions {
		if version.Name == object.Kind.Version {
			u, err := object.Unstructured()
			if err != nil {
				t.Fatal(err)
			}
			return validate.NewSchemaValidator(&version.Schema.OpenAPIV3Schema, nil, "", strfmt.Default).Validate(u.Object).Errors
		}
	}
	t.Fatalf("the schema has no version %s", object.Kind.Version)
	return nil
}

// manyReleases differ in everything that releases differ in.
func manyReleases(number int, build string) []versionsbundle.Release {
	releases := make([]versionsbundle.Release, number)
	for i := range releases {
		version := fmt.Sprintf("v1.%d.%d%s", 30+i/10, i%10, build)
		image := func(name string) versionsbundle.Image {
			return versionsbundle.Image(fmt.Sprintf("registry.example.org/k8s/%s:%s", name, strings.ReplaceAll(version, "+", "_")))
		}
		releases[i] = versionsbundle.Release{
			Version: v1alpha1.MustParseVersion(version),
			Images:  versionsbundle.Images{KubeAPIServer: image("kube-apiserver"), Etcd: image("etcd"), CoreDNS: image("coredns")},
		}
		if i%4 != 3 {
			releases[i].NodeImages = map[string]string{"docker": string(image("node")) + "@sha256:" + strings.Repeat("0", 64)}
		}
	}
	return releases
}

// TestClassOfManyReleases: what the API server would refuse is an error before.
func TestClassOfManyReleases(t *testing.T) {
	t.Parallel()
	const build = "+vendor.2026.11.21.0123456789abcdef"
	for _, test := range []struct {
		name, provider string
		releases       []versionsbundle.Release
		want           string
	}{
		{"one", "docker", manyReleases(1, ""), "<nil>"},
		{"a few", "docker", manyReleases(12, ""), "<nil>"},
		{"builds", "docker", manyReleases(30, build), "<nil>"},
		{"as many as there may be", "docker", manyReleases(100, ""), "<nil>"},
		{"as many as there may be, simulated", "inmemory", manyReleases(100, ""), "<nil>"},
		{"none", "docker", nil, "a ClusterClass needs a version"},
		{"one too many", "inmemory", manyReleases(101, ""), "101 releases are too many: Cluster API allows a ClusterClass 100; use bundles with fewer"},
		{"values that are too long", "inmemory", manyReleases(100, build),
			"patch control-plane-KubeadmControlPlaneTemplate-kubeadmConfigSpec-clusterConfiguration-dns-imageTag: the value of /spec/template/spec/kubeadmConfigSpec/clusterConfiguration/dns/imageTag has 15862 characters, and Cluster API allows 10240; use bundles with fewer releases"},
		{"versions that are too long for a name", "docker", manyReleases(4, "+"+strings.Repeat("a", 200)),
			"patch control-plane-DevMachineTemplate-backend-docker-customImage-v1.30.0+" + strings.Repeat("a", 200) + ": its name has 268 characters, and Cluster API allows 256"},
		{"a version that is too long for a condition", "docker", append(manyReleases(1, "+"+strings.Repeat("a", 210)), manyReleases(4, "")[3]),
			"patch control-plane-DevMachineTemplate-backend-docker-customImage: its condition has 259 characters, and Cluster API allows 256"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			objects, err := RenderClass(Class{Name: "many", Namespace: "default", Provider: providers.BuiltIn()[test.provider], Releases: test.releases})
			if diff := gocmp.Diff(test.want, fmt.Sprint(err)); diff != "" {
				t.Fatalf("error (-want +got):\n%s", diff)
			}
			if err != nil {
				return
			}
			for _, problem := range refusals(t, objects[len(objects)-1]) {
				t.Error(problem)
			}
		})
	}
}

// TestFieldsThatSomeReleasesLack are patched for the others only.
func TestFieldsThatSomeReleasesLack(t *testing.T) {
	t.Parallel()
	const path = "/spec/template/spec/backend/docker/customImage"
	patch := func(name, condition, template string) clusterv1.ClusterClassPatch {
		return clusterv1.ClusterClassPatch{Name: name, EnabledIf: condition, Definitions: []clusterv1.PatchDefinition{{
			Selector: clusterv1.PatchSelector{
				APIVersion: "infrastructure.cluster.x-k8s.io/v1beta2", Kind: "DevMachineTemplate",
				MatchResources: clusterv1.PatchSelectorMatch{MachineDeploymentClass: &clusterv1.PatchSelectorMatchMachineDeploymentClass{Names: []string{v1alpha1.DefaultWorkerClass}}},
			},
			JSONPatches: []clusterv1.JSONPatch{{Op: "add", Path: path, ValueFrom: &clusterv1.JSONPatchValue{Template: template}}},
		}}}
	}
	const (
		name = "default-worker-DevMachineTemplate-backend-docker-customImage"
		at   = ".builtin.machineDeployment.version"
		set  = "{{- $value := `\"%s\"` -}}"
		end  = "{{- else -}}{{- fail (printf \"this ClusterClass was made without Kubernetes %s; make it anew with 'clusterctl-x generate clusterclass --bundles FILE' and an entry for that version in FILE\" " + at + ") -}}{{- end -}}{{- $value }}"
	)
	first := fmt.Sprintf(set, "a")
	// either has a where one condition holds, and b where another does.
	either := func(a, b string) string {
		return "{{- $value := \"\" -}}{{- if " + a + " -}}{{- $value = `\"a\"` -}}{{- else if " + b + " -}}{{- $value = `\"b\"` -}}" + end
	}
	eq := func(patch int) string { return fmt.Sprintf("eq %s \"v1.34.%d\"", at, patch) }
	has := func(patches ...int) string {
		var list strings.Builder
		for _, patch := range patches {
			fmt.Fprintf(&list, ` "v1.34.%d"`, patch)
		}
		return "has " + at + " (list" + list.String() + ")"
	}
	var many []string
	for i := range 36 {
		many = append(many, []string{"a", "", "b"}[i%3])
	}
	for _, test := range []struct {
		name   string
		images []string // of each release; empty for none
		want   []clusterv1.ClusterClassPatch
		remain string // in the template
	}{
		{"all have the same", []string{"a", "a", "a"}, nil, "a"},
		{"none has it", []string{"", "", ""}, nil, ""},
		{"all have it", []string{"a", "a", "b"}, []clusterv1.ClusterClassPatch{
			patch(name, "", either(has(0, 1), eq(2))),
		}, "b"},
		{"one lacks it", []string{"a", "", "a"}, []clusterv1.ClusterClassPatch{
			patch(name, "{{ "+has(0, 2)+" }}", first+"{{- $value }}"),
		}, ""},
		{"the newest lacks it", []string{"a", "b", ""}, []clusterv1.ClusterClassPatch{
			patch(name, "{{ "+has(0, 1)+" }}", either(eq(0), eq(1))),
		}, ""},
		{"one has it", []string{"", "", "a"}, []clusterv1.ClusterClassPatch{
			patch(name, `{{ eq `+at+` "v1.34.2" }}`, first+"{{- $value }}"),
		}, ""},
		{"more have it than a condition has room for", many, []clusterv1.ClusterClassPatch{
			patch(name+"-v1.34.0", "{{ "+has(0, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18, 20, 21, 23, 24, 26, 27)+" }}",
				either(has(0, 3, 6, 9, 12, 15, 18, 21, 24, 27), has(2, 5, 8, 11, 14, 17, 20, 23, 26))),
			patch(name+"-v1.34.29", "{{ "+has(29, 30, 32, 33, 35)+" }}", "{{- $value := \"\" -}}{{- if "+has(29, 32, 35)+" -}}{{- $value = `\"b\"` -}}{{- else if "+has(30, 33)+" -}}{{- $value = `\"a\"` -}}"+end),
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			class := Class{Name: "docker", Namespace: "default", Provider: providers.BuiltIn()["docker"]}
			for i, image := range test.images {
				release := versionsbundle.Release{Version: v1alpha1.MustParseVersion(fmt.Sprintf("v1.34.%d", i))}
				if image != "" {
					release.NodeImages = map[string]string{"docker": image}
				}
				class.Releases = append(class.Releases, release)
			}
			objects := mustRenderClass(t, class)
			var got []clusterv1.ClusterClassPatch
			for _, patch := range classIn(t, objects).Spec.Patches {
				if strings.HasPrefix(patch.Name, name) {
					got = append(got, patch)
				}
			}
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Errorf("patches (-want +got):\n%s", diff)
			}
			if got := workerImage(t, objects); got != test.remain {
				t.Errorf("the template has %q, want %q", got, test.remain)
			}
		})
	}
}

// workerImage is the image in the template of workers' machines.
func workerImage(t *testing.T, objects []templater.Object) string {
	t.Helper()
	var template struct {
		Spec struct {
			Template struct {
				Spec struct {
					Backend struct{ Docker struct{ CustomImage string } }
				}
			}
		}
	}
	i := slices.IndexFunc(objects, func(o templater.Object) bool {
		return strings.HasPrefix(o.Name, "docker-default-worker-") && o.Kind.Kind == "DevMachineTemplate"
	})
	if err := json.Unmarshal(objects[i].JSON, &template); err != nil {
		t.Fatal(err)
	}
	return template.Spec.Template.Spec.Backend.Docker.CustomImage
}
