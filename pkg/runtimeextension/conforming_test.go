package runtimeextension

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// hooksPackage is where the types of Cluster API's hooks are.
const hooksPackage = "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1."

// assertConforms holds a body against the OpenAPI of Cluster API's hooks, which 'make
// hooks' makes from its types. What these have from other packages is any object.
func assertConforms(t *testing.T, kind string, body []byte) {
	t.Helper()
	for _, problem := range conforms(t, kind, body) {
		t.Errorf("%s does not conform: %v: %s", kind, problem, body)
	}
}

func conforms(t *testing.T, kind string, body []byte) []error {
	t.Helper()
	definitions := GetOpenAPIDefinitions(func(path string) spec.Ref { return spec.MustCreateRef("#/definitions/" + path) })
	if _, known := definitions[hooksPackage+kind]; !known {
		t.Fatalf("Cluster API has no %s", kind)
	}
	var resolve func(schema spec.Schema) spec.Schema
	resolve = func(schema spec.Schema) spec.Schema {
		if name, isRef := strings.CutPrefix(schema.Ref.String(), "#/definitions/"); isRef {
			definition, known := definitions[name]
			if !known {
				return spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}
			}
			return resolve(definition.Schema)
		}
		properties := map[string]spec.Schema{}
		for name, property := range schema.Properties {
			properties[name] = resolve(property)
		}
		schema.Properties = properties
		if schema.Items != nil && schema.Items.Schema != nil {
			item := resolve(*schema.Items.Schema)
			schema.Items = &spec.SchemaOrArray{Schema: &item}
		}
		var all []spec.Schema
		for _, part := range schema.AllOf {
			all = append(all, resolve(part))
		}
		schema.AllOf = all
		return schema
	}
	schema := resolve(definitions[hooksPackage+kind].Schema)
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		t.Fatal(err)
	}
	return validate.NewSchemaValidator(&schema, nil, "", strfmt.Default).Validate(value).Errors
}

// TestConforms: what does not conform is told.
func TestConforms(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		kind, body string
		problems   int
	}{
		"good":              {"GenerateUpgradePlanResponse", `{"status":"Success","controlPlaneUpgrades":[{"version":"v1.34.4"}]}`, 0},
		"status is missing": {"GenerateUpgradePlanResponse", `{}`, 1},
		"no version":        {"GenerateUpgradePlanResponse", `{"status":"Success","workersUpgrades":["v1.34.4"]}`, 1},
		"retry is no word":  {"BeforeWorkersUpgradeResponse", `{"status":"Success","message":"","retryAfterSeconds":"5"}`, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if problems := conforms(t, test.kind, []byte(test.body)); len(problems) != test.problems {
				t.Errorf("problems: %v, want %d", problems, test.problems)
			}
		})
	}
}
