package explain

import (
	"slices"
	"strings"
)

// Documents are the schemas of several kinds of files. A path that begins with no kind is
// that of a field in the first one.
type Documents []*Schema

// ParseAll reads schemas in the form that hack/schema writes.
func ParseAll(all ...[]byte) (Documents, error) {
	var documents Documents
	for _, data := range all {
		schema, err := Parse(data)
		if err != nil {
			return nil, err
		}
		documents = append(documents, schema)
	}
	return documents, nil
}

// Kinds returns the kinds of all documents.
func (d Documents) Kinds() []Field {
	var kinds []Field
	for _, schema := range d {
		kinds = append(kinds, schema.Kinds()...)
	}
	return kinds
}

// Find is Find of the schema that a path belongs to.
func (d Documents) Find(path string) (Field, error) { return d.of(path).Find(path) }

// Complete is Complete of the schema that a path belongs to. Where a path begins, all
// kinds are offered.
func (d Documents) Complete(typed string) []string {
	if strings.Contains(typed, ".") {
		return d.of(typed).Complete(typed)
	}
	var names []string
	for _, schema := range d {
		names = append(names, schema.Complete(typed)...)
	}
	return names
}

// of returns the schema that a path belongs to.
func (d Documents) of(path string) *Schema {
	first, _, _ := strings.Cut(index.ReplaceAllString(path, ""), ".")
	i := slices.IndexFunc(d, func(s *Schema) bool {
		return slices.ContainsFunc(s.Kinds(), func(kind Field) bool { return strings.EqualFold(kind.Kind, first) })
	})
	return d[max(i, 0)]
}
