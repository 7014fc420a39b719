package v1alpha1

import (
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agext/levenshtein"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxNodes bounds what aliases may expand to.
const maxNodes = 100_000

// DecodeStrict reads the one document of a file into a struct with the rules of
// Decode. It is for our other kinds of files, such as release manifests.
func DecodeStrict(file string, data []byte, kind string, into any) (Document, error) {
	documents, problems := splitDocuments(file, data)
	if len(problems) == 0 && len(documents) != 1 {
		problems = Problems{newProblem(file, documents[1].Line, field.Invalid(nil, nil, fmt.Sprintf("the file must hold one document, of kind %s; remove the others", kind)))}
	}
	if len(problems) > 0 {
		return Document{}, problems.OrNil()
	}
	if _, problems := header(file, documents[0], []string{kind}, []string{APIVersion}); len(problems) > 0 {
		return Document{}, problems.OrNil()
	}
	r := newReader(file, kind)
	r.into(documents[0], reflect.ValueOf(into))
	return r.document, r.problems.OrNil()
}

// reader carries a YAML document into a Go value, field by field, so that each
// mistake is found, with its line and path. The YAML library alone would stop
// at the first, or know Go types instead of paths.
type reader struct {
	kind     string
	document Document
	problems Problems
	warnings []Warning
	nodes    int
}

func newReader(file, kind string) *reader {
	return &reader{kind: kind, document: Document{file: file, lines: map[string]int{}}}
}

// into fills a pointer to a struct.
func (r *reader) into(node *yaml.Node, pointer reflect.Value) {
	r.value(node, node, pointer.Elem(), nil)
}

func (r *reader) problem(node *yaml.Node, err *field.Error) {
	r.problems = append(r.problems, newProblem(r.document.file, node.Line, err))
}

// value reads a node into a value. It is found at a place: its key, or itself.
func (r *reader) value(place, node *yaml.Node, into reflect.Value, path *field.Path) {
	if r.nodes++; r.nodes > maxNodes {
		if r.nodes == maxNodes+1 {
			r.problem(place, field.Invalid(nil, nil, fmt.Sprintf("the document has more than %d values, each use of an alias counted: is this the right file?", maxNodes)))
		}
		return
	}
	r.document.lines[pathText(path)] = place.Line
	node = resolve(node)
	if isNull(node) {
		return
	}
	if into.Kind() == reflect.Pointer {
		into.Set(reflect.New(into.Type().Elem()))
		into = into.Elem()
	}
	if text, ok := into.Addr().Interface().(encoding.TextUnmarshaler); ok {
		r.text(node, text, path)
		return
	}
	switch into.Kind() {
	case reflect.Struct:
		r.structure(node, into, path)
	case reflect.Slice:
		r.list(node, into, path)
	case reflect.Map:
		r.mapping(node, into, path)
	default:
		r.scalar(node, into, path)
	}
}

// text reads a value by its own rules from the characters in the file: so 1.30
// without quotes is a version and not the number 1.3.
func (r *reader) text(node *yaml.Node, into encoding.TextUnmarshaler, path *field.Path) {
	if node.Kind != yaml.ScalarNode {
		r.problem(node, field.TypeInvalid(path, describe(node), "must be one value"))
		return
	}
	if err := into.UnmarshalText([]byte(node.Value)); err != nil {
		r.problem(node, field.Invalid(path, node.Value, err.Error()))
	}
}

func (r *reader) scalar(node *yaml.Node, into reflect.Value, path *field.Path) {
	wrong := func(want string) {
		r.problem(node, field.TypeInvalid(path, describe(node), "must be "+want))
	}
	switch into.Kind() {
	case reflect.String:
		if node.ShortTag() != "!!str" {
			wrong("text; put it in quotes")
			return
		}
		if i := strings.IndexFunc(node.Value, invisible); i >= 0 {
			r, _ := utf8.DecodeRuneInString(node.Value[i:])
			wrong(fmt.Sprintf("text that can be seen; remove the character %U", r))
			return
		}
		into.SetString(node.Value)
	case reflect.Int:
		// 010 is ten to some readers of YAML and eight to others.
		number, err := strconv.Atoi(node.Value)
		if err != nil || node.ShortTag() != "!!int" || strconv.Itoa(number) != node.Value {
			wrong("a whole number in decimal digits, without quotes")
			return
		}
		into.SetInt(int64(number))
	case reflect.Bool:
		on, off := strings.EqualFold(node.Value, "true"), strings.EqualFold(node.Value, "false")
		if node.ShortTag() != "!!bool" || !on && !off {
			wrong("true or false")
			return
		}
		into.SetBool(on)
	default:
		panic(fmt.Sprintf("no rule to read a %s at %s", into.Type(), path))
	}
}

// invisible characters have no place in a spec, and do not survive everywhere
// that its text goes.
func invisible(c rune) bool { return !unicode.IsPrint(c) }

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
			r.problem(item, field.Required(path.Index(i), "an item of a list must have a value; write one or remove the item"))
			continue
		}
		r.value(item, item, into.Index(i), path.Index(i))
	}
}

func (r *reader) mapping(node *yaml.Node, into reflect.Value, path *field.Path) {
	into.Set(reflect.MakeMap(into.Type()))
	r.eachField(node, path, func(key, value *yaml.Node, _ *field.Path) {
		element := reflect.New(into.Type().Elem()).Elem()
		r.value(key, value, element, path.Key(plain(key.Value)))
		into.SetMapIndex(reflect.ValueOf(key.Value).Convert(into.Type().Key()), element)
	})
}

func (r *reader) structure(node *yaml.Node, into reflect.Value, path *field.Path) {
	fields := fieldsOf(into.Type())
	r.eachField(node, path, func(key, value *yaml.Node, at *field.Path) {
		index, known := fields[key.Value]
		if !known {
			r.unknownField(key, value, fields, at)
			return
		}
		r.value(key, value, into.Field(index), at)
	})
}

// eachField visits the fields of a mapping once each.
func (r *reader) eachField(node *yaml.Node, path *field.Path, visit func(key, value *yaml.Node, at *field.Path)) {
	if node.Kind != yaml.MappingNode {
		r.problem(node, field.TypeInvalid(path, describe(node), "must have fields"))
		return
	}
	seen := map[string]int{}
	for i := 0; i < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		at := child(path, plain(key.Value))
		switch line, twice := seen[key.Value]; {
		case key.Kind != yaml.ScalarNode:
			r.problem(key, field.TypeInvalid(path, describe(key), "the name of a field must be text"))
		case key.ShortTag() == "!!merge":
			r.problem(key, field.Forbidden(at, "merging fields with << is not supported; write the fields out"))
		case twice:
			r.problem(key, &field.Error{Type: field.ErrorTypeDuplicate, Field: at.String(), BadValue: key.Value, Detail: fmt.Sprintf("the field stands in line %d already; remove one of them", line)})
		default:
			seen[key.Value] = key.Line
			visit(key, value, at)
		}
	}
}

func (r *reader) unknownField(key, value *yaml.Node, fields map[string]int, at *field.Path) {
	if rule, ok := ruleFor(r.kind, at); ok {
		switch {
		case isNull(resolve(value)): // says nothing
		case rule.warning:
			r.warnings = append(r.warnings, Warning{File: r.document.file, Line: key.Line, Path: at.String(), Text: rule.text})
		default:
			r.problem(key, field.Forbidden(at, rule.text))
		}
		return
	}
	detail := "unknown field; there are " + strings.Join(sortedNames(fields), ", ")
	switch similar := mostSimilar(key.Value, fields); {
	case similar != "":
		detail = fmt.Sprintf("unknown field; did you mean %s?", similar)
	case len(fields) == 0:
		detail = "unknown field; there are none here: remove it"
	}
	r.problem(key, field.Forbidden(at, detail))
}

// mostSimilar is the field that a misspelt name most probably means, or nothing.
func mostSimilar(name string, fields map[string]int) string {
	best, bestScore := "", 0.0
	for _, candidate := range sortedNames(fields) {
		score := levenshtein.Match(strings.ToLower(name), strings.ToLower(candidate), nil)
		if score > bestScore {
			best, bestScore = candidate, score
		}
	}
	const alike = 0.6
	if bestScore < alike {
		return ""
	}
	return best
}

func sortedNames(fields map[string]int) []string { return slices.Sorted(maps.Keys(fields)) }

// fieldsOf maps the JSON names of a struct's fields to their indices.
func fieldsOf(t reflect.Type) map[string]int {
	fields := map[string]int{}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		fields[name] = i
	}
	return fields
}

func child(path *field.Path, name string) *field.Path {
	if path == nil {
		return field.NewPath(name)
	}
	return path.Child(name)
}

// pathText is empty for no path.
func pathText(path *field.Path) string {
	if path == nil {
		return ""
	}
	return path.String()
}

// plain is the name of a field as it can stand in a path and on one line.
func plain(name string) string {
	if fieldName.MatchString(name) {
		return name
	}
	return strconv.Quote(name)
}

var fieldName = regexp.MustCompile(`^[A-Za-z0-9_/-]+$`)

// resolve is the node that an alias stands for.
func resolve(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

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
