package clusterclass

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// File is a ClusterClass with templates, as a file has them.
type File struct {
	Class     *unstructured.Unstructured
	Templates []*unstructured.Unstructured
	name      string
	// documents are the documents of the objects, by Kind/name.
	documents map[string]*yaml.Node
}

// Decode reads the content of a file, which people know by its name.
func Decode(name string, data []byte) (File, error) {
	f := File{name: name, documents: map[string]*yaml.Node{}}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		switch {
		case errors.Is(err, io.EOF):
			return f, f.checkWhole()
		case err != nil:
			text, line := strings.TrimPrefix(err.Error(), "yaml: "), 0
			if number, rest, found := strings.Cut(strings.TrimPrefix(text, "line "), ": "); found {
				if line, err = strconv.Atoi(number); err == nil {
					text = rest
				}
			}
			return f, f.wrong(line, "not valid YAML: "+text+"; check indentation, quotes and brackets here and above")
		}
		if err := f.add(document.Content[0]); err != nil {
			return f, err
		}
	}
}

// wrong is a mistake of the file at a line.
func (f *File) wrong(line int, detail string) error {
	return strictyaml.Problems{{File: f.name, Line: line, Err: &field.Error{Type: field.ErrorTypeInvalid, Detail: detail}}}
}

// add takes one document in.
func (f *File) add(root *yaml.Node) error {
	problem := func(detail string) error {
		return f.wrong(root.Line, detail)
	}
	if root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" {
		return nil // nothing but comments
	}
	if root.Kind != yaml.MappingNode {
		return problem("a document must be a mapping with apiVersion and kind: is this the right file?")
	}
	text, err := yaml.Marshal(root)
	if err != nil {
		return problem(err.Error())
	}
	object := &unstructured.Unstructured{}
	if err := sigsyaml.Unmarshal(text, &object.Object); err != nil { // as kubectl reads it
		return problem(fmt.Sprintf("not valid YAML: %v; check the values here and below", err))
	}
	class := object.GetKind() == "ClusterClass"
	switch {
	case class && f.Class != nil:
		return problem(fmt.Sprintf("ClusterClass %s is the second one in this file; put each into a file of its own, with its templates", object.GetName()))
	case !class && !changes.IsTemplate(object.GetKind()):
		remedy := "leave it out: the file may have one ClusterClass and templates"
		if object.GetAPIVersion() == v1alpha1.APIVersion && object.GetKind() == v1alpha1.ClusterKind {
			remedy = "'clusterctl-x plan upgrade' takes a cluster spec; this command takes a file with one ClusterClass and its templates"
		}
		return problem(fmt.Sprintf("%s is not part of a ClusterClass; %s", strings.TrimSpace(cmp.Or(object.GetKind(), "a document without a kind")+" "+object.GetName()), remedy))
	case object.GetName() == "":
		return problem(object.GetKind() + " has no name; give it one, as metadata.name")
	case class:
		f.Class = object
	default:
		f.Templates = append(f.Templates, object)
	}
	f.documents[changes.ObjectName(object)] = root
	return nil
}

// checkWhole checks what the file alone says.
func (f *File) checkWhole() error {
	if f.Class == nil {
		return f.wrong(0, fmt.Sprintf("the file has no ClusterClass (apiVersion %s); 'clusterctl-x generate clusterclass' writes one, with its templates", clusterv1.GroupVersion))
	}
	versions, _, err := unstructured.NestedStringSlice(f.Class.Object, "spec", "kubernetesVersions")
	if err != nil {
		return nil //nolint:nilerr // the API server has the words for it
	}
	return f.Locate(validations.ClassVersions(versions)).OrNil()
}

// Locate gives errors about the ClusterClass their lines.
func (f *File) Locate(errs field.ErrorList) strictyaml.Problems {
	return f.locate(changes.ObjectName(f.Class), errs)
}

// locate gives errors about an object of the file their lines.
func (f *File) locate(object string, errs field.ErrorList) strictyaml.Problems {
	problems := make(strictyaml.Problems, len(errs))
	for i, err := range errs {
		problems[i] = strictyaml.Problem{File: f.name, Line: lineOf(f.documents[object], err.Field), Err: err}
	}
	return problems
}

// Refused locates in the file what a management cluster has against its objects. Other
// errors are returned as they are.
func (f *File) Refused(err error) error {
	var refused *management.ClassError
	if !errors.As(err, &refused) {
		return err
	}
	var problems strictyaml.Problems
	for _, reason := range refused.Reasons {
		cause := validations.OfCause(reason.Cause)
		if cause.Field == "" {
			cause.Detail = reason.Object + ": " + cause.Detail
		}
		problems = append(problems, f.locate(reason.Object, field.ErrorList{cause})...)
	}
	problems.Sort()
	return validations.Refused{Problems: problems}
}

// Missing locates where the class names a template that is nowhere. Other errors are
// returned as they are.
func (f *File) Missing(err error) error {
	var missing *topology.MissingError
	if !errors.As(err, &missing) {
		return err
	}
	kind, name, _ := strings.Cut(missing.Template, "/")
	var errs field.ErrorList
	for _, path := range referencesTo(f.Class.Object["spec"], kind, name, field.NewPath("spec")) {
		errs = append(errs, field.NotFound(path, missing.Template))
		errs[len(errs)-1].Detail = "neither this file nor the management cluster has this template; add it to the file, or name another one"
	}
	return validations.Refused{Problems: f.Locate(errs)}
}

// referencesTo returns the paths that name a template.
func referencesTo(value any, kind, name string, path *field.Path) []*field.Path {
	var paths []*field.Path
	switch value := value.(type) {
	case map[string]any:
		if value["kind"] == kind && value["name"] == name {
			return []*field.Path{path}
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			paths = append(paths, referencesTo(value[key], kind, name, path.Child(key))...)
		}
	case []any:
		for i, item := range value {
			paths = append(paths, referencesTo(item, kind, name, path.Index(i))...)
		}
	}
	return paths
}

// lineOf is the line of a path in a document, or of what contains it.
func lineOf(node *yaml.Node, path string) int {
	if node == nil {
		return 0
	}
	line := node.Line
	for _, name := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		key, value := entry(node, name)
		if value == nil {
			return line
		}
		line, node = key.Line, value
	}
	return line
}

// entry of a mapping or a list; those of lists may be named by their names too.
func entry(node *yaml.Node, name string) (key, value *yaml.Node) {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == name {
				return node.Content[i], node.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(node.Content) {
			return node.Content[i], node.Content[i]
		}
		i := slices.IndexFunc(node.Content, func(item *yaml.Node) bool {
			_, own := entry(item, "name")
			_, class := entry(item, "class")
			return own != nil && own.Value == name || class != nil && class.Value == name
		})
		if i >= 0 {
			return node.Content[i], node.Content[i]
		}
	}
	return nil, nil
}
