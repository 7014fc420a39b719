package e2e_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// exampleProviders is the directory with the folder of a provider that nothing else knows.
const exampleProviders = "testdata/providers"

// assertProviderFolder takes a cluster through its life on infrastructure that is a folder of
// data and CRDs only: documents with a schema, a sample, a plan with missing images, an
// upgrade over three minors whose machines have the images of their versions.
func assertProviderFolder(t *testing.T) {
	namespace := newNamespace(t, shared, "folder")
	with := func(code int, args ...string) result {
		t.Helper()
		return cli(t, code, append(args, "--providers", exampleProviders)...)
	}
	explained := with(0, "explain", "ExampleMachineConfig.spec.prefix").stdout
	if !strings.Contains(explained, "prefix of the names of images.") || !strings.Contains(explained, "DEFAULT: example-") {
		t.Errorf("explain says %s", explained)
	}
	if schema := with(0, "generate", "schema").stdout; !strings.Contains(schema, `"$ref": "#/$defs/ExampleDatacenterConfig"`) {
		t.Error("the schema has no ExampleDatacenterConfig")
	}

	sample := with(0, "generate", "clusterconfig", "folder", "--provider", "example").stdout
	file := filepath.Join(t.TempDir(), "folder.yaml")
	write := func(version string, images ...string) {
		t.Helper()
		list := ""
		for _, minor := range images {
			list += "\n  - {kubernetesVersion: \"" + minor + "\", name: \"" + minor + "\"}"
		}
		text := strings.NewReplacer(
			"\n  kubernetesVersion: \"1.36\"", "\n  kubernetesVersion: \""+version+"\"",
			"\n  - {kubernetesVersion: \"1.36\", name: a}", list, "\n  - {kubernetesVersion: \"1.36\", name: b}", list,
		).Replace(sample)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("1.33", "1.33")
	with(0, "create", "cluster", "-n", namespace, "-f", file)
	seen := map[string]string{}
	noteImages(t, namespace, seen)
	assertImagesAsked(t, namespace)

	write("1.36", "1.33", "1.36")
	r := with(3, "upgrade", "cluster", "-n", namespace, "-f", file)
	for _, missing := range []string{
		`ExampleMachineConfig control-plane has no image for v1.34.4, which the control plane needs; add an entry with kubernetesVersion "1.34" to its spec.images`,
		`ExampleMachineConfig control-plane has no image for v1.35.4, which the control plane needs; add an entry with kubernetesVersion "1.35" to its spec.images`,
	} {
		if !strings.Contains(r.stderr, "machine-image: "+missing) {
			t.Errorf("stderr does not say %q: %s", missing, r.stderr)
		}
	}

	for _, minor := range []string{"1.34", "1.35", "1.36"} {
		write(minor, "1.33", "1.34", "1.35", "1.36")
		with(0, "upgrade", "cluster", "-n", namespace, "-f", file)
		noteImages(t, namespace, seen)
	}
	got := map[string]int{}
	for _, image := range seen {
		got[image]++
	}
	want := map[string]int{"v1.33.13 example-1.33": 2, "v1.34.4 example-1.34": 2, "v1.35.4 example-1.35": 2, "v1.36.3 example-1.36": 2}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("machines by version and image (-want +got):\n%s", diff)
	}

	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	wrong := filepath.Join(filepath.Dir(file), "wrong.yaml")
	broken := strings.NewReplacer("zone: north", "zone: west", `name: "1.33"`, "name: latest").Replace(string(text))
	if err := os.WriteFile(wrong, []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	var problems []string
	for line := range strings.Lines(with(2, "validate", "-f", wrong).stderr) {
		if at := strings.Index(line, ": spec."); at >= 0 && !strings.HasPrefix(line, "warning") {
			problems = append(problems, strings.TrimSpace(line[at+2:]))
		}
	}
	slices.Sort(problems)
	wantProblems := []string{
		`spec.images: Invalid value: latest is no image of a version; name one`,
		`spec.images: Invalid value: latest is no image of a version; name one`,
		`spec.zone: Unsupported value: "west": supported values: "north", "south"`,
	}
	if diff := cmp.Diff(wantProblems, problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}

	with(0, "delete", "cluster", "folder", "-n", namespace)
	assertNothingLeft(t, namespace)
}

// assertImagesAsked asks for another version without a file: it is refused without a word about the
// image of that version, and planned with one.
func assertImagesAsked(t *testing.T, namespace string) {
	t.Helper()
	asked := []string{"folder", "-n", namespace, "--kubernetes-version", "1.34", "--providers", exampleProviders}
	r := cli(t, 3, append([]string{"upgrade", "cluster"}, asked...)...)
	for _, part := range []string{"the control plane", "group md-0"} {
		want := ": spec.template.spec.image is example-1.33, an image of one version, and machines of " + part + " at v1.34.4 would be made from it; name a file by --images"
		if !strings.Contains(r.stderr, want) {
			t.Errorf("stderr does not say %q: %s", want, r.stderr)
		}
	}
	images := textFile(t, "images.yaml", []byte("{apiVersion: clusterctl-x.io/v1alpha1, kind: MachineImages, images: [{kubernetesVersion: \"1.34\", parts: [control-plane], spec: {image: example-1.34}}, {kubernetesVersion: \"1.34\", spec: {}}]}\n"))
	if r := cli(t, 0, append([]string{"plan", "upgrade", "--images", images}, asked...)...); strings.Contains(r.stderr+r.stdout, "machine-image") {
		t.Errorf("the plan with images says %s%s", r.stdout, r.stderr)
	}
}

// noteImages notes the version and the image of each machine of a namespace.
func noteImages(t *testing.T, namespace string, seen map[string]string) {
	t.Helper()
	images := map[string]string{}
	for _, m := range list[exampleMachine](t, shared, namespace, "examplemachines") {
		images[m.Name] = m.Spec.Image
	}
	for _, m := range list[clusterv1.Machine](t, shared, namespace, "machines") {
		seen[m.Name] = m.Spec.Version + " " + images[m.Spec.InfrastructureRef.Name]
	}
}
