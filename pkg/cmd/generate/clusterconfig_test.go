package generate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/terminal"
)

// clusterConfigs are the output of generate clusterconfig, by provider.
func clusterConfigs(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, provider := range providers.BuiltIn().Names() {
		text, err := sample(new(cli.App), "prod", provider)
		if err != nil {
			t.Fatal(err)
		}
		texts[provider] = string(text)
	}
	return texts
}

// validate does what the command does.
func validate(text string) error {
	a := cli.New(terminal.Streams{In: strings.NewReader(text), Out: io.Discard, Err: io.Discard})
	spec, _, err := a.ValidSpec("-")
	if err != nil {
		return err
	}
	_, err = spec.Render("default")
	return err
}

// leftOut is a line that stands behind a single #: its indentation and the
// rest, of which the indentation behind the # is the first part.
var leftOut = regexp.MustCompile(`^( *)# (( *)(\S.*))$`)

// unwanted reports whether a line is dropped, with all that is below it.
type unwanted func(line string) bool

func nothing(string) bool { return false }

// alternatives are marked so, and what belongs to a cluster from a ClusterClass
// is one.
func alternatives(line string) bool {
	return strings.Contains(line, "# instead of ") || strings.Contains(line, "# with clusterClass") || strings.HasPrefix(line, "clusterClass:")
}

// otherThanAClass is what a cluster from a ClusterClass cannot have.
func otherThanAClass(line string) bool {
	return strings.Contains(line, "# instead of ") || strings.Contains(line, "# without clusterClass")
}

// uncomment takes away the # before what is left out.
func uncomment(text string, drop unwanted) string {
	var out strings.Builder
	droppedAt := -1 // how far its lines are indented
	for line := range strings.Lines(text) {
		parts := leftOut.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if parts == nil {
			out.WriteString(line)
			continue
		}
		indent := len(parts[1]) + len(parts[3])
		if droppedAt >= 0 && indent > droppedAt {
			continue
		}
		droppedAt = -1
		if drop(parts[4]) {
			droppedAt = indent
			continue
		}
		fmt.Fprintln(&out, parts[1]+parts[2])
	}
	return out.String()
}

func TestUncomment(t *testing.T) {
	t.Parallel()
	const text = `a:
  ## Remark.
  b: 1 # stays
  # c:
  #   d: 1
  # e: # instead of c
  #   f: 1
  ##  Remark.
  #   g: 1
  # h: 1
  # clusterClass:
  #   i: 1
  # j: 1 # with clusterClass
  # k: 1 # without clusterClass
`
	const without = `a:
  ## Remark.
  b: 1 # stays
  c:
    d: 1
  ##  Remark.
  h: 1
  k: 1 # without clusterClass
`
	const withClass = `a:
  ## Remark.
  b: 1 # stays
  c:
    d: 1
  ##  Remark.
  h: 1
  clusterClass:
    i: 1
  j: 1 # with clusterClass
`
	const with = `a:
  ## Remark.
  b: 1 # stays
  c:
    d: 1
  e: # instead of c
    f: 1
  ##  Remark.
    g: 1
  h: 1
  clusterClass:
    i: 1
  j: 1 # with clusterClass
  k: 1 # without clusterClass
`
	got := []string{uncomment(text, alternatives), uncomment(text, otherThanAClass), uncomment(text, nothing)}
	if diff := cmp.Diff([]string{without, withClass, with}, got); diff != "" {
		t.Errorf("uncommented (-want +got):\n%s", diff)
	}
}

// TestClusterConfigIsValid: as it is written, and with all that is left out but
// alternatives, with and without a ClusterClass.
func TestClusterConfigIsValid(t *testing.T) {
	t.Parallel()
	for provider, text := range clusterConfigs(t) {
		variants := map[string]string{"as written": text, "uncommented": uncomment(text, alternatives)}
		if providers.BuiltIn()[provider].Spec.Machine.Kind == "" {
			variants["with a ClusterClass"] = uncomment(text, otherThanAClass)
		}
		for variant, text := range variants {
			t.Run(provider+" "+variant, func(t *testing.T) {
				t.Parallel()
				if err := validate(text); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestClusterConfigCanBeRead: with everything, each alternative too. That these exclude each
// other is said of the whole spec of their document.
func TestClusterConfigCanBeRead(t *testing.T) {
	t.Parallel()
	for provider, text := range clusterConfigs(t) {
		config := providers.BuiltIn().Decode(provider, []byte(uncomment(text, nothing)))
		for _, problem := range config.Problems {
			if problem.Err.Field != "spec" {
				t.Error(problem)
			}
		}
		for _, warning := range config.Warnings {
			t.Error(warning)
		}
	}
}

// TestClusterConfigHasEveryField compares the fields of the types with those
// that are in the file of one provider at least.
func TestClusterConfigHasEveryField(t *testing.T) {
	t.Parallel()
	got := map[string]bool{}
	for _, text := range clusterConfigs(t) {
		for decoder := yaml.NewDecoder(strings.NewReader(uncomment(text, nothing))); ; {
			var document map[string]any
			err := decoder.Decode(&document)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			pathsIn(fmt.Sprint(document["kind"]), document, got)
		}
	}
	var missing []string
	for _, path := range pathsOf(t) {
		if !got[path] {
			missing = append(missing, path)
		}
	}
	if diff := cmp.Diff([]string(nil), missing); diff != "" {
		t.Errorf("fields that the file does not have (-want +got):\n%s", diff)
	}
}

// pathsIn collects the paths of all fields in a value, without indices.
func pathsIn(at string, value any, paths map[string]bool) {
	switch value := value.(type) {
	case map[string]any:
		for name, below := range value {
			paths[at+"."+name] = true
			pathsIn(at+"."+name, below, paths)
		}
	case []any:
		for _, item := range value {
			pathsIn(at, item, paths)
		}
	}
}

// pathsOf are the paths of all fields of the documents, by their types.
func pathsOf(t *testing.T) []string {
	t.Helper()
	paths := map[string]bool{}
	var walk func(string, reflect.Type)
	walk = func(at string, typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct {
			return
		}
		for i := range typ.NumField() {
			name, _, tagged := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if name == "" && !tagged {
				continue // inside of a type that reads itself
			}
			paths[at+"."+name] = true
			walk(at+"."+name, typ.Field(i).Type)
		}
	}
	for field := range reflect.TypeFor[v1alpha1.Config]().Fields() {
		if field.Type.Kind() == reflect.Pointer && field.Type != reflect.TypeFor[*v1alpha1.InfrastructureConfig]() {
			walk(field.Type.Elem().Name(), field.Type)
		}
	}
	for kind, of := range providers.BuiltIn().Kinds() {
		describedPaths(kind+".spec", of.Schema().Definition(), paths)
	}
	if len(paths) == 0 {
		t.Fatal("no fields")
	}
	return slices.Sorted(maps.Keys(paths))
}

// describedPaths adds the paths of the fields of a schema.
func describedPaths(at string, schema apiextensionsv1.JSONSchemaProps, paths map[string]bool) {
	if schema.Items != nil {
		schema = *schema.Items.Schema
	}
	for name, property := range schema.Properties {
		paths[at+"."+name] = true
		describedPaths(at+"."+name, property, paths)
	}
}

// TestClusterConfigIsReadable holds what makes the file one to read: its size.
func TestClusterConfigIsReadable(t *testing.T) {
	t.Parallel()
	const width, most = 80, 380
	for provider, text := range clusterConfigs(t) {
		if lines := strings.Count(text, "\n"); lines > most {
			t.Errorf("%s: %d lines; at most %d", provider, lines, most)
		}
		for line := range bytes.Lines([]byte(text)) {
			if line = bytes.TrimSuffix(line, []byte("\n")); utf8.RuneCount(line) > width {
				t.Errorf("%s: longer than %d: %s", provider, width, line)
			}
		}
	}
}
