package validations

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// valueForm says what a schema takes.
func valueForm(schema clusterv1.JSONSchemaProps) string {
	form := "a value of any form"
	switch {
	case len(schema.Enum) > 0:
		values := make([]string, len(schema.Enum))
		for i, value := range schema.Enum {
			values[i] = string(value.Raw)
		}
		form = alternatives(values)
	case isTrue(schema.XIntOrString):
		form = "an integer or a string"
	case schema.Type == "integer", schema.Type == "number":
		form = map[string]string{"integer": "an integer", "number": "a number"}[schema.Type] + bounds(schema)
	case schema.Type == "boolean":
		form = "true or false"
	case schema.Type == "string":
		form = "a string"
		if schema.Pattern != "" {
			form += " that matches " + schema.Pattern
		} else if schema.MinLength != nil && *schema.MinLength > 0 {
			form += " that is not empty"
		}
	case schema.Type == "array":
		form = "a list"
		if schema.Items != nil {
			form += ", each entry " + valueForm(*schema.Items)
		}
	case schema.Type == "object":
		form = "a mapping" + fieldsForm(schema)
	}
	for _, rule := range schema.XValidations {
		form += " that keeps to the rule " + rule.Rule
	}
	return form
}

func isTrue(value *bool) bool { return value != nil && *value }

func alternatives(values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	last := len(values) - 1
	return strings.Join(values[:last], ", ") + " or " + values[last]
}

func bounds(schema clusterv1.JSONSchemaProps) string {
	number := func(value int64) string { return strconv.FormatInt(value, 10) }
	switch least, most := schema.Minimum, schema.Maximum; {
	case isTrue(schema.ExclusiveMinimum) || isTrue(schema.ExclusiveMaximum):
		return ""
	case least != nil && most != nil:
		return " from " + number(*least) + " to " + number(*most)
	case least != nil:
		return " of " + number(*least) + " or more"
	case most != nil:
		return " of " + number(*most) + " or less"
	}
	return ""
}

func fieldsForm(schema clusterv1.JSONSchemaProps) string {
	if len(schema.Properties) == 0 {
		return ""
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if slices.Contains(schema.Required, name) {
			name += " (required)"
		}
		names = append(names, name)
	}
	return " with the fields " + strings.Join(names, ", ")
}

// step of a path inside of a value: a field, or an index or key.
var step = regexp.MustCompile(`^\.([^.\[]+)|^\[([^\]]*)\]`)

// schemaAt returns the schema at a path inside of a value; empty if the schema does not
// say.
func schemaAt(schema clusterv1.JSONSchemaProps, path string) clusterv1.JSONSchemaProps {
	for path != "" {
		m := step.FindStringSubmatch(path)
		if m == nil {
			return clusterv1.JSONSchemaProps{}
		}
		path = path[len(m[0]):]
		next, known := schema.Properties[m[1]]
		switch {
		case known:
		case schema.Items != nil:
			next = *schema.Items
		case schema.AdditionalProperties != nil:
			next = *schema.AdditionalProperties
		}
		schema = next
	}
	return schema
}

// inBody is how the validation of schemas begins, with the name of the field once
// more.
var (
	inBody    = regexp.MustCompile(`^\S* ?in body `)
	wrongType = regexp.MustCompile(`^must be of type ([^:]+): "(.*)"$`)
)

// value returns Cluster API's error about a value of the user, with the values that the
// class accepts.
func (c classCheck) value(err *field.Error, at, rest string, schema clusterv1.JSONSchemaProps) *field.Error {
	said := *err
	said.Field, said.BadValue = at, field.OmitValueType{}
	if text, is := err.BadValue.(string); is && rest == "" {
		said.BadValue = scalar(text)
	}
	takes := fmt.Sprintf("ClusterClass %s takes %s", c.class.Name, valueForm(schemaAt(schema, rest)))
	detail := shorter(err.Detail)
	switch {
	case err.Type == field.ErrorTypeRequired:
		said.Detail = fmt.Sprintf("ClusterClass %s requires this field; set it to %s", c.class.Name, valueForm(schemaAt(schema, rest)))
	case err.Type == field.ErrorTypeNotSupported || detail == "":
		said.Detail = takes
	default:
		said.Detail = detail + "; " + takes
	}
	return &said
}

// shorter shortens Cluster API's objection to a value.
func shorter(detail string) string {
	return wrongType.ReplaceAllString(inBody.ReplaceAllString(strings.TrimSuffix(detail, "."), ""), "must be of type $1, not $2")
}

// scalar is a value of JSON as it can stand in a message; lists and mappings are
// left out.
func scalar(text string) any {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return field.OmitValueType{}
	}
	switch value := value.(type) {
	case string, bool:
		return value
	case json.Number:
		if number, err := value.Int64(); err == nil {
			return number
		}
		if number, err := value.Float64(); err == nil {
			return number
		}
	}
	return field.OmitValueType{}
}

// unknownFields returns the fields that values of variables have, and their
// schemas not. Cluster API names them all in one error of the variable.
func (c classCheck) unknownFields() field.ErrorList {
	var errs field.ErrorList
	c.given(func(path *field.Path, name string, value any) {
		if definition, defined := c.definitions[name]; defined {
			errs = append(errs, c.unknownIn(value, definition.Schema.OpenAPIV3Schema, path)...)
		}
	})
	return errs
}

func (c classCheck) unknownIn(value any, schema clusterv1.JSONSchemaProps, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			at := path.Child(strictyaml.FieldName(name))
			property, known := schema.Properties[name]
			switch {
			case known:
				errs = append(errs, c.unknownIn(value[name], property, at)...)
			case schema.AdditionalProperties != nil:
				errs = append(errs, c.unknownIn(value[name], *schema.AdditionalProperties, at)...)
			case !isTrue(schema.XPreserveUnknownFields) && schema.Type == "object":
				errs = append(errs, field.Forbidden(at, fmt.Sprintf("ClusterClass %s has no such field in this variable; %s",
					c.class.Name, orSimilar(name, slices.Sorted(maps.Keys(schema.Properties))))))
			}
		}
	case []any:
		for i, item := range value {
			if schema.Items != nil {
				errs = append(errs, c.unknownIn(item, *schema.Items, path.Index(i))...)
			}
		}
	}
	return errs
}
