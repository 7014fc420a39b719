package manifests

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// imagesVariable is the variable of a class for the list of images of a document.
type imagesVariable struct {
	name string
	// fields of an entry, sorted, and whether they are objects.
	fields  []string
	objects map[string]bool
	// list of the document, as JSON.
	list string
}

// readImages makes a variable for the list of images of each document that has one.
func (m *classMaker) readImages() error {
	m.images = map[v1alpha1.Ref]imagesVariable{}
	for _, role := range append([]role{m.ofControlPlane()}, m.workers...) {
		if role.ref == nil {
			continue
		}
		images := m.Provider.ListedImages(m.Documents.Machines[*role.ref])
		if _, done := m.images[*role.ref]; done || len(images) == 0 {
			continue
		}
		variable, err := newImagesVariable(m.Provider, *role.ref)
		if err != nil {
			return err
		}
		for ref, other := range m.images {
			if other.name == variable.name {
				return fmt.Errorf("documents %s and %s would both have the variable %s; rename one of the two", ref.Name, role.ref.Name, variable.name)
			}
		}
		definition, err := variableSchema(m.Provider.ImagesSchema())
		if err != nil {
			return fmt.Errorf("the schema of %s of %s: %w", m.Provider.Spec.Images, role.ref.Kind, err)
		}
		data, err := json.Marshal(images)
		if err != nil {
			return err
		}
		definition.Default, variable.list = &apiextensionsv1.JSON{Raw: data}, string(data)
		m.images[*role.ref] = variable
		m.variables = append(m.variables, clusterv1.ClusterClassVariable{
			Name: variable.name, Required: new(false), Schema: clusterv1.VariableSchema{OpenAPIV3Schema: definition},
		})
	}
	return nil
}

// newImagesVariable returns the variable of a document.
func newImagesVariable(provider providers.Provider, of v1alpha1.Ref) (imagesVariable, error) {
	schema := provider.ImagesSchema()
	if schema.Items == nil || schema.Items.Schema == nil {
		return imagesVariable{}, fmt.Errorf("%s of %s is no list in its schema, and a class needs one", provider.Spec.Images, of.Kind)
	}
	entry := *schema.Items.Schema
	variable := imagesVariable{name: variableName(of.Name, provider.Spec.Images), fields: slices.Sorted(maps.Keys(entry.Properties)), objects: map[string]bool{}}
	for _, name := range variable.fields {
		if !slices.Contains(entry.Required, name) {
			return imagesVariable{}, fmt.Errorf("%s of %s may lack the field %s, which a class cannot leave out of a machine template; no class is generated for provider %s", provider.Spec.Images, of.Kind, name, provider.Name)
		}
		variable.objects[name] = entry.Properties[name].Type == "object"
	}
	return variable, nil
}

// variableName is the name of a variable for a field of a document: largeImages for the
// images of large.
func variableName(document, field string) string {
	var name strings.Builder
	for i, word := range append(strings.FieldsFunc(document, func(r rune) bool { return r == '-' || r == '.' }), field) {
		if i > 0 {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		name.WriteString(word)
	}
	return name.String()
}

// patternsOf are the patterns of formats that only documents have.
func patternsOf(format string) string {
	switch format {
	case v1alpha1.KubernetesVersionFormat:
		return `^v?[0-9]+\.[0-9]+(\.[0-9]+([-+].+)?)?$`
	case v1alpha1.DurationFormat:
		return `^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$`
	}
	return ""
}

// variableSchema returns the schema of a field of a document as that of a variable, which
// has fewer keywords.
func variableSchema(schema apiextensionsv1.JSONSchemaProps) (clusterv1.JSONSchemaProps, error) {
	var variable clusterv1.JSONSchemaProps
	data, err := json.Marshal(schema)
	if err != nil {
		return variable, err
	}
	var keywords map[string]any
	if err := json.Unmarshal(data, &keywords); err != nil {
		return variable, err
	}
	// Cluster API 1.14 cannot compile rules about a list that is the whole of a variable.
	delete(keywords, "x-kubernetes-validations")
	withPatterns(keywords)
	if data, err = json.Marshal(keywords); err != nil {
		return variable, err
	}
	return variable, json.Unmarshal(data, &variable)
}

// withPatterns replaces the formats that only documents have.
func withPatterns(value any) {
	switch value := value.(type) {
	case map[string]any:
		if format, is := value["format"].(string); is && patternsOf(format) != "" {
			delete(value, "format")
			value["pattern"] = patternsOf(format)
		}
		for _, field := range value {
			withPatterns(field)
		}
	case []any:
		for _, item := range value {
			withPatterns(item)
		}
	}
}

// standIns are lists of images whose entry all versions have.
func (m *classMaker) standIns() map[v1alpha1.Ref][]any {
	lists := map[v1alpha1.Ref][]any{}
	for ref := range m.images {
		// Where a list has no entry for a version, the first one stands in. An
		// upgrade adds entries at the end, so that the templates keep their names.
		entry := maps.Clone(m.Provider.ListedImages(m.Documents.Machines[ref])[0].(map[string]any))
		entry[providers.VersionField] = noVersion
		lists[ref] = []any{entry}
	}
	return lists
}

// noVersion is a version that no release has.
const noVersion = "0.0"

// marked is an entry whose fields are recognized where a template puts them.
func (v imagesVariable) marked() map[string]any {
	entry := map[string]any{}
	for _, name := range v.fields {
		entry[name] = marker(name)
		if v.objects[name] {
			entry[name] = map[string]any{marker(name): ""}
		}
	}
	return entry
}

// marker stands for the value of a field of an entry.
func marker(field string) string { return "the-field-" + field + "-of-the-image" }

var markers = regexp.MustCompile(`the-field-(.+?)-of-the-image`)
