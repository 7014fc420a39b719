package validations

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// shape is the form of a value in another program's object: it has fields, or is a
// list, a map, or one value of a type.
type shape struct {
	Fields map[string]*shape `json:"fields,omitempty"`
	Items  *shape            `json:"items,omitempty"`
	Values *shape            `json:"values,omitempty"`
	Type   string            `json:"type,omitempty"` // a key of valueTypes; empty where anything goes
}

type valueType struct {
	goType reflect.Type
	words  string // what it must be
}

func valueTypes() map[string]valueType {
	const number = "a whole number in decimal digits, without quotes, that is not too large"
	return map[string]valueType{
		"string":   {reflect.TypeFor[string](), "text; put it in quotes"},
		"bool":     {reflect.TypeFor[bool](), "true or false, without quotes"},
		"int32":    {reflect.TypeFor[int32](), number},
		"int64":    {reflect.TypeFor[int64](), number},
		"uint32":   {reflect.TypeFor[uint32](), number + " or negative"},
		"float64":  {reflect.TypeFor[float64](), "a number in decimal digits, without quotes"},
		"duration": {reflect.TypeFor[metav1.Duration](), "a duration such as 90s or 1m30s"},
		"quantity": {reflect.TypeFor[resource.Quantity](), "a quantity such as 500m or 2Gi"},
	}
}

// shapeOf a Go type with JSON names. Types that read their own text are known
// by name, or may be anything.
func shapeOf(t reflect.Type) *shape {
	if t.Kind() == reflect.Pointer {
		return shapeOf(t.Elem())
	}
	switch t {
	case reflect.TypeFor[metav1.Duration]():
		return &shape{Type: "duration"}
	case reflect.TypeFor[resource.Quantity]():
		return &shape{Type: "quantity"}
	}
	pointer := reflect.PointerTo(t)
	if pointer.Implements(reflect.TypeFor[json.Unmarshaler]()) || pointer.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return &shape{}
	}
	switch t.Kind() {
	case reflect.Struct:
		fields := &shape{Fields: map[string]*shape{}}
		for _, member := range reflect.VisibleFields(t) {
			if name, _, _ := strings.Cut(member.Tag.Get("json"), ","); name != "" && name != "-" {
				fields.Fields[name] = shapeOf(member.Type)
			}
		}
		return fields
	case reflect.Slice:
		return &shape{Items: shapeOf(t.Elem())}
	case reflect.Map:
		return &shape{Values: shapeOf(t.Elem())}
	default:
		return &shape{Type: t.Kind().String()}
	}
}

// check returns where a value has another shape. No value fits everywhere.
func (s *shape) check(value any, path *field.Path) field.ErrorList {
	object, isObject := value.(map[string]any)
	list, isList := value.([]any)
	wrong := func(words string) field.ErrorList {
		return field.ErrorList{field.TypeInvalid(path, described(value), "must be "+words)}
	}
	switch {
	case value == nil:
		return nil
	case s.Fields != nil || s.Values != nil:
		if !isObject {
			return wrong("a mapping: fields with values")
		}
		return s.checkObject(object, path)
	case s.Items != nil:
		if !isList {
			return wrong("a list")
		}
		var errs field.ErrorList
		for i, item := range list {
			errs = append(errs, s.Items.check(item, path.Index(i))...)
		}
		return errs
	case s.Type == "":
		return nil
	}
	known := valueTypes()[s.Type]
	data, _ := json.Marshal(value) // nothing, which is no value, where there is no JSON for it
	if kjson.UnmarshalCaseSensitivePreserveInts(data, reflect.New(known.goType).Interface()) != nil {
		return wrong(known.words)
	}
	return nil
}

func (s *shape) checkObject(object map[string]any, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(object)) {
		at, of := path.Child(strictyaml.FieldName(name)), s.Values
		if of == nil {
			of = s.Fields[name]
		}
		if of == nil {
			errs = append(errs, field.Forbidden(at, "unknown field; "+s.remedy(name)))
			continue
		}
		errs = append(errs, of.check(object[name], at)...)
	}
	return errs
}

// remedy for a field that there is not.
func (s *shape) remedy(name string) string {
	if similar := s.similar(name); similar != "" {
		return fmt.Sprintf("did you mean %s?", similar)
	}
	return "remove it"
}

// meant are the paths of the fields that misspelt ones of a value stand for.
func (s *shape) meant(value any, path *field.Path) []string {
	var paths []string
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			if s.Items != nil {
				paths = append(paths, s.Items.meant(item, path.Index(i))...)
			}
		}
	case map[string]any:
		for name, member := range value {
			if of := s.Fields[name]; of != nil {
				paths = append(paths, of.meant(member, path.Child(name))...)
			} else if similar := s.similar(name); similar != "" {
				paths = append(paths, path.Child(similar).String())
			}
		}
	}
	return paths
}

// similar is the field that a misspelt name most probably means, or nothing.
func (s *shape) similar(name string) string {
	return strictyaml.Similar(name, slices.Sorted(maps.Keys(s.Fields)))
}

// described is a value as an error shows it.
func described(value any) any {
	switch value.(type) {
	case map[string]any:
		return "a mapping"
	case []any:
		return "a list"
	}
	return value
}
