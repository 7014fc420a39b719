package main

import (
	"encoding/json"
	"reflect"

	"github.com/invopop/jsonschema"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// preRelease is one identifier of a pre-release: a number without leading zero, or
// a word.
const preRelease = `(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)`

// scalar is the form of a type that is read from one value by its own rules.
type scalar struct {
	pattern string
	// number is the type of JSON that is read too: as YAML has it, 1.34 without
	// quotes is a number.
	number   string
	min, max json.Number
}

// scalars are the types with an UnmarshalText of their own.
func scalars() map[reflect.Type]scalar {
	return map[reflect.Type]scalar{
		reflect.TypeFor[v1alpha1.KubernetesVersion](): {
			pattern: `^v?[1-9][0-9]*\.(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)(-` + preRelease + `(\.` + preRelease + `)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?)?$`,
			number:  "number",
		},
		reflect.TypeFor[v1alpha1.Duration](): {
			pattern: `^\+?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`,
			number:  "integer", min: "0", max: "0",
		},
		reflect.TypeFor[v1alpha1.IntOrPercent](): {pattern: `^(0|[1-9][0-9]*)%?$`, number: "integer", min: "0"},
		reflect.TypeFor[v1alpha1.Port]():         {pattern: `^([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])$`, number: "integer", min: "1", max: "65535"},
		reflect.TypeFor[v1alpha1.Content]():      {},
	}
}

// scalarSchema is the schema of a scalar, and nil for other types. Its title
// is the name of the type. Tags of its field still add to it.
func scalarSchema(t reflect.Type) *jsonschema.Schema {
	form, ok := scalars()[t]
	if !ok {
		return nil
	}
	return &jsonschema.Schema{Title: t.Name(), Type: "string", Pattern: form.pattern}
}

// widenScalar lets a scalar be a number too, where the decoder does. It comes
// after the tags, which the library applies to what has one type.
func widenScalar(schema *jsonschema.Schema) {
	for t, form := range scalars() {
		if schema.Title == t.Name() && form.number != "" {
			schema.Type = ""
			schema.Extras = map[string]any{"type": []string{"string", form.number}}
			schema.Minimum, schema.Maximum = form.min, form.max
		}
	}
}
