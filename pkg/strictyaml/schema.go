package strictyaml

import (
	"context"
	"encoding"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// Schema describes values that have no Go type, as the schema of a
// CustomResourceDefinition does: with types, defaults, limits and rules in CEL
// (x-kubernetes-validations).
type Schema struct {
	definition apiextensionsv1.JSONSchemaProps
	structural *structuralschema.Structural
	validator  validation.SchemaValidator
	rules      *cel.Validator
	// formats read the text of strings that have one of these formats.
	formats Formats
}

// Formats are the formats of strings in a schema that have a Go type, which reads the
// characters in the file and writes the value.
type Formats map[string]func() Text

// Text is a value that is read from one text and written as one.
type Text interface {
	encoding.TextUnmarshaler
	encoding.TextMarshaler
}

// NewSchema returns the schema of a definition, which must be structural: each level has
// a type. All that is wrong with it is in the error.
func NewSchema(definition apiextensionsv1.JSONSchemaProps, formats Formats) (*Schema, error) {
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&definition, &internal, nil); err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	structural, err := structuralschema.NewStructural(&internal)
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	if errs := append(structuralschema.ValidateStructural(nil, structural), unknownTypes(structural, nil)...); len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	validator, _, err := validation.NewSchemaValidator(&internal)
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	rules := cel.NewValidator(structural, false, celconfig.PerCallLimit)
	return &Schema{definition: definition, structural: structural, validator: validator, rules: rules, formats: formats}, nil
}

// unknownTypes returns the types below a path that there are not.
func unknownTypes(s *structuralschema.Structural, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	known := []string{"array", "boolean", "integer", "number", "object", "string"}
	if s.Type != "" && !slices.Contains(known, s.Type) {
		errs = append(errs, field.NotSupported(path.Child("type"), s.Type, known))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		errs = append(errs, unknownTypes(&property, path.Child("properties").Key(name))...)
	}
	if s.Items != nil {
		errs = append(errs, unknownTypes(s.Items, path.Child("items"))...)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		errs = append(errs, unknownTypes(s.AdditionalProperties.Structural, path.Child("additionalProperties"))...)
	}
	return errs
}

// Definition returns the schema as it was written.
func (s *Schema) Definition() apiextensionsv1.JSONSchemaProps { return s.definition }

// Default completes a value with the defaults of the schema.
func (s *Schema) Default(value map[string]any) { defaulting.Default(value, s.structural) }

// Validate returns what is wrong with a value at a path that has the types of the schema.
func (s *Schema) Validate(path *field.Path, value map[string]any) field.ErrorList {
	errs := validation.ValidateCustomResource(path, value, s.validator)
	for _, err := range errs {
		if _, detail, repeats := strings.Cut(err.Detail, " in body "); repeats { // the path, which stands before it
			err.Detail = detail
		}
		if err.Type == field.ErrorTypeRequired && err.Detail == "" {
			err.Detail = s.describe(strings.TrimPrefix(err.Field, path.String()+"."))
		}
	}
	errs = append(errs, listtype.ValidateListSetsAndMaps(path, s.structural, value)...)
	if s.rules == nil || len(errs) > 0 { // rules take for granted what the schema says
		return errs
	}
	broken, _ := s.rules.Validate(endless{}, path, s.structural, value, nil, celconfig.RuntimeCELCostBudget)
	return broken
}

var elements = regexp.MustCompile(`\[[^]]*\]`)

// describe returns the first sentence of the description of a field, without its end.
func (s *Schema) describe(path string) string {
	at := s.structural
	for _, name := range strings.Split(elements.ReplaceAllString(path, ""), ".") {
		for at.Items != nil {
			at = at.Items
		}
		property, known := at.Properties[name]
		if !known {
			return ""
		}
		at = &property
	}
	first, _, _ := strings.Cut(at.Description, ". ")
	return strings.TrimSuffix(strings.ReplaceAll(first, "\n", " "), ".")
}

// endless is the context of rules in CEL: their cost is limited, so that nothing else has
// to end them.
type endless struct{}

var _ context.Context = endless{}

func (endless) Deadline() (time.Time, bool) { return time.Time{}, false }
func (endless) Done() <-chan struct{}       { return nil }
func (endless) Err() error                  { return nil }
func (endless) Value(any) any               { return nil }
