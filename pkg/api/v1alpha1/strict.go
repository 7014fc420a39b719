package v1alpha1

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agext/levenshtein"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// maxFileSize is far above any cluster spec; a bigger file is the wrong file.
	maxFileSize = 8 << 20
	// maxNodes bounds what aliases may expand to.
	maxNodes = 1_000_000
)

// DecodeStrict reads one document into a struct with the rules of Decode. It
// is for our other kinds of files, such as release manifests.
func DecodeStrict(file string, data []byte, kind string, into any) error {
	documents, problems := splitDocuments(file, data)
	if len(problems) > 0 {
		return problems
	}
	if len(documents) != 1 {
		return Problems{{File: file, Err: field.Invalid(nil, len(documents), fmt.Sprintf("the file must hold one document of kind %s", kind))}}
	}
	r := newReader(file, kind)
	r.into(documents[0], reflect.ValueOf(into))
	return r.problems.OrNil()
}

// splitDocuments parses a file. Empty documents are dropped.
func splitDocuments(file string, data []byte) ([]*yaml.Node, Problems) {
	whole := func(detail string) ([]*yaml.Node, Problems) {
		return nil, Problems{{File: file, Err: field.Invalid(nil, nil, detail)}}
	}
	if len(data) > maxFileSize {
		return whole(fmt.Sprintf("the file has %d MiB; a cluster spec has at most %d: is this the right file?", len(data)>>20, maxFileSize>>20))
	}
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return whole("the file is not text in UTF-8: is this the right file?")
	}
	var documents []*yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return whole(fmt.Sprintf("not valid YAML: %v", strings.TrimPrefix(err.Error(), "yaml: ")))
		}
		root := document.Content[0]
		if isNull(root) {
			continue
		}
		if root.Kind != yaml.MappingNode {
			return nil, Problems{{File: file, Line: root.Line, Err: field.Invalid(nil, nil, "a document must be a mapping with apiVersion and kind")}}
		}
		documents = append(documents, root)
	}
	if len(documents) == 0 {
		return whole("the file is empty")
	}
	return documents, nil
}

// reader carries a YAML document into a Go value, field by field, so that each
// mistake is found, with its line and path. The YAML library alone would stop
// at the first, or know Go types instead of paths.
type reader struct {
	file     string
	kind     string
	lines    map[string]int
	problems Problems
	warnings []Warning
	nodes    int
}

func newReader(file, kind string) *reader {
	return &reader{file: file, kind: kind, lines: map[string]int{}}
}

// into fills a pointer to a struct.
func (r *reader) into(node *yaml.Node, pointer reflect.Value) {
	r.value(node, pointer.Elem(), nil)
}

func (r *reader) problem(node *yaml.Node, err *field.Error) {
	r.problems = append(r.problems, Problem{File: r.file, Line: node.Line, Err: err})
}

func (r *reader) value(node *yaml.Node, into reflect.Value, path *field.Path) {
	if r.nodes++; r.nodes > maxNodes {
		if r.nodes == maxNodes+1 {
			r.problem(node, field.TooMany(path, r.nodes, maxNodes))
		}
		return
	}
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if isNull(node) {
		return
	}
	if path != nil {
		r.lines[path.String()] = node.Line
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
		into.SetString(node.Value)
	case reflect.Int:
		number, err := strconv.Atoi(node.Value)
		if err != nil || node.ShortTag() != "!!int" {
			wrong("a whole number")
			return
		}
		into.SetInt(int64(number))
	case reflect.Bool:
		if node.ShortTag() != "!!bool" {
			wrong("true or false")
			return
		}
		into.SetBool(node.Value == "true")
	default:
		panic(fmt.Sprintf("no rule to read a %s at %s", into.Type(), path))
	}
}

func (r *reader) list(node *yaml.Node, into reflect.Value, path *field.Path) {
	if node.Kind != yaml.SequenceNode {
		r.problem(node, field.TypeInvalid(path, describe(node), "must be a list"))
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), len(node.Content), len(node.Content)))
	for i, item := range node.Content {
		r.value(item, into.Index(i), path.Index(i))
	}
}

func (r *reader) mapping(node *yaml.Node, into reflect.Value, path *field.Path) {
	into.Set(reflect.MakeMap(into.Type()))
	r.eachField(node, path, func(key, value *yaml.Node) {
		element := reflect.New(into.Type().Elem()).Elem()
		r.value(value, element, path.Key(key.Value))
		name := reflect.New(into.Type().Key()).Elem()
		if text, ok := name.Addr().Interface().(encoding.TextUnmarshaler); ok {
			r.text(key, text, path)
		} else {
			name.SetString(key.Value)
		}
		into.SetMapIndex(name, element)
	})
}

func (r *reader) structure(node *yaml.Node, into reflect.Value, path *field.Path) {
	fields := fieldsOf(into.Type())
	r.eachField(node, path, func(key, value *yaml.Node) {
		at := child(path, key.Value)
		index, known := fields[key.Value]
		if !known {
			r.unknownField(key, value, fields, at)
			return
		}
		r.value(value, into.Field(index), at)
	})
}

// eachField visits the fields of a mapping once each.
func (r *reader) eachField(node *yaml.Node, path *field.Path, visit func(key, value *yaml.Node)) {
	if node.Kind != yaml.MappingNode {
		r.problem(node, field.TypeInvalid(path, describe(node), "must have fields"))
		return
	}
	seen := map[string]int{}
	for i := 0; i < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		switch line, twice := seen[key.Value]; {
		case key.Kind != yaml.ScalarNode:
			r.problem(key, field.TypeInvalid(path, describe(key), "the name of a field must be text"))
		case key.ShortTag() == "!!merge":
			r.problem(key, field.Forbidden(child(path, key.Value), "merging fields with << is not supported; write the fields out"))
		case twice:
			r.problem(key, &field.Error{Type: field.ErrorTypeDuplicate, Field: child(path, key.Value).String(), BadValue: key.Value, Detail: fmt.Sprintf("the field stands in line %d already; remove one of them", line)})
		default:
			seen[key.Value] = key.Line
			visit(key, value)
		}
	}
}

func (r *reader) unknownField(key, value *yaml.Node, fields map[string]int, at *field.Path) {
	if isNull(value) {
		return // says nothing
	}
	if rule, ok := fieldRules[r.kind+"."+genericPath(at)]; ok {
		if rule.warning {
			r.warnings = append(r.warnings, Warning{File: r.file, Line: key.Line, Path: at.String(), Text: rule.text})
			return
		}
		r.problem(key, field.Forbidden(at, rule.text))
		return
	}
	detail := "unknown field"
	if similar := mostSimilar(key.Value, fields); similar != "" {
		detail += fmt.Sprintf("; did you mean %s?", similar)
	} else {
		detail += fmt.Sprintf("; there are %s", strings.Join(sortedNames(fields), ", "))
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

func sortedNames(fields map[string]int) []string {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

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

// genericPath is a path without indices.
func genericPath(path *field.Path) string {
	var b strings.Builder
	inIndex := false
	for _, c := range path.String() {
		switch {
		case c == '[':
			inIndex = true
		case c == ']':
			inIndex = false
		case !inIndex:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// lineOf is the line of a path, or of what contains it where the path itself
// does not stand in the file.
func lineOf(lines map[string]int, path string) int {
	for path != "" {
		if line, ok := lines[path]; ok {
			return line
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return 0
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

// scalarField is the text of a top-level field, or nothing.
func scalarField(node *yaml.Node, name string) string {
	for i := 0; i < len(node.Content); i += 2 {
		if node.Content[i].Value == name && node.Content[i+1].Kind == yaml.ScalarNode {
			return node.Content[i+1].Value
		}
	}
	return ""
}
