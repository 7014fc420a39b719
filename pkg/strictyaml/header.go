package strictyaml

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Header says what a document is. A field that the document does not have is empty.
type Header struct {
	Kind, APIVersion string
	KindLine         int
	// Name in its metadata.
	Name string
}

// HeaderOf returns the header of a document.
func HeaderOf(document *yaml.Node) Header {
	var h Header
	if key, value := headerField(document, "kind"); key != nil {
		h.Kind, h.KindLine = value.Value, key.Line
	}
	if _, value := headerField(document, "apiVersion"); value != nil {
		h.APIVersion = value.Value
	}
	for i := 0; i < len(document.Content); i += 2 {
		if metadata := resolve(document.Content[i+1]); document.Content[i].Value == "metadata" && metadata.Kind == yaml.MappingNode {
			if _, value := headerField(metadata, "name"); value != nil {
				h.Name = value.Value
			}
		}
	}
	return h
}

// headerField returns a field of a document that has text.
func headerField(node *yaml.Node, name string) (key, value *yaml.Node) {
	for i := 0; i < len(node.Content); i += 2 {
		if value := resolve(node.Content[i+1]); node.Content[i].Value == name && value.Kind == yaml.ScalarNode && !isNull(value) {
			return node.Content[i], value
		}
	}
	return nil, nil
}

// Group returns the group of the API that the document belongs to; empty for
// Kubernetes' first one.
func (h Header) Group() string {
	group, _, found := strings.Cut(h.APIVersion, "/")
	if !found {
		return ""
	}
	return group
}

// Supported says which documents a file may have.
type Supported struct {
	Kinds       []string
	APIVersions []string
	// Remedies maps kinds that are known and not supported to what to do about them.
	Remedies map[string]string
}

// CheckHeader returns the problems with the kind and apiVersion of a document.
func CheckHeader(file string, node *yaml.Node, supported Supported) Problems {
	document := newDocument(file)
	document.lines[""] = node.Line
	for _, name := range []string{"kind", "apiVersion"} {
		if key, _ := headerField(node, name); key != nil {
			document.lines[name] = key.Line
		}
	}
	h := HeaderOf(node)
	errs := oneOf("kind", h.Kind, supported.Kinds)
	if remedy, known := supported.Remedies[h.Kind]; known && len(errs) > 0 {
		errs = field.ErrorList{field.Invalid(field.NewPath("kind"), h.Kind, remedy)}
	}
	if h.Kind == "" || len(errs) == 0 { // the version of an unknown kind says nothing
		errs = append(errs, oneOf("apiVersion", h.APIVersion, supported.APIVersions)...)
	}
	return document.Locate(errs)
}

func oneOf(name, text string, supported []string) field.ErrorList {
	path := field.NewPath(name)
	switch {
	case text == "":
		return field.ErrorList{field.Required(path, "each document needs one of "+strings.Join(supported, ", "))}
	case !slices.Contains(supported, text):
		return field.ErrorList{field.NotSupported(path, text, supported)}
	}
	return nil
}
