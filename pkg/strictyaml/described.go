package strictyaml

import (
	"reflect"

	"go.yaml.in/yaml/v3"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Described is a value that a schema describes. Read fills it in where Schema is set.
type Described struct {
	Schema *Schema
	// Value is what JSON makes of the text: map[string]any, []any, string, int64,
	// float64, bool, or nil where there is nothing.
	Value any

	structural *structuralschema.Structural
}

func (d *Described) child(structural *structuralschema.Structural) *Described {
	return &Described{Schema: d.Schema, structural: structural}
}

// described reads a node into a value that a schema describes.
func (r *reader) described(node *yaml.Node, into *Described, path *field.Path) {
	if into.structural == nil {
		into.structural = into.Schema.structural
	}
	s := into.structural
	switch {
	case s.XIntOrString || s.Type == "" || s.XPreserveUnknownFields && len(s.Properties) == 0:
		r.describedAnything(node, into, path)
	case s.Type == "object" && s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil:
		into.Value = r.describedMap(node, into, path)
	case s.Type == "object":
		into.Value = r.describedFields(node, into, path)
	case s.Type == "array":
		into.Value = r.describedList(node, into, path)
	default:
		r.describedScalar(node, into, path)
	}
}

func (r *reader) describedFields(node *yaml.Node, into *Described, path *field.Path) any {
	names := map[string]int{}
	for name := range into.structural.Properties {
		names[name] = 0
	}
	values := map[string]any{}
	r.eachNamed(node, names, path, func(key, value *yaml.Node, name string, at *field.Path) {
		property := into.structural.Properties[name]
		r.describedInto(values, name, key, value, into.child(&property), at)
	})
	return values
}

func (r *reader) describedMap(node *yaml.Node, into *Described, path *field.Path) any {
	values := map[string]any{}
	r.eachField(node, path, asWritten, func(key, value *yaml.Node, _ *field.Path) {
		at := path.Key(FieldName(key.Value))
		if char, is := firstInvisible(key.Value); is {
			r.problem(key, invisible(at, key.Value, char))
			return
		}
		r.describedInto(values, key.Value, key, value, into.child(into.structural.AdditionalProperties.Structural), at)
	})
	return values
}

// describedInto reads the value of a key. What is null or could not be read is not there.
func (r *reader) describedInto(values map[string]any, name string, key, value *yaml.Node, into *Described, at *field.Path) {
	r.value(key, value, reflect.ValueOf(into).Elem(), at)
	if into.Value != nil {
		values[name] = into.Value
	}
}

func (r *reader) describedList(node *yaml.Node, into *Described, path *field.Path) any {
	if node.Kind != yaml.SequenceNode {
		r.problem(node, field.TypeInvalid(path, describe(node), "must be a list"))
		return nil
	}
	values := []any{}
	for i, item := range node.Content {
		if isNull(resolve(item)) {
			r.problem(item, emptyItem(path.Index(i)))
			continue
		}
		element := into.child(into.structural.Items)
		r.value(item, item, reflect.ValueOf(element).Elem(), path.Index(i))
		values = append(values, element.Value)
	}
	return values
}

// describedAnything reads what has no fields of its own in the schema.
func (r *reader) describedAnything(node *yaml.Node, into *Described, path *field.Path) {
	if into.structural.Type == "object" && node.Kind != yaml.MappingNode {
		r.problem(node, field.TypeInvalid(path, describe(node), "must be a mapping: fields with values"))
		return
	}
	var value any
	r.lines = true // objects of others have scripts in whatever quotes
	defer func() { r.lines = false }()
	r.anything(node, reflect.ValueOf(&value).Elem(), path)
	into.Value = asJSON(value)
}

func (r *reader) describedScalar(node *yaml.Node, into *Described, path *field.Path) {
	if validation := into.structural.ValueValidation; validation != nil && into.Schema.formats[validation.Format] != nil {
		text := into.Schema.formats[validation.Format]()
		r.text(node, text, path)
		if written, err := text.MarshalText(); err == nil {
			into.Value = string(written)
		}
		return
	}
	types := map[string]reflect.Type{
		"string": reflect.TypeFor[string](), "integer": reflect.TypeFor[int](), "number": reflect.TypeFor[float64](), "boolean": reflect.TypeFor[bool](),
	}
	value := reflect.New(types[into.structural.Type]).Elem()
	if into.structural.Type == "string" && isBlock(node) {
		value = reflect.New(reflect.TypeFor[block]()).Elem()
		r.text(node, value.Addr().Interface().(*block), path)
		into.Value = value.String()
		return
	}
	r.scalar(node, value, path)
	into.Value = asJSON(value.Interface())
}

// asJSON returns a value with the Go types of unstructured objects.
func asJSON(value any) any {
	switch value := value.(type) {
	case int:
		return int64(value)
	case map[string]any:
		for name := range value {
			value[name] = asJSON(value[name])
		}
	case []any:
		for i := range value {
			value[i] = asJSON(value[i])
		}
	}
	return value
}
