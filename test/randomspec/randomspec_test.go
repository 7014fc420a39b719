package randomspec_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
	"github.com/clusterctl-x/clusterctl-x/test/randomspec"
)

const (
	// accepted is how many specs of each provider must be valid.
	accepted = 200
	// mostRefused is how many may be refused until then, for what schemas cannot say.
	mostRefused = 100
	// changes is how often a value is drawn anew to see whether it acts.
	changes = 10
)

// TestRandomSpecs has random documents of each provider read, checked and rendered, again with
// the same outcome, and looks for each of their fields in what is rendered.
func TestRandomSpecs(t *testing.T) {
	t.Parallel()
	bundles, err := versionsbundle.Parse("bundles.yaml", config.Bundles)
	if err != nil {
		t.Fatal(err)
	}
	for name, provider := range providers.BuiltIn() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assertSpecs(t, provider, bundles)
		})
	}
	t.Run("named images", func(t *testing.T) {
		t.Parallel()
		assertSpecs(t, namedImages(t), bundles)
	})
}

// assertSpecs has as many specs of a provider rendered as must be accepted.
func assertSpecs(t *testing.T, provider providers.Provider, bundles *versionsbundle.Bundles) {
	t.Helper()
	r := renderer{generator: randomspec.New(provider), provider: provider, bundles: bundles, acting: map[string]bool{}, suspects: map[string]string{}}
	refused := 0
	for seed := uint64(1); seed <= accepted+uint64(refused); seed++ {
		refusal := r.assertRendered(t, seed)
		if refusal == nil {
			continue
		}
		if refused++; refused > mostRefused {
			t.Fatalf("seed %d: the %dth spec that was refused: %v", seed, refused, refusal)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(r.suspects)) {
		if !r.acting[path] {
			t.Errorf("%s acts in no spec; %s", path, r.suspects[path])
		}
	}
	t.Logf("%d accepted, %d refused", accepted, refused)
}

// namedImages is a provider with what no other has: the endpoint is in the spec, the names of
// images tell their versions, and few fields have the same place in the objects.
func namedImages(t *testing.T) providers.Provider {
	t.Helper()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	set, err := providers.Load("providers", fstest.MapFS{
		"example/provider.yaml": file(`apiVersion: clusterctl-x.io/v1alpha1
kind: Provider
metadata: {name: example}
spec:
  datacenter: {kind: ExampleDatacenterConfig}
  machine: {kind: ExampleMachineConfig}
  infrastructure: {apiVersion: example.com/v1, cluster: ExampleCluster, machineTemplate: ExampleMachineTemplate}
  endpoint: Spec
  images: images
  image: image
  imageName: {path: name, mismatch: Error}
`),
		"example/datacenter.schema.yaml": file("{type: object, required: [insecure], properties: {insecure: {type: boolean}, size: {type: string, enum: [S, M, L], default: M}}}"),
		"example/machine.schema.yaml": file(`type: object
required: [image]
properties:
  image: &image {type: object, required: [name], properties: {name: {type: string, pattern: "^[-.a-z0-9]{3,30}$"}}}
  images: {type: array, items: {type: object, required: [kubernetesVersion, image], properties: {kubernetesVersion: {type: string, format: kubernetes-version}, image: *image}}}
  cpus: {type: integer, minimum: 1}
`),
		"example/infrastructure-cluster.yaml.tmpl": file(`apiVersion: example.com/v1
kind: ExampleCluster
metadata: {name: {{ quote .Cluster }}, namespace: {{ quote .Namespace }}}
spec:
  tls: {{ not .Datacenter.insecure }}
  shape: {{ quote .Datacenter.size }}
`),
		"example/machine-template.yaml.tmpl": file(`apiVersion: example.com/v1
kind: ExampleMachineTemplate
metadata: {name: {{ quote .Name }}, namespace: {{ quote .Namespace }}}
spec:
  template:
    spec:
      image: {{ quote .Image.image.name }}
{{- with index .Machine "cpus" }}
      cores: {{ . }}
{{- end }}
`),
		"example/sample.yaml.tmpl": file(""),
	})
	if err != nil {
		t.Fatal(err)
	}
	return set["example"]
}

// renderer reads and renders the specs of one provider.
type renderer struct {
	generator *randomspec.Generator
	provider  providers.Provider
	bundles   *versionsbundle.Bundles
	// acting are the paths of fields whose values have been seen to act. Others may do nothing
	// where another field says something else, so that one spec proves nothing: suspects has
	// the first one of each.
	acting   map[string]bool
	suspects map[string]string
}

// outcome is what becomes of a spec.
type outcome struct {
	config  *v1alpha1.Config
	version v1alpha1.Version
	objects []*unstructured.Unstructured
	// text has the objects, and the warnings.
	text string
}

// assertRendered returns why the spec of a seed is refused.
func (r renderer) assertRendered(t *testing.T, seed uint64) (refusal error) {
	t.Helper()
	spec, err := r.generator.Spec(seed)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	first, refusal, err := r.render(spec)
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, yamlOf(t, spec))
	}
	if refusal != nil {
		return refusal
	}
	if again, refusal, err := r.render(spec); refusal != nil || err != nil || first.text != again.text {
		t.Errorf("seed %d: rendered again (-first +now), %v, %v:\n%s", seed, refusal, err, cmp.Diff(first.text, again.text))
	}
	if diff := cmp.Diff(spec.Datacenter, first.config.Datacenter.Spec); diff != "" {
		t.Errorf("seed %d: %s (-written +read):\n%s", seed, first.config.Datacenter.Kind, diff)
	}
	idle := r.idle(t, spec, first, first.config.Datacenter.Kind, fieldsOf(first.config.Datacenter.Complete), "Cluster")
	for _, machine := range first.config.Machines {
		if diff := cmp.Diff(spec.Machine, machine.Spec); diff != "" {
			t.Errorf("seed %d: %s (-written +read):\n%s", seed, machine.Kind, diff)
		}
		fields := r.withImage(machine, first.version)
		idle = append(idle, r.idle(t, spec, first, machine.Kind, fields, "KubeadmControlPlane", "MachineDeployment")...)
	}
	for _, path := range idle {
		if _, before := r.suspects[path]; !before {
			r.suspects[path] = fmt.Sprintf("seed %d:\n%s", seed, yamlOf(t, spec))
		}
	}
	return nil
}

// render returns what becomes of a spec, or why it is refused.
func (r renderer) render(spec randomspec.Spec) (of outcome, refusal, err error) {
	rendered, refusal, err := spec.Render(r.bundles, "default")
	if refusal != nil || err != nil {
		return outcome{}, refusal, err
	}
	of = outcome{config: rendered.Config, version: rendered.Versions.ControlPlane}
	for _, object := range rendered.Objects {
		decoded, err := object.Unstructured()
		if err != nil {
			return outcome{}, nil, err
		}
		of.objects = append(of.objects, decoded)
		of.text += string(object.YAML)
	}
	of.text += fmt.Sprint(rendered.Warnings)
	return of, nil, nil
}

// field is one of a document, or of an entry of its images.
type field struct {
	place []any
	value any
}

func fieldsOf(values map[string]any, place ...any) map[string]field {
	fields := map[string]field{}
	for name, value := range values {
		fields[name] = field{append(slices.Clip(place), name), value}
	}
	return fields
}

// withImage returns the fields of a document with those of the image of a version in the place
// of all images: those of other versions do nothing.
func (r renderer) withImage(machine *v1alpha1.InfrastructureConfig, version v1alpha1.Version) map[string]field {
	fields := fieldsOf(machine.Complete)
	delete(fields, r.provider.Spec.Images)
	image, _ := r.provider.Image(machine, version)
	images, _ := machine.Complete[r.provider.Spec.Images].([]any)
	written, _ := machine.Spec[r.provider.Spec.Images].([]any)
	for i, entry := range images {
		switch {
		case !cmp.Equal(entry, any(image)):
		case i < len(written):
			maps.Copy(fields, fieldsOf(image, r.provider.Spec.Images, i))
		default: // it comes from the field for the versions of the spec
			maps.Copy(fields, fieldsOf(image))
		}
	}
	delete(fields, "kubernetesVersion")
	return fields
}

// idle returns the paths of the values of a document that act nowhere. Most fields are as they are in the
// objects of the infrastructure that the objects of some kinds refer to.
func (r renderer) idle(t *testing.T, spec randomspec.Spec, of outcome, document string, fields map[string]field, referrers ...string) []string {
	t.Helper()
	var idle []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		carried := func(referrer string) bool {
			got, is := of.infrastructure(t, referrer)[name]
			return is && cmp.Equal(fields[name].value, got)
		}
		if !slices.ContainsFunc(referrers, func(referrer string) bool { return !carried(referrer) }) {
			r.acting[pathOf(document, fields[name].place)] = true
			continue
		}
		eachValue(fields[name].value, fields[name].place, func(place []any, value any) {
			path := pathOf(document, place)
			if r.acting[path] || of.has(value) || r.acts(t, spec, of, document, place) {
				r.acting[path] = true
			} else {
				idle = append(idle, path)
			}
		})
	}
	return idle
}

// pathOf names a field by its place in a document, without the indices of elements.
func pathOf(document string, place []any) string {
	path := document + ".spec"
	for _, at := range place {
		if name, is := at.(string); is {
			path += "." + name
		}
	}
	return path
}

// infrastructure returns the fields of the object that the object of a kind refers to.
func (of outcome) infrastructure(t *testing.T, referrer string) map[string]any {
	t.Helper()
	var name string
	for _, object := range of.objects {
		if object.GetKind() != referrer {
			continue
		}
		eachValue(object.Object, nil, func(place []any, value any) {
			if at := len(place) - 2; at >= 0 && place[at] == "infrastructureRef" && place[at+1] == "name" {
				name = value.(string)
			}
		})
	}
	for _, object := range of.objects {
		if object.GetName() != name || object.GetKind() == referrer || strings.HasSuffix(object.GetKind(), "ControlPlane") {
			continue
		}
		fields, _, _ := unstructured.NestedMap(object.Object, "spec")
		if template, is, _ := unstructured.NestedMap(fields, "template", "spec"); is {
			return template
		}
		return fields
	}
	t.Fatalf("%s refers to no object of the infrastructure", referrer)
	return nil
}

// has reports whether a text that is none by chance is in one of the objects.
func (of outcome) has(value any) bool {
	text, is := value.(string)
	if !is || len(text) < 6 {
		return false
	}
	found := false
	for _, object := range of.objects {
		eachValue(object.Object, nil, func(_ []any, value any) {
			scalar, _ := value.(string)
			found = found || strings.Contains(scalar, text)
		})
	}
	return found
}

// acts reports whether the outcome is another one with another value at a place of a
// document. What has one possible value need not act, and a choice is answered where another
// one is refused: what a reference is found by, a system that no machine can have.
func (r renderer) acts(t *testing.T, spec randomspec.Spec, of outcome, document string, place []any) bool {
	t.Helper()
	others, choice := 0, r.isChoice(document, place)
	for seed := range uint64(changes) {
		changed, err := r.generator.Change(spec, document, place, seed)
		if err != nil {
			t.Fatal(err)
		}
		now, refusal, err := r.render(changed)
		if refusal == nil && err == nil && now.text != of.text || refusal != nil && choice {
			return true
		}
		if refusal == nil && string(yamlOf(t, spec)) != string(yamlOf(t, changed)) {
			others++
		}
	}
	return others == 0
}

// isChoice reports whether the schema of a document lists the values at a place.
func (r renderer) isChoice(document string, place []any) bool {
	schema := providers.Set{r.provider.Name: r.provider}.Kinds()[document].Schema().Definition()
	for _, at := range place {
		if name, is := at.(string); is {
			schema = schema.Properties[name]
		} else if schema.Items != nil {
			schema = *schema.Items.Schema
		}
	}
	return len(schema.Enum) > 0
}

// eachValue calls a function with each value below one that has no fields and no elements.
func eachValue(value any, place []any, do func(place []any, value any)) {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			eachValue(value[name], append(slices.Clip(place), name), do)
		}
	case []any:
		for i := range value {
			eachValue(value[i], append(slices.Clip(place), i), do)
		}
	default:
		do(place, value)
	}
}

func yamlOf(t *testing.T, spec randomspec.Spec) []byte {
	t.Helper()
	text, err := spec.YAML()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestSpecIsReproducible: a failure can be looked at again.
func TestSpecIsReproducible(t *testing.T) {
	t.Parallel()
	for name, provider := range providers.BuiltIn() {
		var texts []string
		for range 2 {
			generator := randomspec.New(provider)
			for seed := range uint64(5) {
				spec, err := generator.Spec(seed)
				if err != nil {
					t.Fatal(err)
				}
				texts = append(texts, string(yamlOf(t, spec)))
			}
		}
		if diff := cmp.Diff(texts[:5], texts[5:]); diff != "" {
			t.Errorf("%s: one seed, two specs:\n%s", name, diff)
		}
	}
}
