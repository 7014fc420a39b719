// Package strictyaml reads YAML documents into Go values and finds everything that
// is wrong with them: fields that are unknown, misspelt or there twice, values of
// the wrong type, documents too many. Each problem has its line, its path and a
// remedy. Values are read from the characters in the file, so that a version 1.30
// without quotes is not the number 1.3.
package strictyaml

import (
	"fmt"
	"reflect"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Options of reading a document.
type Options struct {
	// FoldCase, where it is not empty, accepts names of fields in any case, with a
	// warning that gives this reason.
	FoldCase string
	// Rule decides about fields that the Go type does not have; nil refuses them.
	Rule Rule
}

// Result has the findings of Read about a document other than its values.
type Result struct {
	Document Document
	Problems Problems
	Warnings []Warning
	// SetAside has the problems with fields on which the rule's verdict was SetAside.
	SetAside Problems
}

// Read reads a document into a pointer to a struct, whose JSON names the fields
// have. What cannot be read stays zero.
func Read(file string, document *yaml.Node, into any, options Options) Result {
	pointer := reflect.ValueOf(into)
	r := reader{options: options, root: pointer.Type().Elem(), document: newDocument(file), fields: map[reflect.Type]map[string]int{}}
	r.value(document, document, pointer.Elem(), nil)
	for _, path := range r.misplaced {
		if _, there := r.document.lines[path]; !there {
			r.document.unread[path] = true
		}
	}
	return Result{Document: r.document, Problems: r.problems, Warnings: r.warnings, SetAside: r.setAside}
}

// Decode reads the one document of a file, which is of a kind and apiVersion, into a
// pointer to a struct. The error is of type Problems.
func Decode(file string, data []byte, kind, apiVersion string, into any) (Document, error) {
	documents, problems := Split(file, data)
	if len(problems) == 0 && len(documents) != 1 {
		problems = Problems{NewProblem(file, documents[1].Line, field.Invalid(nil, nil, fmt.Sprintf("the file must hold one document, of kind %s; remove the others", kind)))}
	}
	if len(problems) == 0 {
		problems = CheckHeader(file, documents[0], Supported{Kinds: []string{kind}, APIVersions: []string{apiVersion}})
	}
	if len(problems) > 0 {
		return Document{}, problems.OrNil()
	}
	result := Read(file, documents[0], into, Options{})
	return result.Document, result.Problems.OrNil()
}
