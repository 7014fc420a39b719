package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
)

// rulesFile has the rules for fields that the types do not have.
const rulesFile = "field_rules.go"

// harmless is the function that makes a rule for a field which is ignored with
// a warning.
const harmless = "harmless"

// ignoredField is a field that is read and not acted on. An editor should warn
// of it as the decoder does, instead of calling it a mistake.
type ignoredField struct {
	path string // with or without the kind in front; without it is of every kind
	text string
}

// readIgnored finds the ignored fields in the source, since they are an
// internal matter of the decoder: in maps from paths to calls of harmless.
func readIgnored(dir string) ([]ignoredField, error) {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, rulesFile), nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("read the rules for fields: %w", err)
	}
	var fields []ignoredField
	ast.Inspect(file, func(node ast.Node) bool {
		pair, ok := node.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		call, ok := pair.Value.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return true
		}
		path, isText := textOf(pair.Key)
		text, hasText := textOf(call.Args[0])
		if name, ok := call.Fun.(*ast.Ident); ok && name.Name == harmless && isText && hasText {
			fields = append(fields, ignoredField{path: path, text: text})
		}
		return true
	})
	if len(fields) == 0 {
		return nil, fmt.Errorf("%s has no call of %s; find out anew which fields are ignored", rulesFile, harmless)
	}
	return fields, nil
}

func textOf(expr ast.Expr) (string, bool) {
	literal, ok := expr.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(literal.Value)
	return text, err == nil
}

// addTo adds the field to the schema of its kind, or of all kinds.
func (f ignoredField) addTo(definitions jsonschema.Definitions) error {
	for _, kind := range f.kinds() {
		names := strings.Split(strings.TrimPrefix(f.path, kind.Name()+"."), ".")
		parent := definitions[kind.Name()]
		for _, name := range names[:len(names)-1] {
			property, ok := parent.Properties.Get(name)
			if !ok {
				return fmt.Errorf("%s has a rule for %s, and there is no field %s", rulesFile, f.path, name)
			}
			parent = resolve(definitions, property)
		}
		parent.Properties.Set(names[len(names)-1], &jsonschema.Schema{
			Description: f.text,
			Deprecated:  true,
			Extras:      map[string]any{"deprecationMessage": f.text, "doNotSuggest": true}, // of the YAML language server
		})
	}
	return nil
}

// kinds are the kinds that have the field.
func (f ignoredField) kinds() []reflect.Type {
	for _, kind := range kinds() {
		if strings.HasPrefix(f.path, kind.Name()+".") {
			return []reflect.Type{kind}
		}
	}
	return kinds()
}

// resolve is the definition that a property, or the items of it, refer to.
func resolve(definitions jsonschema.Definitions, property *jsonschema.Schema) *jsonschema.Schema {
	if property.Items != nil {
		property = property.Items
	}
	return definitions[strings.TrimPrefix(property.Ref, reference(""))]
}
