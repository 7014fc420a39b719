package randomspec

import (
	"fmt"
	"math/rand/v2"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Change returns the spec with a value that is drawn anew at a place of a document, which are the
// names of fields and the indices of elements below its spec.
func (g *Generator) Change(spec Spec, kind string, place []any, seed uint64) (Spec, error) {
	d := &draw{Rand: rand.New(rand.NewPCG(seed, 1)), rules: g.rules}
	document := &spec.Datacenter
	if kind != g.provider.Spec.Datacenter.Kind {
		document = &spec.Machine
	}
	changed, err := d.changed(g.kinds[kind].Schema().Definition(), runtime.DeepCopyJSON(*document), place)
	if err != nil {
		return spec, fmt.Errorf("%s.spec at %v: %w", kind, place, err)
	}
	*document = changed.(map[string]any)
	return spec, nil
}

// changed returns a value with another one at a place.
func (d *draw) changed(schema apiextensionsv1.JSONSchemaProps, value any, place []any) (any, error) {
	if len(place) == 0 {
		return d.valueOnce(schema, "changed")
	}
	var err error
	switch at := place[0].(type) {
	case string:
		fields, there := value.(map[string]any)
		if !there { // it is one that the schema completes
			fields = map[string]any{}
			value = fields
		}
		fields[at], err = d.changed(fieldOf(schema, at, fields[at]), fields[at], place[1:])
	case int:
		elements := value.([]any)
		of := typed(elements[at])
		if schema.Items != nil {
			of = *schema.Items.Schema
		}
		elements[at], err = d.changed(of, elements[at], place[1:])
	}
	return value, err
}

// fieldOf is the schema of a field, that of its value where the schema does not name it.
func fieldOf(schema apiextensionsv1.JSONSchemaProps, name string, value any) apiextensionsv1.JSONSchemaProps {
	if property, known := schema.Properties[name]; known {
		return property
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		return *schema.AdditionalProperties.Schema
	}
	return typed(value)
}

// typed is a schema that allows every value of the type of one.
func typed(value any) apiextensionsv1.JSONSchemaProps {
	types := map[string]string{"bool": "boolean", "int64": "integer", "float64": "number", "string": "string"}
	return apiextensionsv1.JSONSchemaProps{Type: types[fmt.Sprintf("%T", value)]}
}
