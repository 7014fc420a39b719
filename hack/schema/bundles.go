package main

import (
	"maps"
	"reflect"

	"github.com/invopop/jsonschema"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// generateBundles makes the schema of the versions bundles, for 'clusterctl-x explain'. It
// is generate, with the types and comments of another directory beside those of types.
func generateBundles(types, bundles string) ([]byte, error) {
	comments, err := readComments(types) // of versions
	if err != nil {
		return nil, err
	}
	own, err := readComments(bundles)
	if err != nil {
		return nil, err
	}
	maps.Copy(comments, own)
	kind := reflect.TypeFor[versionsbundle.Bundles]()
	reflector := jsonschema.Reflector{Anonymous: true, Mapper: textSchema, LookupComment: comments.lookup}
	root := &jsonschema.Schema{
		Version:     jsonschema.Version,
		Title:       "Versions bundles of clusterctl-x",
		Description: "A file with versions of Kubernetes, and what belongs to each.",
		Definitions: reflector.ReflectFromType(kind).Definitions,
		OneOf:       []*jsonschema.Schema{{Ref: reference(kind.Name())}},
	}
	describeHeader(root.Definitions[kind.Name()], kind.Name(), v1alpha1.APIVersion)
	for name, definition := range root.Definitions {
		definition.Title = name
		definition.AdditionalProperties = jsonschema.FalseSchema
	}
	return format(root)
}

// textSchema is the schema of a type that is read from text; its title is the name of the
// type. It is nil for other types.
func textSchema(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[v1alpha1.Minor](), reflect.TypeFor[v1alpha1.Version](), reflect.TypeFor[versionsbundle.Image]():
		return &jsonschema.Schema{Title: t.Name(), Type: "string"}
	}
	return nil
}
