package providers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// AddTo returns the JSON Schema of cluster specs with the documents of these providers,
// each as a definition of the name of its kind, besides those that it has.
func (s Set) AddTo(specSchema []byte) ([]byte, error) {
	var root map[string]any
	if err := json.Unmarshal(specSchema, &root); err != nil {
		return nil, fmt.Errorf("reading the schema of cluster specs: %w", err)
	}
	definitions := root["$defs"].(map[string]any)
	alternatives := root["oneOf"].([]any)
	var datacenters, machines []any
	kinds := s.Kinds()
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		definition, err := documentSchema(kind, kinds[kind])
		if err != nil {
			return nil, err
		}
		if _, there := definitions[kind]; !there {
			alternatives = append(alternatives, map[string]any{"$ref": "#/$defs/" + kind})
		}
		definitions[kind] = definition
		if kinds[kind].Machines {
			machines = append(machines, kind)
		} else {
			datacenters = append(datacenters, kind)
		}
	}
	root["oneOf"] = alternatives
	for name, refer := range map[string][]any{"DatacenterRef": datacenters, "MachineGroupRef": machines} {
		kind := definitions[name].(map[string]any)["properties"].(map[string]any)["kind"].(map[string]any)
		delete(kind, "enum")
		if len(refer) > 0 { // an empty list is no schema
			kind["enum"] = refer
		}
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // it is for people too
	encoder.SetIndent("", "  ")
	err := encoder.Encode(root)
	return out.Bytes(), err
}

// documentSchema returns the JSON Schema of a document.
func documentSchema(kind string, of v1alpha1.InfrastructureKind) (map[string]any, error) {
	definition := of.Schema().Definition()
	spec, err := specSchema(definition)
	if err != nil {
		return nil, fmt.Errorf("writing the schema of %s: %w", kind, err)
	}
	for _, answer := range of.Answers {
		if err := addIgnored(spec, answer); err != nil {
			return nil, fmt.Errorf("writing the schema of %s: %w", kind, err)
		}
	}
	required := []any{"apiVersion", "kind", "metadata"}
	if len(definition.Required) > 0 {
		required = append(required, "spec")
	}
	return map[string]any{
		"title": kind, "type": "object", "additionalProperties": false, "required": required, "description": definition.Description,
		"properties": map[string]any{
			"apiVersion": map[string]any{"type": "string", "enum": []any{v1alpha1.APIVersion, v1alpha1.APIVersionEKSA}, "description": "apiVersion is the form of the document. Documents of EKS Anywhere are read as they stand."},
			"kind":       map[string]any{"type": "string", "const": kind, "description": "kind says what the document describes."},
			"metadata":   map[string]any{"$ref": "#/$defs/Meta", "description": "metadata names the document."},
			"spec":       spec,
			"status":     ignored("status is read from the cluster; this one is ignored"),
		},
	}, nil
}

// ignored is the schema of a field that is read and not acted on: an editor warns of it.
func ignored(text string) map[string]any {
	return map[string]any{"description": text, "deprecated": true, "deprecationMessage": text, "doNotSuggest": true}
}

// addIgnored adds a field to the schema of a spec if the answer about it is a warning.
func addIgnored(spec map[string]any, answer v1alpha1.FieldAnswer) error {
	if answer.Warning == "" {
		return nil
	}
	names := strings.Split(answer.Path, ".")
	parent := spec
	for _, name := range names[:len(names)-1] {
		properties, _ := parent["properties"].(map[string]any)
		property, there := properties[name].(map[string]any)
		if !there {
			return fmt.Errorf("there is an answer about %s, and no field %s", answer.Path, name)
		}
		if items, is := property["items"].(map[string]any); is {
			property = items
		}
		parent = property
	}
	properties, is := parent["properties"].(map[string]any)
	if !is {
		return fmt.Errorf("there is an answer about %s, which is below no object", answer.Path)
	}
	properties[names[len(names)-1]] = ignored(answer.Warning)
	return nil
}

// specSchema returns a schema as JSON Schema, in which what it does not name is unknown.
func specSchema(definition apiextensionsv1.JSONSchemaProps) (map[string]any, error) {
	data, err := json.Marshal(definition)
	if err != nil {
		return nil, err
	}
	var schema map[string]any
	if err := json.Unmarshal(data, &schema); err != nil {
		return nil, err
	}
	schema["description"] = "spec has the fields of the document."
	return closed(schema), nil
}

// closed returns a schema in which objects have the fields that it names, and no others.
// Formats that have a Go type are definitions of the schema of cluster specs.
func closed(schema map[string]any) map[string]any {
	switch schema["format"] {
	case v1alpha1.DurationFormat:
		delete(schema, "format")
		delete(schema, "type")
		schema["$ref"] = "#/$defs/Duration"
	case v1alpha1.KubernetesVersionFormat:
		delete(schema, "format")
		delete(schema, "type")
		schema["$ref"] = "#/$defs/KubernetesVersion"
	}
	if properties, is := schema["properties"].(map[string]any); is {
		if _, open := schema["x-kubernetes-preserve-unknown-fields"]; !open {
			schema["additionalProperties"] = false
		}
		for _, property := range properties {
			closed(property.(map[string]any))
		}
	}
	for _, keyword := range []string{"items", "additionalProperties"} {
		if values, is := schema[keyword].(map[string]any); is {
			closed(values)
		}
	}
	return schema
}
