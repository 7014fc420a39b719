package v1alpha1

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxNodes and maxDepth bound what aliases may expand to.
const (
	maxNodes = 100_000
	maxDepth = 100
)

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
	if problems := checkHeader(file, documents[0], []string{kind}, []string{APIVersion}); len(problems) > 0 {
		return Document{}, problems.OrNil()
	}
	r := newReader(file, typeOf(documents[0]))
	r.into(documents[0], reflect.ValueOf(into))
	return r.document, r.problems.OrNil()
}

// reader carries a YAML document into a Go value, field by field, so that each
// mistake is found, with its line and path. The YAML library alone would stop
// at the first, or know Go types instead of paths.
type reader struct {
	kind string
	// anyCase reads names of fields whatever their case, as EKS Anywhere does.
	anyCase  bool
	document Document
	problems Problems
	warnings []Warning
	// ofProvider are problems with fields that other infrastructure providers have.
	ofProvider Problems
	nodes      int
	depth      int
	// misplaced are where fields belong that stand elsewhere.
	misplaced []string
	// fields that fieldsOf returned; a file may have 100,000 values of one type.
	fields map[reflect.Type]map[string]int
}

func newReader(file string, of typeMeta) *reader {
	return &reader{kind: of.kind, anyCase: of.apiVersion == APIVersionEKSA, fields: map[reflect.Type]map[string]int{}, document: Document{file: file, lines: map[string]int{}, unread: map[string]bool{}}}
}

// into fills a pointer to a struct.
func (r *reader) into(node *yaml.Node, pointer reflect.Value) {
	r.value(node, node, pointer.Elem(), nil)
	for _, path := range r.misplaced {
		if _, there := r.document.lines[path]; !there {
			r.document.unread[path] = true
		}
	}
}

func (r *reader) problem(node *yaml.Node, err *field.Error) {
	problem := newProblem(r.document.file, node.Line, err)
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
	case reflect.Interface:
		r.anything(node, into, path)
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
		var value any = node.Value
		if _, file := into.(*Content); file { // which may be a key
			value = field.OmitValueType{}
		}
		r.problem(node, field.Invalid(path, value, err.Error()))
	}
}

func (r *reader) scalar(node *yaml.Node, into reflect.Value, path *field.Path) {
	wrong := func(want string) {
		r.problem(node, field.TypeInvalid(path, describe(node), "must be "+want))
	}
	switch into.Kind() {
	case reflect.String:
		if node.Kind != yaml.ScalarNode {
			wrong("text: write one value")
			return
		}
		if node.ShortTag() != "!!str" && !isMerge(node) { // << is text where it is no key
			wrong("text; put it in quotes")
			return
		}
		if char, is := firstInvisible(node.Value); is {
			var value any = node.Value
			if strings.Contains(node.Value, "@") { // there may be a password before it
				value = field.OmitValueType{}
			}
			r.problem(node, field.TypeInvalid(path, value, fmt.Sprintf("must be text that can be seen; remove the character %U", char)))
			return
		}
		into.SetString(node.Value)
	case reflect.Int:
		// 010 is ten to some readers of YAML and eight to others.
		number, err := strconv.Atoi(node.Value)
		if errors.Is(err, strconv.ErrRange) {
			wrong("a whole number of at most 64 bits; use a smaller one")
			return
		}
		if err != nil || node.ShortTag() != "!!int" || strconv.Itoa(number) != node.Value {
			wrong("a whole number in decimal digits, without quotes")
			return
		}
		into.SetInt(int64(number))
	case reflect.Float64:
		// From here on a number would be rounded to a whole one.
		const tooLarge = 1 << 53
		number, err := strconv.ParseFloat(node.Value, 64)
		if err != nil || math.IsNaN(number) || math.Abs(number) >= tooLarge || strings.ContainsAny(node.Value, "_xX") {
			wrong("a number in decimal digits, of no more than 15")
			return
		}
		into.SetFloat(number)
	case reflect.Bool:
		on, off := strings.EqualFold(node.Value, "true"), strings.EqualFold(node.Value, "false")
		if node.ShortTag() != "!!bool" || !on && !off {
			wrong("true or false, without quotes")
			return
		}
		into.SetBool(on)
	default:
		panic(fmt.Sprintf("no rule to read a %s at %s", into.Type(), path))
	}
}

// firstInvisible finds a character that cannot be seen. These have no place in a
// spec, and do not survive everywhere that its text goes.
func firstInvisible(text string) (rune, bool) {
	i := strings.IndexFunc(text, func(c rune) bool { return !unicode.IsPrint(c) })
	if i < 0 {
		return 0, false
	}
	char, _ := utf8.DecodeRuneInString(text[i:])
	return char, true
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
			r.problem(item, field.Required(path.Index(i), "an item of a list must have a value; write one or remove the item"))
			continue
		}
		r.value(item, item, into.Index(i), path.Index(i))
	}
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
			r.problem(key, field.Invalid(at, key.Value, fmt.Sprintf("must be text that can be seen; remove the character %U", char)))
			return
		}
		r.value(key, value, element, at)
		into.SetMapIndex(reflect.ValueOf(key.Value).Convert(into.Type().Key()), element)
	})
}

// anything reads what has no Go type here: objects of other programs.
func (r *reader) anything(node *yaml.Node, into reflect.Value, path *field.Path) {
	var value reflect.Value
	switch node.Kind {
	case yaml.MappingNode:
		value = reflect.New(reflect.TypeFor[map[string]any]()).Elem()
		value.Set(reflect.MakeMap(value.Type()))
		r.mapping(node, value, path)
	case yaml.SequenceNode:
		value = reflect.New(reflect.TypeFor[[]any]()).Elem()
		value.Set(reflect.MakeSlice(value.Type(), 0, 0))
		r.list(node, value, path)
	case yaml.ScalarNode:
		if node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 && node.ShortTag() == "!!str" {
			var lines Content // whoever writes a block means its line breaks
			r.text(node, &lines, path)
			into.Set(reflect.ValueOf(string(lines)))
			return
		}
		fallthrough
	default:
		value = reflect.New(scalarType(node)).Elem()
		r.scalar(node, value, path)
		if number, ok := value.Interface().(float64); ok && number == math.Trunc(number) {
			value = reflect.ValueOf(int(number)) // as JSON has it
		}
	}
	into.Set(value)
}

// scalarType is the Go type of a value that has none by its place.
func scalarType(node *yaml.Node) reflect.Type {
	switch node.ShortTag() {
	case "!!int":
		return reflect.TypeFor[int]()
	case "!!float":
		return reflect.TypeFor[float64]()
	case "!!bool":
		return reflect.TypeFor[bool]()
	default:
		return reflect.TypeFor[string]()
	}
}

func (r *reader) structure(node *yaml.Node, into reflect.Value, path *field.Path) {
	fields := r.fieldsOf(into.Type())
	name := func(written string) string { return r.fieldName(written, fields) }
	r.eachField(node, path, name, func(key, value *yaml.Node, at *field.Path) {
		index, known := fields[name(key.Value)]
		if !known {
			r.unknownField(key, value, fields, at)
			if similar := Similar(key.Value, sortedNames(fields)); similar != "" {
				r.notMissing(node, path, similar)
			}
			return
		}
		if own := name(key.Value); own != key.Value {
			r.warnings = append(r.warnings, Warning{File: r.document.file, Line: key.Line, Path: at.String(), Text: fmt.Sprintf("is written %s here; write %s: EKS Anywhere ignores the case of field names, and other readers of YAML do not", key.Value, own)})
		}
		r.value(key, value, into.Field(index), at)
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
		if written := node.Content[i].Value; written == name || r.anyCase && strings.EqualFold(written, name) {
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
			// The fields beside it have been read.
			r.problems = append(r.problems, newProblem(r.document.file, key.Line, field.TypeInvalid(path, describe(key), "the name of a field must be text; write one, or remove it")))
		case isMerge(key):
			r.problem(key, field.Forbidden(at, "merging fields with << is not supported; write the fields out"))
		case twice:
			r.problem(key, &field.Error{Type: field.ErrorTypeDuplicate, Field: at.String(), BadValue: key.Value, Detail: fmt.Sprintf("the field stands in line %d already; remove one of them", line)})
		default:
			seen[name(key.Value)] = key.Line
			visit(key, value, at)
		}
	}
}

// resolve is the node that an alias stands for.
func resolve(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

// isTemplate tells whether a value is written in two braces.
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
