package manifests

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	gocmp "github.com/google/go-cmp/cmp"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
)

// specOfFoo is a cluster of provider foo of fooFolder.
const specOfFoo = `apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata: {name: prod}
spec:
  kubernetesVersion: "1.34"
  controlPlaneConfiguration:
    machineGroupRef: {kind: FooMachineConfig, name: large}
  workerNodeGroupConfigurations:
  - {name: md-0, machineGroupRef: {kind: FooMachineConfig, name: small}}
  clusterNetwork:
    pods: {cidrBlocks: [192.168.0.0/16]}
    services: {cidrBlocks: [10.96.0.0/12]}
  datacenterRef: {kind: FooDatacenterConfig, name: prod}
---
apiVersion: clusterctl-x.io/v1alpha1
kind: FooDatacenterConfig
metadata: {name: prod}
---
apiVersion: clusterctl-x.io/v1alpha1
kind: FooMachineConfig
metadata: {name: large}
spec:
  images: [{kubernetesVersion: "1.33", name: a, disk: {size: 5}}, {kubernetesVersion: "1.34", name: b, disk: {kind: fast}}]
---
apiVersion: clusterctl-x.io/v1alpha1
kind: FooMachineConfig
metadata: {name: small}
spec:
  images: [{kubernetesVersion: "1.33", name: c, disk: {}}, {kubernetesVersion: "1.34", name: d, disk: {}}]
`

// fooFolder is a provider whose machines have this spec, and what its kubeadm does.
func fooFolder(machine, kubeadm string) fstest.MapFS {
	object := func(kind, spec string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("apiVersion: foo.example.org/v1\nkind: " + kind + "\nmetadata: {name: {{ quote .Name }}}\nspec:" + spec + "\n")}
	}
	files := fstest.MapFS{
		"foo/provider.yaml": {Data: []byte(`apiVersion: clusterctl-x.io/v1alpha1
kind: Provider
metadata: {name: foo}
spec:
  datacenter: {kind: FooDatacenterConfig}
  machine: {kind: FooMachineConfig}
  infrastructure: {apiVersion: foo.example.org/v1, cluster: FooCluster, machineTemplate: FooMachineTemplate}
  endpoint: Either
  images: images
`)},
		"foo/datacenter.schema.yaml": {Data: []byte("type: object\n")},
		"foo/machine.schema.yaml": {Data: []byte(`type: object
properties:
  images:
    type: array
    items:
      type: object
      required: [kubernetesVersion, name, disk]
      properties:
        kubernetesVersion: {type: string, format: kubernetes-version}
        name: {type: string}
        disk: {type: object, properties: {size: {type: integer}, kind: {type: string}}}
  base: {type: object, default: {kind: slow}, properties: {kind: {type: string}}}
`)},
		"foo/infrastructure-cluster.yaml.tmpl": object("FooCluster", " {}"),
		"foo/machine-template.yaml.tmpl":       object("FooMachineTemplate", "\n  template:\n    spec:\n      "+machine),
		"foo/sample.yaml.tmpl":                 {},
	}
	if kubeadm != "" {
		files["foo/kubeadm.yaml.tmpl"] = &fstest.MapFile{Data: []byte(kubeadm)}
	}
	return files
}

// classOfFoo makes the class of a spec with a folder of provider foo.
func classOfFoo(t *testing.T, files fstest.MapFS, spec string) ([]templater.Object, error) {
	t.Helper()
	known, err := providers.Load("dir", files)
	if err != nil {
		t.Fatal(err)
	}
	config := known.Decode("foo.yaml", []byte(spec))
	if err := config.Problems.OrNil(); err != nil {
		t.Fatal(err)
	}
	return RenderClass(Class{Name: "foo", Namespace: "default", Provider: known["foo"], Documents: config, Releases: testReleases(t)[3:7]})
}

// TestImagePatches: an entry comes to where the template of the provider puts it.
func TestImagePatches(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		machine string
		want    map[string]string // the values at v1.33.3, by path
	}{
		"a field":            {`{image: {{ quote .Image.name }}}`, map[string]string{"image": `"a"`}},
		"a part of a text":   {`{image: {{ quote (printf "<%s:%s>" .Image.name "x") }}}`, map[string]string{"image": `"\u003ca:x\u003e"`}},
		"twice, in a list":   {`{disks: [{image: {{ quote .Image.name }}}, 2, {{ quote .Image.name }}]}`, map[string]string{"disks/0/image": `"a"`, "disks/2": `"a"`}},
		"an object":          {"a/b:\n        {{- nindent 8 (toYaml .Image.disk) }}", map[string]string{"a~1b": `{"size":5}`}},
		"merged":             {"disk:\n        {{- nindent 8 (toYaml (merged .Machine.base .Image.disk)) }}", map[string]string{"disk": `{"kind":"slow","size":5}`}},
		"no use of an image": {`{image: fixed}`, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, err := classOfFoo(t, fooFolder(test.machine, ""), specOfFoo)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, patch := range classIn(t, objects).Spec.Patches {
				if patch.Name != "control-plane-FooMachineTemplate-largeImages" {
					continue
				}
				for _, change := range patch.Definitions[0].JSONPatches {
					variables := builtin("prod", v1alpha1.MustParseVersion("v1.33.3"))
					variables["largeImages"] = []any{map[string]any{"kubernetesVersion": "1.33", "name": "a", "disk": map[string]any{"size": 5}}}
					got[strings.TrimPrefix(change.Path, "/spec/template/spec/")] = evaluate(t, change.ValueFrom.Template, variables)
				}
			}
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
		})
	}
}

// TestClassOfDocumentsRefused: what no class can have is an error, and no wrong class.
func TestClassOfDocumentsRefused(t *testing.T) {
	t.Parallel()
	edited := func(files fstest.MapFS, name, old, replaced string) fstest.MapFS {
		text := string(files[name].Data)
		if !strings.Contains(text, old) {
			t.Fatalf("%s has no %q", name, old)
		}
		files[name] = &fstest.MapFile{Data: []byte(strings.Replace(text, old, replaced, 1))}
		return files
	}
	const fixed = "{image: fixed}"
	spec := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(specOfFoo) }
	for name, test := range map[string]struct {
		files fstest.MapFS
		spec  string
		want  string
	}{
		"images that a template chooses by": {fooFolder(`{ {{ if eq .Version "v1.33.3" }}image: {{ quote .Image.name }}{{ end }} }`, ""), specOfFoo,
			"provider foo puts images of large where no patch of a ClusterClass can put them; make clusters of it without a class"},
		"images in kubeadm": {fooFolder(fixed, `{preKubeadmCommands: [{{ quote (printf "%s" .Image.name) }}]}`), specOfFoo,
			"provider foo puts images of large where no patch of a ClusterClass can put them; make clusters of it without a class"},
		"images with fields that may be missing": {edited(fooFolder(fixed, ""), "foo/machine.schema.yaml", ", disk]", "]"), specOfFoo,
			"images of FooMachineConfig may lack the field disk, which a class cannot leave out of a machine template; no class is generated for provider foo"},
		"images that are no list": {edited(fooFolder(fixed, ""), "foo/provider.yaml", "images: images", "images: others"), specOfFoo, "<nil>"},
		"two variables of one name": {fooFolder(fixed, ""), spec("name: large", "name: a-b", "name: small", "name: a.b"),
			"documents a-b and a.b would both have the variable aBImages; rename one of the two"},
		"no template of the infrastructure cluster": {edited(fooFolder(fixed, ""), "foo/provider.yaml", "  endpoint", "  withoutTemplate: [FooCluster]\n  endpoint"), specOfFoo,
			"a ClusterClass needs a template of the infrastructure cluster, and the infrastructure provider of FooCluster has no kind FooClusterTemplate; make clusters of it without a class"},
		"a port that the class cannot say": {fooFolder(fixed, ""), spec("controlPlaneConfiguration:", "controlPlaneConfiguration:\n    endpoint: {host: \"api.example.com:8443\"}"),
			"the endpoint of the file has port 8443, at which the machines of a cluster from a class have no API server; use port 6443, or a load balancer with skipLoadBalancerDeployment"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := classOfFoo(t, test.files, test.spec)
			if diff := gocmp.Diff(test.want, fmt.Sprint(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
	_, err := RenderClass(Class{Name: "c", Provider: providers.BuiltIn()["aws"], Releases: manyReleases(1, "")})
	const want = "machines of provider aws are described by documents of kind AWSMachineConfig, and a class needs them; give a cluster spec that has them with -f"
	if diff := gocmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("error without documents (-want +got):\n%s", diff)
	}
}

// TestWorkerClasses: there is one for each document that groups name.
func TestWorkerClasses(t *testing.T) {
	t.Parallel()
	group := func(name, document string) string {
		return "  - {name: " + name + ", machineGroupRef: {kind: FooMachineConfig, name: " + document + "}}\n"
	}
	for name, test := range map[string]struct {
		groups string
		want   []string
	}{
		"no groups":                         {"", nil},
		"one document of two groups":        {group("a", "small") + group("b", "small"), []string{"default-worker"}},
		"two documents":                     {group("a", "small") + group("b", "large") + group("c", "small"), []string{"small", "control-plane"}},
		"the document of the control plane": {group("a", "large"), []string{"default-worker"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := strings.Replace(specOfFoo, group("md-0", "small"), test.groups, 1)
			if test.groups == "" {
				spec = strings.Replace(spec, "workerNodeGroupConfigurations:\n", "workerNodeGroupConfigurations: []\n", 1)
			}
			spec = strings.ReplaceAll(spec, "name: large", "name: control-plane")
			objects, err := classOfFoo(t, fooFolder("{image: fixed}", ""), spec)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, workers := range classIn(t, objects).Spec.Workers.MachineDeployments {
				got = append(got, workers.Class)
			}
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Errorf("classes of workers (-want +got):\n%s", diff)
			}
			names := map[string]bool{}
			for _, object := range objects {
				names[object.Kind.Kind+"/"+object.Name] = true
			}
			if len(names) != len(objects) {
				t.Errorf("%d objects have %d names: %v", len(objects), len(names), slices.Sorted(maps.Keys(names)))
			}
		})
	}
}

// TestNewImageKeepsTemplates: an entry that is added to a list changes the default of a
// variable, and no template.
func TestNewImageKeepsTemplates(t *testing.T) {
	t.Parallel()
	names := func(spec string) []string {
		objects, err := classOfFoo(t, fooFolder(`{image: {{ quote .Image.name }}}`, ""), spec)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, object := range objects {
			names = append(names, object.Name)
		}
		return names
	}
	more := strings.Replace(specOfFoo, "disk: {kind: fast}}]", "disk: {kind: fast}}, {kubernetesVersion: \"1.35\", name: c, disk: {}}]", 1)
	if diff := gocmp.Diff(names(specOfFoo), names(more)); diff != "" {
		t.Errorf("names (-before +after):\n%s", diff)
	}
}

// TestEntryOfNoVersion: an image that is nowhere is said by its version.
func TestEntryOfNoVersion(t *testing.T) {
	t.Parallel()
	variable := imagesVariable{name: "largeImages", list: `[{"kubernetesVersion":"1.33"}]`}
	text, err := variable.value(imagePlace{text: marker("name")}, ".builtin.controlPlane.version")
	if err != nil {
		t.Fatal(err)
	}
	variables := builtin("prod", v1alpha1.MustParseVersion("v1.34.1"))
	variables["largeImages"] = []any{map[string]any{"kubernetesVersion": "1.34.2"}}
	_, err = carriedOut([]clusterv1.JSONPatch{fromTemplate("/spec/a", text)}, map[string]any{}, variables)
	const want = "neither the variable largeImages nor the class has an image for Kubernetes v1.34.1; add an entry to the variable"
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error %v, want at its end %s", err, want)
	}
}
