package manifests

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// evaluate does what Cluster API does with the template of a value.
func evaluate(t *testing.T, text string, variables map[string]any) string {
	t.Helper()
	parsed, err := template.New("").Funcs(sprig.HermeticTxtFuncMap()).Parse(text)
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	var out strings.Builder
	if err := parsed.Execute(&out, variables); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return out.String()
}

// builtin are the variables that Cluster API gives of a cluster.
func builtin(cluster string, version v1alpha1.Version) map[string]any {
	return map[string]any{"builtin": map[string]any{
		"cluster": map[string]any{"name": cluster}, "controlPlane": map[string]any{"version": version.String()},
	}}
}

// strangeTexts are special to templates, to Go or to YAML, and random ones of
// these.
func strangeTexts() []string {
	parts := []string{
		"`", "``", "{{", "}}", "{{ .x }}", "{{- end -}}", "{{/* a */}}", `"`, `\`, `\"`, `\n`, "'", "\n", "\r", "\r\n", "\t", "\x00", "\u2028", "ä", "👩", "$value", "$", "-}}", "%s", "%!", "(", ")", "|", " ",
		nameOfCluster, nameOfCluster + "`", "a" + nameOfCluster + nameOfCluster,
	}
	texts := append([]string{""}, parts...)
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		text := ""
		for range 1 + random.IntN(6) {
			text += parts[random.IntN(len(parts))]
		}
		texts = append(texts, text)
	}
	return texts
}

func TestLiteral(t *testing.T) {
	t.Parallel()
	for _, text := range strangeTexts() {
		want := strings.ReplaceAll(text, nameOfCluster, "prod")
		if got := evaluate(t, "{{- "+literal(text)+" -}}", builtin("prod", v1alpha1.Version{})); got != want {
			t.Errorf("%q became %q, as %s", text, got, literal(text))
		}
	}
}

// TestValueAt: at each version stands its own value, whatever is in it.
func TestValueAt(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	texts := strangeTexts()
	for range 300 {
		maker := &classMaker{Class: Class{Releases: manyReleases(1+random.IntN(6), "")}}
		target := patchTarget{maker: maker, version: ".builtin.controlPlane.version"}
		values := make([]string, len(maker.Releases))
		for i := range values {
			if random.IntN(4) > 0 {
				values[i] = texts[1+random.IntN(min(5, len(texts)-1))] + texts[random.IntN(len(texts))]
			}
		}
		text := target.valueAt(values, "[]") + "{{- $value }}"
		for i, release := range maker.Releases {
			want := "[]"
			if values[i] != absent {
				want = strings.ReplaceAll(values[i], nameOfCluster, "prod")
			}
			if got := evaluate(t, text, builtin("prod", release.Version)); got != want {
				t.Fatalf("%q at %s: got %q, want %q of %s", values, release.Version, got, want, text)
			}
		}
	}
}

// TestByVersion makes patches of fields of many forms, and carries them out at
// each version.
func TestByVersion(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	texts := strangeTexts()
	for range 60 {
		maker := &classMaker{Class: Class{Releases: manyReleases(1+random.IntN(24), "")}}
		fields := make([]map[string]any, len(maker.Releases))
		for i := range fields {
			fields[i] = map[string]any{"always": map[string]any{"here": true}}
			for _, name := range []string{"a", "b/c", "d~e"} {
				if random.IntN(3) > 0 {
					fields[i][name] = []any{texts[random.IntN(len(texts))], random.Int64N(2)}
				}
			}
			maker.rendered = append(maker.rendered, parts{controlPlaneMachine: &unstructured.Unstructured{Object: map[string]any{"kind": "MachineTemplate", "spec": fields[i]}}})
		}
		made, err := maker.template(ofControlPlane(), "", func(p parts) (map[string]any, error) { return p.controlPlaneMachine.DeepCopy().Object, nil })
		if err != nil {
			t.Fatal(err)
		}
		for i, release := range maker.Releases {
			want := read[map[string]any](t, strings.ReplaceAll(written(t, fields[i]), nameOfCluster, "prod"))
			if diff := gocmp.Diff(want, patched(t, maker, made, release, nil)); diff != "" {
				t.Fatalf("spec at %s (-want +got):\n%s", release.Version, diff)
			}
		}
	}
}

// patched is the spec of a template with the patches for a release.
func patched(t *testing.T, maker *classMaker, made *unstructured.Unstructured, release versionsbundle.Release, given map[string]any) map[string]any {
	t.Helper()
	object := read[map[string]any](t, written(t, made.Object))
	variables := builtin("prod", release.Version)
	maps.Copy(variables, given)
	for _, patch := range maker.patches {
		if patch.EnabledIf != "" && evaluate(t, patch.EnabledIf, variables) != "true" {
			continue
		}
		for _, change := range patch.Definitions[0].JSONPatches {
			value := given[change.ValueFrom.Variable]
			if change.ValueFrom.Variable == "" {
				value = read[any](t, evaluate(t, change.ValueFrom.Template, variables))
			}
			fields := strings.Split(change.Path, "/")[1:]
			for i, field := range fields {
				fields[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(field)
			}
			if err := unstructured.SetNestedField(object, value, fields...); err != nil {
				t.Fatal(err)
			}
		}
	}
	return object["spec"].(map[string]any)
}

func written(t *testing.T, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// read reads a value as Cluster API reads one that it evaluated.
func read[T any](t *testing.T, text string) (value T) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return value
}

// TestTemplatesOfAClassAreNamedAfterTheirContent: what a further release brings
// renames what it changes, and nothing else.
func TestTemplatesOfAClassAreNamedAfterTheirContent(t *testing.T) {
	t.Parallel()
	releases := testReleases(t)
	last := releases[len(releases)-1]
	newer := last
	newer.Version = v1alpha1.MustParseVersion("v1.36.0")
	otherTag := newer
	otherTag.Images.Etcd = "registry.k8s.io/etcd:9"
	names := func(releases ...versionsbundle.Release) []string {
		var names []string
		for _, object := range mustRenderClass(t, Class{Name: "docker", Namespace: "default", Provider: providers.BuiltIn()["docker"], Releases: releases}) {
			names = append(names, object.Kind.Kind+"/"+object.Name)
		}
		return names
	}
	before := names(releases...)
	if diff := gocmp.Diff(before, names(append(slices.Clone(releases), newer)...)); diff != "" {
		t.Errorf("a release that is like the last one (-before +after):\n%s", diff)
	}
	var changed []string
	for i, name := range names(append(slices.Clone(releases), otherTag)...) {
		if name != before[i] {
			changed = append(changed, name[:strings.LastIndexByte(name, '-')])
		}
	}
	if diff := gocmp.Diff([]string{"KubeadmControlPlaneTemplate/docker-control-plane"}, changed); diff != "" {
		t.Errorf("templates with other names (-want +got):\n%s", diff)
	}
}

// TestAdditions: a variable adds to a list that all releases have, or some of
// them, or none. There is never an empty one.
func TestAdditions(t *testing.T) {
	t.Parallel()
	arg := func(name string) any { return map[string]any{"name": name, "value": "<1>"} }
	args := func(names ...string) []any {
		var list []any
		for _, name := range names {
			list = append(list, arg(name))
		}
		return list
	}
	for _, test := range []struct {
		name     string
		releases [][]any // the list at each
		given    map[string]any
		want     [][]any
	}{
		{"none and nothing", [][]any{nil, nil}, nil, [][]any{nil, nil}},
		{"none and an empty list", [][]any{nil, nil}, map[string]any{variableKubeletArgs: []any{}}, [][]any{nil, nil}},
		{"none and one", [][]any{nil, nil}, map[string]any{variableKubeletArgs: args("v")}, [][]any{args("v"), args("v")}},
		{"the same and nothing", [][]any{args("a"), args("a")}, nil, [][]any{args("a"), args("a")}},
		{"the same and an empty list", [][]any{args("a"), args("a")}, map[string]any{variableKubeletArgs: []any{}}, [][]any{args("a"), args("a")}},
		{"the same and two", [][]any{args("a"), args("a")}, map[string]any{variableKubeletArgs: args("v", "w")}, [][]any{args("a", "v", "w"), args("a", "v", "w")}},
		{"others and nothing", [][]any{args("a"), args("a", "b")}, nil, [][]any{args("a"), args("a", "b")}},
		{"others and one", [][]any{args("a"), args("a", "b")}, map[string]any{variableKubeletArgs: args("v")}, [][]any{args("a", "v"), args("a", "b", "v")}},
		{"some and nothing", [][]any{nil, args("a"), args("b")}, nil, [][]any{nil, args("a"), args("b")}},
		{"some and an empty list", [][]any{args("a"), nil}, map[string]any{variableKubeletArgs: []any{}}, [][]any{args("a"), nil}},
		{"some and one", [][]any{args("a"), nil}, map[string]any{variableKubeletArgs: args("v")}, [][]any{args("a", "v"), args("v")}},
		{"the cluster's name", [][]any{args(nameOfCluster)}, map[string]any{variableKubeletArgs: args("v")}, [][]any{args("prod", "v")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			maker := &classMaker{Class: Class{Releases: manyReleases(len(test.releases), "")}}
			for _, list := range test.releases {
				registration := map[string]any{"imagePullPolicy": "IfNotPresent"}
				if list != nil {
					registration["kubeletExtraArgs"] = list
				}
				maker.rendered = append(maker.rendered, parts{controlPlane: &unstructured.Unstructured{Object: map[string]any{
					"spec": map[string]any{"kubeadmConfigSpec": map[string]any{"joinConfiguration": map[string]any{"nodeRegistration": registration}}},
				}}})
			}
			made, err := maker.template(ofControlPlane(), "Template", func(p parts) (map[string]any, error) {
				object, err := templateOf(p.controlPlane)
				object["kind"] = "KubeadmControlPlane"
				return object, err
			})
			if err != nil {
				t.Fatal(err)
			}
			var got [][]any
			for _, release := range maker.Releases {
				spec := patched(t, maker, made, release, test.given)
				list, _, err := unstructured.NestedSlice(spec, "template", "spec", "kubeadmConfigSpec", "joinConfiguration", "nodeRegistration", "kubeletExtraArgs")
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, list)
			}
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Errorf("lists at each release (-want +got):\n%s", diff)
			}
		})
	}
}
