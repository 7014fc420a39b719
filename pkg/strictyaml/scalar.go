package strictyaml

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

// Confidential is implemented by types whose values may be secrets. A problem with
// one does not show the value.
type Confidential interface{ Confidential() }

// block is text whose line breaks are meant.
type block string

func (b *block) UnmarshalText(text []byte) error {
	*b = block(text)
	return CheckLines(string(text))
}

func (*block) Confidential() {} // it may be a file, and so a key

// CheckLines returns an error for text with characters that cannot be seen, other
// than line breaks and tabs.
func CheckLines(text string) error {
	for _, char := range text {
		if char != '\n' && char != '\t' && !unicode.IsPrint(char) {
			return fmt.Errorf("must be printable text; remove the character %U", char)
		}
	}
	return nil
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
		if _, confidential := into.(Confidential); confidential {
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
			r.problem(node, field.TypeInvalid(path, value, fmt.Sprintf("must be printable text; remove the character %U", char)))
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

// firstInvisible returns the first character that cannot be seen. These have no place in a
// spec, and do not survive everywhere that its text goes.
func firstInvisible(text string) (rune, bool) {
	i := strings.IndexFunc(text, func(c rune) bool { return !unicode.IsPrint(c) })
	if i < 0 {
		return 0, false
	}
	char, _ := utf8.DecodeRuneInString(text[i:])
	return char, true
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
		if isBlock(node) || r.lines && node.ShortTag() == "!!str" {
			var lines block
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

// isBlock reports whether a node is text whose line breaks are meant.
func isBlock(node *yaml.Node) bool {
	return node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 && node.ShortTag() == "!!str"
}

// scalarType returns the Go type of a value that has none by its place.
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
