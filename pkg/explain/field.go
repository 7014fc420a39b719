package explain

import (
	"slices"
	"strings"
)

// Field is a kind of document, or a field below one.
type Field struct {
	Kind string
	Path string // below the kind; empty for the kind itself
	Name string // last element of the path, or the kind
	// Type is written as 'kubectl explain' writes types: []Taint, map[string]string.
	Type string
	// Description has paragraphs separated by empty lines: first that of the field, then
	// that of its type.
	Description string
	Required    bool
	Choices     []any // of each item for a list; empty where any value may stand
	Default     any   // nil where there is none

	schema *Schema
	node   node
}

// String returns the path with the kind in front.
func (f Field) String() string { return strings.TrimSuffix(f.Kind+"."+f.Path, ".") }

// Definition returns the JSON Schema of the field with all references expanded.
func (f Field) Definition() map[string]any { return f.schema.expand(f.node) }

// Fields returns the fields below, sorted by name. Fields that are read and not
// acted on are left out.
func (f Field) Fields() []Field {
	names := f.schema.names(f.node)
	fields := make([]Field, len(names))
	for i, name := range names {
		fields[i], _ = f.field(name)
	}
	return fields
}

// field returns the field of a name, ignored or not.
func (f Field) field(name string) (Field, bool) {
	n, ok := f.schema.property(f.node, name)
	if !ok {
		return Field{}, false
	}
	field := f.schema.field(f.Kind, name, n)
	field.Path = strings.TrimPrefix(f.Path+"."+name, ".")
	field.Required = slices.Contains(f.schema.inside(f.node).list("required"), any(name))
	return field, true
}

// Kinds returns the kinds of documents, in the order of the schema.
func (s *Schema) Kinds() []Field {
	var kinds []Field
	for _, kind := range s.root.list("oneOf") {
		if n, ok := kind.(map[string]any); ok {
			resolved := s.resolve(n)
			kinds = append(kinds, s.field(resolved.text("title"), resolved.text("title"), resolved))
		}
	}
	return kinds
}

func (s *Schema) field(kind, name string, n node) Field {
	field := Field{
		Kind: kind, Name: name, Type: s.typeName(n), Description: n.text("description"), Default: n["default"],
		schema: s, node: n,
	}
	values := s.inside(n)
	field.Choices = values.list("enum")
	if constant, ok := values["const"]; ok {
		field.Choices = []any{constant}
	}
	return field
}
