package explain

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// definitions is the prefix of references to definitions.
const definitions = "#/$defs/"

// node is a part of a JSON Schema. A keyword that is absent, or not of the form
// that hack/schema writes, reads as the zero value.
type node map[string]any

func (n node) text(keyword string) string {
	text, _ := n[keyword].(string)
	return text
}

func (n node) node(keyword string) node {
	below, _ := n[keyword].(map[string]any)
	return below
}

func (n node) list(keyword string) []any {
	list, _ := n[keyword].([]any)
	return list
}

// ignored reports whether the field is read and not acted on.
func (n node) ignored() bool {
	deprecated, _ := n["deprecated"].(bool)
	return deprecated
}

// Schema is the JSON Schema of the documents of a cluster spec.
type Schema struct{ root node }

// Parse reads a schema in the form that hack/schema writes.
func Parse(data []byte) (*Schema, error) {
	var s Schema
	if err := json.Unmarshal(data, &s.root); err != nil {
		return nil, fmt.Errorf("reading the schema of clusterctl-x: %w", err)
	}
	return &s, nil
}

// Definition returns the JSON Schema as a whole.
func (s *Schema) Definition() map[string]any { return s.root }

// resolve follows a reference. Keywords next to the reference take precedence.
func (s *Schema) resolve(n node) node {
	name, refers := strings.CutPrefix(n.text("$ref"), definitions)
	if !refers {
		return n
	}
	resolved := node{}
	maps.Copy(resolved, s.root.node("$defs").node(name))
	maps.Copy(resolved, n)
	delete(resolved, "$ref")
	return resolved
}

// expand follows all references, so that the node is complete in itself.
func (s *Schema) expand(n node) node {
	expanded := node{}
	for keyword, value := range s.resolve(n) {
		switch value := value.(type) {
		case map[string]any: // a schema, or, in properties, a map of schemas
			expanded[keyword] = map[string]any(s.expand(value))
		default:
			expanded[keyword] = value
		}
	}
	return expanded
}

// inside returns the node that has the fields: for a list or a map, that of its values.
func (s *Schema) inside(n node) node {
	for _, keyword := range []string{"items", "additionalProperties"} {
		if values := n.node(keyword); values != nil {
			return s.inside(s.resolve(values))
		}
	}
	return n
}

// property returns a field of a node, ignored or not.
func (s *Schema) property(n node, name string) (node, bool) {
	property := s.inside(n).node("properties").node(name)
	return s.resolve(property), property != nil
}

// names returns the names of the fields of a node, except ignored ones, sorted.
func (s *Schema) names(n node) []string {
	properties := s.inside(n).node("properties")
	names := slices.Sorted(maps.Keys(properties))
	return slices.DeleteFunc(names, func(name string) bool { return properties.node(name).ignored() })
}

// typeName returns the type as 'kubectl explain' writes types.
func (s *Schema) typeName(n node) string {
	if items := n.node("items"); items != nil {
		return "[]" + s.typeName(s.resolve(items))
	}
	if values := n.node("additionalProperties"); values != nil {
		return "map[string]" + s.typeName(s.resolve(values))
	}
	if title := n.text("title"); title != "" {
		return title
	}
	if name := n.text("type"); name != "" {
		return name
	}
	return "any"
}
