// Package templater renders templates into Kubernetes objects, and decodes
// what was rendered strictly, so that a mistake in a template is an error here
// and not a surprise at apply. It reaches no clock, network, environment,
// randomness or map order.
package templater

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"sync"
	"text/template"
	"unicode/utf8"

	"github.com/Masterminds/sprig/v3"
	"go.yaml.in/yaml/v3"
	kjson "sigs.k8s.io/json"
)

// Templates are parsed templates. They may be used by several goroutines.
type Templates struct{ root *template.Template }

// Parse parses every file of fsys that one of the patterns matches. A template
// is called by the base name of its file.
func Parse(fsys fs.FS, patterns ...string) (*Templates, error) {
	root, err := template.New("").Funcs(functions()).Option("missingkey=error").ParseFS(fsys, patterns...)
	if err != nil {
		return nil, fmt.Errorf("parsing templates: %w", err)
	}
	return &Templates{root: root}, nil
}

// Add parses further files, as Parse does.
func (t *Templates) Add(fsys fs.FS, patterns ...string) error {
	if _, err := t.root.ParseFS(fsys, patterns...); err != nil {
		return fmt.Errorf("parsing templates: %w", err)
	}
	return nil
}

// Render executes a template. Every string of data must enter it through quote
// or toYaml.
func (t *Templates) Render(name string, data any) ([]byte, error) {
	var out bytes.Buffer
	if err := t.root.ExecuteTemplate(&out, name, data); err != nil {
		return nil, fmt.Errorf("rendering: %w", err)
	}
	return out.Bytes(), nil
}

// functions are all that templates may call besides what the language has.
// Nothing else of sprig is let in: much of it reads the clock, the environment
// or the network, makes keys, or depends on the order of a map.
func functions() template.FuncMap {
	all := sprig.TxtFuncMap()
	allowed := template.FuncMap{"quote": quote, "toYaml": new(yamlWriter).write, "merged": merged}
	for _, name := range []string{"b64enc", "nindent", "omit"} {
		allowed[name] = all[name]
	}
	return allowed
}

// quote writes a string as a YAML scalar that reads back as the same string.
// JSON is YAML, but for the characters that YAML takes as line breaks or does
// not allow at all: those are escaped.
func quote(value any) (string, error) {
	text := reflect.ValueOf(value)
	if text.Kind() != reflect.String {
		return "", fmt.Errorf("quote takes a string, not %T", value)
	}
	if !strings.ContainsFunc(text.String(), escaped) {
		return `"` + text.String() + `"`, nil
	}
	if !utf8.ValidString(text.String()) {
		return "", fmt.Errorf("%q is not text in UTF-8", text.String())
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text.String()); err != nil {
		return "", err
	}
	var quoted strings.Builder
	for _, r := range strings.TrimSuffix(out.String(), "\n") {
		if special(r) {
			fmt.Fprintf(&quoted, `\u%04x`, r)
		} else {
			quoted.WriteRune(r)
		}
	}
	return quoted.String(), nil
}

// escaped reports whether quote has to look at a character: all but the printable ones
// of ASCII, and the two that JSON escapes.
func escaped(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }

// yamlWriter writes values as YAML, and keeps what it wrote: the groups of a cluster have
// most of their values in common.
type yamlWriter struct{ written sync.Map } // JSON -> YAML

// write returns a value as lines of YAML, with sorted fields, to be put below a field by
// nindent. Its fields are those of its JSON.
func (w *yamlWriter) write(value any) (string, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	if text, ok := w.written.Load(string(data)); ok {
		return text.(string), nil
	}
	text, err := toYAML(data)
	if err == nil {
		w.written.Store(string(data), text)
	}
	return text, err
}

func toYAML(data []byte) (string, error) {
	var fields any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &fields); err != nil {
		return "", err
	}
	var out strings.Builder
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(fields); err != nil {
		return "", err
	}
	return strings.TrimSuffix(out.String(), "\n"), encoder.Close()
}

// merged returns fields with those of another mapping over them. Mappings are merged,
// other values replaced; what is no mapping has no fields.
func merged(below, above any) map[string]any {
	all := map[string]any{}
	for _, side := range []any{below, above} {
		fields, _ := side.(map[string]any)
		for name, value := range fields {
			if _, is := value.(map[string]any); is {
				value = merged(all[name], value)
			}
			all[name] = value
		}
	}
	return all
}

// special are the characters that JSON takes as they are and YAML does not:
// what its c-printable leaves out, the line break U+0085, the byte order mark.
func special(r rune) bool {
	return r >= 0x7f && r < 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff
}
