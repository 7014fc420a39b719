package strictyaml_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// sample has a field of each type that Decode reads.
type sample struct {
	APIVersion string             `json:"apiVersion"`
	Kind       string             `json:"kind"`
	On         bool               `json:"on,omitempty"`
	Optional   *bool              `json:"optional,omitempty"`
	Count      int                `json:"count,omitempty"`
	Version    version            `json:"version"`
	Images     map[string]string  `json:"images,omitempty"`
	Programs   map[string]program `json:"programs,omitempty"`
}

// version is text that is kept as it stands in the file.
type version string

func (v *version) UnmarshalText(text []byte) error {
	if !strings.Contains(string(text), ".") {
		return errors.New("must be a version such as 1.30")
	}
	*v = version(text)
	return nil
}

type program struct {
	Hosts []string `json:"hosts"`
}

const apiVersion = "clusterctl-x.io/v1alpha1"

const sampleHead = "apiVersion: clusterctl-x.io/v1alpha1\nkind: Sample\n"

func TestDecode(t *testing.T) {
	t.Parallel()
	type result struct {
		Value    sample
		Problems string
	}
	read := func(change func(*sample)) result {
		value := sample{APIVersion: apiVersion, Kind: "Sample"}
		change(&value)
		return result{Value: value}
	}
	failed := func(lines ...string) result { return result{Problems: strings.Join(lines, "\n")} }
	tests := map[string]struct {
		text string
		want result
	}{
		"nothing":     {sampleHead, read(func(*sample) {})},
		"true":        {sampleHead + "on: true\noptional: True\n", read(func(s *sample) { s.On, s.Optional = true, new(true) })},
		"TRUE":        {sampleHead + "on: TRUE\noptional: false\n", read(func(s *sample) { s.On, s.Optional = true, new(false) })},
		"tagged bool": {sampleHead + "on: !!bool \"true\"\n", read(func(s *sample) { s.On = true })},
		"no version":  {sampleHead + "version: 1\n", failed(`f.yaml:3: version: Invalid value: "1": must be a version such as 1.30`)},
		"no bool":     {sampleHead + "on: \"true\"\noptional: yes\n", failed(`f.yaml:3: on: Invalid value: "true": must be true or false, without quotes`, `f.yaml:4: optional: Invalid value: "yes": must be true or false, without quotes`)},
		"tag of bool": {sampleHead + "on: !!bool maybe\n", failed(`f.yaml:3: on: Invalid value: "maybe": must be true or false, without quotes`)},
		"numbers":     {sampleHead + "count: -3\n", read(func(s *sample) { s.Count = -3 })},
		"version without quotes": {sampleHead + "version: 1.30\n", read(func(s *sample) {
			s.Version = "1.30"
		})},
		"maps": {
			sampleHead + "images: {docker: a, \"b.c\": \"\"}\nprograms: {amd64: {hosts: [x]}, arm64: null}\n",
			read(func(s *sample) {
				s.Images = map[string]string{"docker": "a", "b.c": ""}
				s.Programs = map[string]program{"amd64": {Hosts: []string{"x"}}, "arm64": {}}
			}),
		},
		"mistakes in maps": {
			sampleHead + "images: {docker: 1, docker: b, a.b: 2, [x]: y, \"c\\nd\": {}}\nprograms: [x]\n",
			failed(
				`f.yaml:3: images: Invalid value: "a list": the name of a field must be text; write one, or remove it`,
				`f.yaml:3: images.docker: Duplicate value: "docker": the field is already on line 3; remove one of them`,
				`f.yaml:3: images["a.b"]: Invalid value: "2": must be text; put it in quotes`,
				`f.yaml:3: images["c\nd"]: Invalid value: "c\nd": must be printable text; remove the character U+000A`,
				`f.yaml:3: images[docker]: Invalid value: "1": must be text; put it in quotes`,
				`f.yaml:4: programs: Invalid value: "a list": must be a mapping: fields with values`,
			),
		},
		"fields that only cluster specs may have": {
			sampleHead + "status: {}\nmetadata: {labels: {}}\n",
			failed(
				"f.yaml:3: status: Forbidden: unknown field; there are apiVersion, count, images, kind, on, optional, programs, version",
				"f.yaml:4: metadata: Forbidden: unknown field; there are apiVersion, count, images, kind, on, optional, programs, version",
			),
		},
		"two documents":       {sampleHead + "---\n" + sampleHead, failed("f.yaml:4: the file must hold one document, of kind Sample; remove the others")},
		"another kind":        {"apiVersion: clusterctl-x.io/v1alpha1\nkind: Cluster\n", failed(`f.yaml:2: kind: Unsupported value: "Cluster": supported values: "Sample"`)},
		"another apiVersion":  {"apiVersion: anywhere.eks.amazonaws.com/v1alpha1\nkind: Sample\n", failed(`f.yaml:1: apiVersion: Unsupported value: "anywhere.eks.amazonaws.com/v1alpha1": supported values: "clusterctl-x.io/v1alpha1"`)},
		"empty file":          {"", failed("f.yaml: the file is empty: is this the right file?")},
		"mistake in the file": {sampleHead + "a: [\n", failed("f.yaml:3: not valid YAML: did not find expected node content; check indentation, quotes and brackets here and above")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got result
			if _, err := strictyaml.Decode("f.yaml", []byte(test.text), "Sample", apiVersion, &got.Value); err != nil {
				got = result{Problems: err.Error()}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("decoded (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeKnowsItsLines(t *testing.T) {
	t.Parallel()
	var value sample
	document, err := strictyaml.Decode("f.yaml", []byte(sampleHead+"programs:\n  amd64:\n    hosts: []\n"), "Sample", apiVersion, &value)
	if err != nil {
		t.Fatal(err)
	}
	problems := document.Locate(field.ErrorList{field.Required(field.NewPath("programs").Key("amd64").Child("hosts"), "one")})
	if diff := cmp.Diff("f.yaml:5: programs[amd64].hosts: Required value: one", problems.Error()); diff != "" {
		t.Errorf("problem (-want +got):\n%s", diff)
	}
}

// TestDecodeHasNoRule: a type that cannot be read is a mistake in our
// code, whatever stands in the file.
func TestDecodeHasNoRule(t *testing.T) {
	t.Parallel()
	defer func() {
		if diff := cmp.Diff("no rule to read a complex128 at ratio", recover()); diff != "" {
			t.Errorf("panic (-want +got):\n%s", diff)
		}
	}()
	var value struct {
		sample
		Ratio complex128 `json:"ratio"`
	}
	_, err := strictyaml.Decode("f.yaml", []byte(sampleHead+"ratio: 1.5\n"), "Sample", apiVersion, &value)
	t.Errorf("a complex number was read: %v", err)
}
