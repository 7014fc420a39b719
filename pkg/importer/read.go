package importer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// VariablesError lists the variables of a template that nothing has replaced.
type VariablesError struct {
	File string
	// Names of the variables, sorted.
	Names []string
}

// Error is a complete sentence.
func (e *VariablesError) Error() string {
	return fmt.Sprintf("%s: is a template whose variables have no values: %s; 'clusterctl generate yaml --from FILE' replaces them by variables of the environment, and 'clusterctl generate cluster' does it for a template of a provider",
		e.File, strings.Join(e.Names, ", "))
}

// ParseError says why the text of a file is no manifest.
type ParseError struct {
	File string
	Err  error
}

// Error is a complete sentence.
func (e *ParseError) Error() string {
	return fmt.Sprintf("%s: is no manifest of objects: %v; correct it", e.File, e.Err)
}

// Unwrap returns the cause.
func (e *ParseError) Unwrap() error { return e.Err }

var variable = regexp.MustCompile(`\$\{\s*([A-Za-z_][A-Za-z0-9_]*)[^}]*\}`)

// Parse reads the objects of a file, which messages call by a name: documents of YAML or JSON,
// and the items of lists.
func Parse(file string, data []byte) ([]*unstructured.Unstructured, error) {
	data = bytes.ReplaceAll(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	objects, err := parse(data)
	if names := unset(objects, err, data); len(names) > 0 {
		return nil, &VariablesError{File: file, Names: names}
	}
	if err == nil && len(objects) == 0 {
		err = errors.New("it has no object")
	}
	if err != nil {
		return nil, &ParseError{File: file, Err: err}
	}
	return objects, nil
}

func parse(data []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for number := 1; ; number++ {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return objects, err
		}
		content := map[string]any{}
		if err := yaml.UnmarshalStrict(document, &content); err != nil {
			return objects, fmt.Errorf("document %d: %w", number, err)
		}
		if len(content) == 0 {
			continue
		}
		of, err := objectsOf(document)
		if err != nil {
			return objects, fmt.Errorf("document %d: %w", number, err)
		}
		objects = append(objects, of...)
	}
}

// objectsOf returns the object of a document, or the items of a list.
func objectsOf(document []byte) ([]*unstructured.Unstructured, error) {
	data, err := yaml.YAMLToJSON(document)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(data); err != nil {
		return nil, err
	}
	withoutNulls(object.Object)
	if !object.IsList() {
		return []*unstructured.Unstructured{object}, nil
	}
	var items []*unstructured.Unstructured
	err = object.EachListItem(func(item runtime.Object) error {
		items = append(items, item.(*unstructured.Unstructured))
		return nil
	})
	return items, err
}

// withoutNulls removes the fields that have no value: the API server does, too.
func withoutNulls(of any) {
	switch of := of.(type) {
	case map[string]any:
		for name, value := range of {
			if value == nil {
				delete(of, name)
			}
			withoutNulls(value)
		}
	case []any:
		for _, item := range of {
			withoutNulls(item)
		}
	}
}

// unset are the variables that nothing has replaced. Programs on machines have variables of
// their own: only where a field that is none of theirs has one, the text is a template.
func unset(objects []*unstructured.Unstructured, broken error, data []byte) []string {
	isTemplate := broken != nil
	for _, object := range objects {
		isTemplate = isTemplate || hasVariable("", object.Object)
	}
	if !isTemplate {
		return nil
	}
	var names []string
	for _, match := range variable.FindAllSubmatch(withoutComments(data), -1) {
		if name := string(match[1]); strings.ToUpper(name) == name {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func withoutComments(data []byte) []byte {
	var kept [][]byte
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("#")) {
			kept = append(kept, line)
		}
	}
	return bytes.Join(kept, []byte("\n"))
}

// programs are the fields whose text machines run, or read.
func programs() []string {
	return []string{"content", "data", "stringData", "binaryData", "bootCommands", "preKubeadmCommands", "postKubeadmCommands", "additionalConfig", "nodeRegistration"}
}

func hasVariable(name string, value any) bool {
	if slices.Contains(programs(), name) {
		return false
	}
	switch value := value.(type) {
	case map[string]any:
		for key, of := range value {
			if variable.MatchString(key) || hasVariable(key, of) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, func(of any) bool { return hasVariable(name, of) })
	case string:
		return variable.MatchString(value)
	}
	return false
}
