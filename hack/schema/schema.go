package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"

	"github.com/invopop/jsonschema"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// generate makes the content of the schema's file. types is the directory of
// the sources, from which the comments are read.
func generate(types string) ([]byte, error) {
	comments, err := readComments(types)
	if err != nil {
		return nil, err
	}
	ignored, err := readIgnored(types)
	if err != nil {
		return nil, err
	}
	root, err := build(comments, ignored)
	if err != nil {
		return nil, err
	}
	common, err := json.Marshal(root)
	if err != nil {
		return nil, fmt.Errorf("write the schema as JSON: %w", err)
	}
	return providers.BuiltIn().AddTo(common)
}

// kinds are the types of the documents that every file may have, in the order of Config.
func kinds() []reflect.Type {
	config := reflect.TypeFor[v1alpha1.Config]()
	var kinds []reflect.Type
	for i := range config.NumField() {
		if t := config.Field(i).Type; t.Kind() == reflect.Pointer && t != reflect.TypeFor[*v1alpha1.InfrastructureConfig]() {
			kinds = append(kinds, t.Elem())
		}
	}
	return kinds
}

func build(comments comments, ignored []ignoredField) (*jsonschema.Schema, error) {
	root := &jsonschema.Schema{
		Version:     jsonschema.Version,
		Title:       "Cluster spec of clusterctl-x",
		Description: "One document of a file that describes a Kubernetes cluster.",
		Definitions: jsonschema.Definitions{},
	}
	// Without an ID: the schema has no address of its own.
	reflector := jsonschema.Reflector{Anonymous: true, Mapper: scalarSchema, LookupComment: comments.lookup}
	for _, kind := range kinds() {
		reflected := reflector.ReflectFromType(kind)
		maps.Copy(root.Definitions, reflected.Definitions)
		describeHeader(root.Definitions[kind.Name()], kind.Name(), v1alpha1.APIVersion, v1alpha1.APIVersionEKSA)
		root.OneOf = append(root.OneOf, &jsonschema.Schema{Ref: reference(kind.Name())})
	}
	defineReferences(root.Definitions)
	for name, definition := range root.Definitions {
		definition.Title = name
		definition.AdditionalProperties = jsonschema.FalseSchema
		eachProperty(definition, widenScalar)
	}
	for _, field := range ignored {
		if err := field.addTo(root.Definitions); err != nil {
			return nil, err
		}
	}
	for _, scalar := range []reflect.Type{reflect.TypeFor[v1alpha1.Duration](), reflect.TypeFor[v1alpha1.KubernetesVersion]()} {
		definition := scalarSchema(scalar) // for the documents of providers
		widenScalar(definition)
		root.Definitions[scalar.Name()] = definition
	}
	return root, nil
}

func reference(name string) string { return "#/$defs/" + name }

// describeHeader says what kind and apiVersion of a document may be, by which
// editors tell documents apart.
func describeHeader(definition *jsonschema.Schema, kind string, apiVersions ...any) {
	description := "apiVersion is the form of the document."
	if len(apiVersions) > 1 {
		description += " Documents of EKS Anywhere are read as they stand."
	}
	definition.Properties.Set("apiVersion", &jsonschema.Schema{Type: "string", Description: description, Enum: apiVersions})
	definition.Properties.Set("kind", &jsonschema.Schema{
		Type:        "string",
		Description: "kind says what the document describes.",
		Const:       kind,
	})
}

// defineReferences makes a definition of its own of each place where documents
// are named, since each names documents of other kinds.
func defineReferences(definitions jsonschema.Definitions) {
	spec := definitions["ClusterSpec"].Properties
	refer := func(property *jsonschema.Schema, name string, kinds ...any) {
		definition := *definitions["Ref"]
		definition.Properties = jsonschema.NewProperties()
		for pair := definitions["Ref"].Properties.Oldest(); pair != nil; pair = pair.Next() {
			field := *pair.Value
			if pair.Key == "kind" {
				field.Enum = kinds
			}
			definition.Properties.Set(pair.Key, &field)
		}
		definitions[name] = &definition
		property.Ref = reference(name)
	}
	refer(spec.Value("datacenterRef"), "DatacenterRef") // the kinds are those of the providers
	for _, part := range []string{"ControlPlaneConfiguration", "WorkerNodeGroupConfiguration"} {
		refer(definitions[part].Properties.Value("machineGroupRef"), "MachineGroupRef")
	}
	refer(spec.Value("identityProviderRefs").Items, "IdentityProviderRef", v1alpha1.OIDCKind, v1alpha1.AWSIamKind)
	delete(definitions, "Ref")
}

// eachProperty visits the properties of a definition, and what they are lists
// or maps of.
func eachProperty(definition *jsonschema.Schema, visit func(*jsonschema.Schema)) {
	for pair := definition.Properties.Oldest(); pair != nil; pair = pair.Next() {
		visit(pair.Value)
		if pair.Value.Items != nil {
			visit(pair.Value.Items)
		}
		if pair.Value.AdditionalProperties != nil {
			visit(pair.Value.AdditionalProperties)
		}
	}
}

// format writes the schema for people too: indented, and with the characters
// that the library escapes for HTML, which this is not.
func format(root *jsonschema.Schema) ([]byte, error) {
	compact, err := json.Marshal(root)
	if err != nil {
		return nil, fmt.Errorf("write the schema as JSON: %w", err)
	}
	for escaped, plain := range map[string]string{`\u003c`: "<", `\u003e`: ">", `\u0026`: "&"} {
		compact = bytes.ReplaceAll(compact, []byte(escaped), []byte(plain))
	}
	var out bytes.Buffer
	if err := json.Indent(&out, compact, "", "  "); err != nil {
		return nil, fmt.Errorf("indent the schema: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}
