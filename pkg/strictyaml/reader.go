package strictyaml

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxNodes and maxDepth bound what aliases may expand to.
const (
	maxNodes = 100_000
	maxDepth = 100
)

// reader carries a YAML document into a Go value, field by field, so that each
// mistake is found, with its line and path. The YAML library alone would stop
// at the first, or know Go types instead of paths.
type reader struct {
	options  Options
	root     reflect.Type
	document Document
	problems Problems
	warnings []Warning
	setAside Problems
	nodes    int
	depth    int
	// lines is true in values where text may have line breaks in quotes too.
	lines bool
	// misplaced has the paths where fields belong that are elsewhere.
	misplaced []string
	// fields caches FieldsOf; a file may have 100,000 values of one type.
	fields map[reflect.Type]map[string]int
}

func (r *reader) foldsCase() bool { return r.options.FoldCase != "" }

func (r *reader) problem(node *yaml.Node, err *field.Error) {
	problem := NewProblem(r.document.file, node.Line, err)
	if problem.Err.Field != "" {
		r.document.unread[problem.Err.Field] = true
	}
	if len(r.problems) <= maxProblems {
		r.problems = append(r.problems, problem)
	}
}

// value reads a node into a value. It is found at a place: its key, or itself.
func (r *reader) value(place, node *yaml.Node, into reflect.Value, path *field.Path) {
	if r.nodes++; r.nodes > maxNodes {
		if r.nodes == maxNodes+1 {
			r.problem(place, field.Invalid(nil, nil, fmt.Sprintf("the document has more than %d values, each use of an alias counted: is this the right file?", maxNodes)))
			r.document.unread[""] = true
		}
		return
	}
	r.document.lines[pathText(path)] = place.Line
	node = resolve(node)
	if isNull(node) {
		return
	}
	if isTemplate(node) {
		r.problem(place, field.TypeInvalid(path, describe(node), "has braces of a template that was not filled in; render the file first, or put the value in quotes"))
		return
	}
	if r.depth == maxDepth {
		r.problem(place, field.Invalid(path, describe(node), fmt.Sprintf("has more than %d levels above it; is it an alias of itself?", maxDepth)))
		return
	}
	r.depth++
	defer func() { r.depth-- }()
	if pointer := into; into.Kind() == reflect.Pointer {
		into.Set(reflect.New(into.Type().Elem()))
		into = into.Elem()
		if into.Kind() == reflect.Slice { // here an empty list is not the same as no list
			into.Set(reflect.MakeSlice(into.Type(), 0, 0))
		}
		// What could not be read is not given, rather than zero.
		defer func() {
			if r.document.unread[pathText(path)] {
				pointer.SetZero()
			}
		}()
	}
	switch into := into.Addr().Interface().(type) {
	case encoding.TextUnmarshaler:
		r.text(node, into, path)
		return
	case *Described:
		r.described(node, into, path)
		return
	}
	switch into.Kind() {
	case reflect.Struct:
		r.structure(node, into, path)
	case reflect.Slice:
		r.list(node, into, path)
	case reflect.Map:
		r.mapping(node, into, path)
	case reflect.Interface:
		r.anything(node, into, path)
	default:
		r.scalar(node, into, path)
	}
}

func (r *reader) list(node *yaml.Node, into reflect.Value, path *field.Path) {
	if node.Kind != yaml.SequenceNode {
		r.problem(node, field.TypeInvalid(path, describe(node), "must be a list"))
		return
	}
	if len(node.Content) == 0 {
		return // the same as no list
	}
	into.Set(reflect.MakeSlice(into.Type(), len(node.Content), len(node.Content)))
	for i, item := range node.Content {
		if isNull(resolve(item)) {
			r.problem(item, emptyItem(path.Index(i)))
			continue
		}
		r.value(item, item, into.Index(i), path.Index(i))
	}
}

func emptyItem(path *field.Path) *field.Error {
	return field.Required(path, "an item of a list must have a value; write one or remove the item")
}

func (r *reader) mapping(node *yaml.Node, into reflect.Value, path *field.Path) {
	if node.Kind == yaml.MappingNode && len(node.Content) == 0 {
		return // the same as no mapping
	}
	into.Set(reflect.MakeMap(into.Type()))
	r.eachField(node, path, asWritten, func(key, value *yaml.Node, at *field.Path) {
		element := reflect.New(into.Type().Elem()).Elem()
		if element.Kind() != reflect.Interface { // then its keys are names of fields
			at = path.Key(FieldName(key.Value))
		}
		if char, is := firstInvisible(key.Value); is {
			r.problem(key, invisible(at, key.Value, char))
			return
		}
		r.value(key, value, element, at)
		into.SetMapIndex(reflect.ValueOf(key.Value).Convert(into.Type().Key()), element)
	})
}

func invisible(path *field.Path, text string, char rune) *field.Error {
	return field.Invalid(path, text, fmt.Sprintf("must be printable text; remove the character %U", char))
}

func (r *reader) structure(node *yaml.Node, into reflect.Value, path *field.Path) {
	fields := r.fieldsOf(into.Type())
	r.eachNamed(node, fields, path, func(key, value *yaml.Node, name string, at *field.Path) {
		r.value(key, value, into.Field(fields[name]), at)
	})
}

// eachNamed visits the fields of a mapping that may have the fields of these names.
func (r *reader) eachNamed(node *yaml.Node, fields map[string]int, path *field.Path, visit func(key, value *yaml.Node, name string, at *field.Path)) {
	named := func(written string) string { return r.fieldName(written, fields) }
	r.eachField(node, path, named, func(key, value *yaml.Node, at *field.Path) {
		name := named(key.Value)
		if _, known := fields[name]; !known {
			r.unknownField(key, value, fields, at)
			if similar := Similar(key.Value, sortedNames(fields)); similar != "" {
				r.notMissing(node, path, similar)
			}
			return
		}
		if name != key.Value {
			r.warnings = append(r.warnings, Warning{File: r.document.file, Line: key.Line, Path: at.String(), Text: fmt.Sprintf("is written %s here; write %s: %s", key.Value, name, r.options.FoldCase)})
		}
		visit(key, value, name, at)
	})
	for i := 0; i < len(node.Content); i += 2 {
		if isMerge(node.Content[i]) { // it might give any field
			for name := range fields {
				r.notMissing(node, path, name)
			}
		}
	}
}

// notMissing notes that what a field of a mapping was to be could not be read,
// unless the field is there.
func (r *reader) notMissing(node *yaml.Node, path *field.Path, name string) {
	for i := 0; i < len(node.Content); i += 2 {
		if written := node.Content[i].Value; written == name || r.foldsCase() && strings.EqualFold(written, name) {
			return
		}
	}
	r.document.unread[child(path, name).String()] = true
}

// eachField visits the fields of a mapping once each, by the names that their
// keys stand for.
func (r *reader) eachField(node *yaml.Node, path *field.Path, name func(string) string, visit func(key, value *yaml.Node, at *field.Path)) {
	if node.Kind != yaml.MappingNode {
		r.problem(node, field.TypeInvalid(path, describe(node), "must be a mapping: fields with values"))
		return
	}
	seen := map[string]int{}
	for i := 0; i < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		at := child(path, FieldName(name(key.Value)))
		switch line, twice := seen[name(key.Value)]; {
		case key.Kind != yaml.ScalarNode:
			// The other fields have been read.
			r.problems = append(r.problems, NewProblem(r.document.file, key.Line, field.TypeInvalid(path, describe(key), "the name of a field must be text; write one, or remove it")))
		case isMerge(key):
			r.problem(key, field.Forbidden(at, "merging fields with << is not supported; write the fields out"))
		case twice:
			r.problem(key, &field.Error{Type: field.ErrorTypeDuplicate, Field: at.String(), BadValue: key.Value, Detail: fmt.Sprintf("the field is already on line %d; remove one of them", line)})
		default:
			seen[name(key.Value)] = key.Line
			visit(key, value, at)
		}
	}
}

// resolve returns the node of an alias.
func resolve(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

// isTemplate reports whether a value is written in two braces.
func isTemplate(node *yaml.Node) bool {
	return node.Kind == yaml.MappingNode && len(node.Content) == 2 && node.Content[0].Kind == yaml.MappingNode && isNull(node.Content[1])
}

func isMerge(node *yaml.Node) bool { return node.ShortTag() == "!!merge" }

func isNull(node *yaml.Node) bool {
	return node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null"
}

func describe(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	default:
		return node.Value
	}
}

// asWritten is the name of a field where any name may be.
func asWritten(name string) string { return name }

// fieldName returns the name of the field of a key, or the key.
func (r *reader) fieldName(written string, fields map[string]int) string {
	if _, known := fields[written]; known || !r.foldsCase() {
		return written
	}
	for name := range fields { // of which no two differ in case only
		if strings.EqualFold(name, written) {
			return name
		}
	}
	return written
}

// fieldsOf caches the function of that name.
func (r *reader) fieldsOf(t reflect.Type) map[string]int {
	if _, known := r.fields[t]; !known {
		r.fields[t] = FieldsOf(t)
	}
	return r.fields[t]
}
