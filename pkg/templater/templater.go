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
	"text/template"

	"github.com/Masterminds/sprig/v3"
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

// Render executes a template. Every string of data must enter it through quote.
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
	allowed := template.FuncMap{"quote": quote}
	for _, name := range []string{"b64enc"} {
		allowed[name] = all[name]
	}
	return allowed
}

// quote writes any string as a YAML scalar that reads back as the same string:
// JSON is YAML.
func quote(value any) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", err
	}
	return string(bytes.TrimSuffix(out.Bytes(), []byte("\n"))), nil
}
