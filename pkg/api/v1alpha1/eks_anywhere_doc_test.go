package v1alpha1

import (
	"encoding"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// What docs/eks-anywhere.md says in its second column.
const (
	acts    = "acts"
	isError = "error"
	warns   = "warning"
)

// The document's headings name the kind that the rows below are about.
var (
	docHeading = regexp.MustCompile("^## ([A-Za-z]+)")
	docRow     = regexp.MustCompile("^\\| `([^`]+)` \\| (acts|error|warning)[ .,;:]")
)

// TestEKSAnywhereDoc holds the tables against the types: every field that is
// read acts, every rule about another one is what the table says, and there is
// no row about anything else.
func TestEKSAnywhereDoc(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../../docs/eks-anywhere.md")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for kind, goType := range documentKinds() {
		for _, path := range leaves(goType) {
			want[kind+"."+path] = acts
		}
	}
	for _, provider := range []string{"docker", "inmemory"} {
		for _, path := range fieldsOfProvider(t, provider) {
			want[path] = acts
		}
	}
	for path, rule := range fieldRules {
		want[path] = isError
		if rule.warning {
			want[path] = warns
		}
	}
	for kind := range kindRules(twoProviders(t)) {
		want[kind] = isError
	}
	for kind := range idleKinds() {
		want[kind] = warns
	}
	for path := range unreadByEKSAnywhere {
		want[path] = warns
	}
	for path := range objectRules {
		want["Every."+path] = warns
	}
	got := map[string]string{}
	kind := ""
	for line := range strings.Lines(string(data)) {
		if heading := docHeading.FindStringSubmatch(line); heading != nil {
			kind = heading[1]
		}
		if row := docRow.FindStringSubmatch(line); row != nil {
			path := strings.TrimPrefix(kind+"."+row[1], "Kinds.")
			if _, twice := got[path]; twice {
				t.Errorf("%s has two rows", path)
			}
			got[path] = row[2]
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/eks-anywhere.md (-code +document):\n%s", diff)
	}
}

// fieldsOfProvider are the fields of the document of a provider, as its folder has them.
func fieldsOfProvider(t *testing.T, name string) []string {
	t.Helper()
	read := func(file string, into any) {
		data, err := os.ReadFile("../../../config/providers/" + name + "/" + file)
		if err == nil {
			err = yaml.Unmarshal(data, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var provider struct {
		Spec struct{ Datacenter struct{ Kind string } }
	}
	var schema apiextensionsv1.JSONSchemaProps
	read("provider.yaml", &provider)
	read("datacenter.schema.yaml", &schema)
	kind := provider.Spec.Datacenter.Kind
	fields := []string{kind + ".metadata.name", kind + ".metadata.namespace"}
	for property := range schema.Properties {
		fields = append(fields, kind+".spec."+property)
	}
	if len(schema.Properties) == 0 {
		fields = append(fields, kind+".spec")
	}
	return fields
}

// leaves are the paths of the fields of a type that have no fields themselves,
// without apiVersion and kind.
func leaves(goType reflect.Type) []string {
	var paths []string
	for _, name := range slices.Sorted(maps.Keys(strictyaml.FieldsOf(goType))) {
		if name == "apiVersion" || name == "kind" && goType.NumField() > 2 {
			continue
		}
		field := goType.Field(strictyaml.FieldsOf(goType)[name]).Type
		for field.Kind() == reflect.Pointer || field.Kind() == reflect.Slice {
			field = field.Elem()
		}
		below := []string(nil)
		if isText := reflect.PointerTo(field).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()); field.Kind() == reflect.Struct && !isText {
			below = leaves(field)
		}
		if len(below) == 0 {
			paths = append(paths, name)
		}
		for _, path := range below {
			paths = append(paths, name+"."+path)
		}
	}
	return paths
}
