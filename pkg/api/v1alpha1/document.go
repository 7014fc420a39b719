package v1alpha1

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// MaxFileSize is far above any cluster spec; a bigger file is the wrong file. Of
// one no more than this and a byte need be read.
const MaxFileSize = 1 << 20

// Document knows where the fields of a document stand in its file.
type Document struct {
	file  string
	lines map[string]int // path -> line; the empty path is the document itself
	// unread are the paths of fields whose values could not be read; the empty
	// path is the rest of the document.
	unread map[string]bool
}

// locate gives errors about the document their place in the file, but those
// about what could not be read.
func (d Document) locate(errs field.ErrorList) Problems {
	return d.Locate(slices.DeleteFunc(slices.Clone(errs), func(err *field.Error) bool { return d.isUnread(err.Field) }))
}

// isUnread tells whether a path, or what contains it, could not be read.
func (d Document) isUnread(path string) bool {
	for path != "" && !d.unread[path] {
		path = parentPath(path)
	}
	return d.unread[path]
}

// Locate gives errors about the document their place in the file.
func (d Document) Locate(errs field.ErrorList) Problems {
	problems := make(Problems, len(errs))
	for i, err := range errs {
		problems[i] = newProblem(d.file, d.line(err.Field), err)
	}
	return problems
}

// line of a path, or of what contains it where the path itself does not stand
// in the file.
func (d Document) line(path string) int {
	for path != "" {
		if line, ok := d.lines[path]; ok {
			return line
		}
		path = parentPath(path)
	}
	return d.lines[""]
}

// splitDocuments parses a file. Empty documents are dropped. What follows a
// mistake in the syntax cannot be read; what stands before it is returned.
func splitDocuments(file string, data []byte) ([]*yaml.Node, Problems) {
	whole := func(detail string) ([]*yaml.Node, Problems) {
		return nil, Problems{newProblem(file, 0, field.Invalid(nil, nil, detail))}
	}
	if len(data) > MaxFileSize {
		return whole(fmt.Sprintf("the file has more than %d bytes, which none of its kind needs: is this the right file?", MaxFileSize))
	}
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return whole("the file is not text in UTF-8: is this the right file?")
	}
	roots, err := parse(data)
	var problems Problems
	if err != nil {
		problems = append(problems, syntaxProblem(file, data, err))
	}
	var documents []*yaml.Node
	for _, root := range roots {
		switch {
		case isNull(root):
		case root.Kind != yaml.MappingNode:
			problems = append(problems, newProblem(file, root.Line, field.Invalid(nil, nil, "a document must be a mapping with apiVersion and kind: is this the right file?")))
		default:
			documents = append(documents, root)
		}
	}
	if len(documents) == 0 && len(problems) == 0 {
		return whole("the file is empty: is this the right file?")
	}
	return documents, problems
}

// parse returns the roots of all documents before the first mistake.
func parse(data []byte) ([]*yaml.Node, error) {
	var roots []*yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var document yaml.Node
		switch err := decoder.Decode(&document); {
		case errors.Is(err, io.EOF):
			return roots, nil
		case err != nil:
			return roots, err
		}
		roots = append(roots, document.Content[0])
	}
}

var (
	libraryLine = regexp.MustCompile(`^line \d+: `)
	tabIndent   = regexp.MustCompile(`^ *\t`)
)

// syntaxProblem is why a file is not YAML. The library tells the line of some
// mistakes only, and for others the one where the enclosing list or mapping
// begins; so the line is the first one up to which there is this mistake.
func syntaxProblem(file string, data []byte, mistake error) Problem {
	lines := bytes.SplitAfter(data, []byte("\n"))
	line := 1 + sort.Search(len(lines)-1, func(i int) bool {
		_, err := parse(bytes.Join(lines[:i+1], nil))
		return err != nil && err.Error() == mistake.Error()
	})
	text := libraryLine.ReplaceAllString(strings.TrimPrefix(mistake.Error(), "yaml: "), "")
	remedy := "check indentation, quotes and brackets here and above"
	switch {
	case tabIndent.Match(lines[line-1]):
		remedy = "indent with spaces instead of tabs"
	case strings.HasPrefix(text, "unknown anchor"):
		remedy = "write the value out, or put & and the name before it where it stands first"
	case strings.HasPrefix(text, "control characters"):
		remedy = "remove them"
	}
	return newProblem(file, line, field.Invalid(nil, nil, fmt.Sprintf("not valid YAML: %s; %s", text, remedy)))
}

// typeMeta says what a document is.
type typeMeta struct {
	kind, apiVersion string
	kindLine         int
}

// typeOf reads what a document says of itself. What it does not say is empty.
func typeOf(node *yaml.Node) typeMeta {
	var of typeMeta
	if key, value := headerField(node, "kind"); key != nil {
		of.kind, of.kindLine = value.Value, key.Line
	}
	if _, value := headerField(node, "apiVersion"); value != nil {
		of.apiVersion = value.Value
	}
	return of
}

// headerField finds a field of a document that has text.
func headerField(node *yaml.Node, name string) (key, value *yaml.Node) {
	for i := 0; i < len(node.Content); i += 2 {
		if value := resolve(node.Content[i+1]); node.Content[i].Value == name && value.Kind == yaml.ScalarNode && !isNull(value) {
			return node.Content[i], value
		}
	}
	return nil, nil
}

// group of the API that the document is of; empty for Kubernetes' first one.
func (t typeMeta) group() string {
	group, _, found := strings.Cut(t.apiVersion, "/")
	if !found {
		return ""
	}
	return group
}

// checkHeader returns what is wrong with the kind and apiVersion of a document.
func checkHeader(file string, node *yaml.Node, kinds, apiVersions []string) Problems {
	document := Document{file: file, lines: map[string]int{"": node.Line}}
	for _, name := range []string{"kind", "apiVersion"} {
		if key, _ := headerField(node, name); key != nil {
			document.lines[name] = key.Line
		}
	}
	var errs field.ErrorList
	oneOf := func(name, text string, supported []string) {
		switch {
		case text == "":
			errs = append(errs, field.Required(field.NewPath(name), "each document needs one of "+strings.Join(supported, ", ")))
		case slices.Contains(supported, text):
		case name == "kind":
			errs = append(errs, unsupportedKind(text, supported))
		default:
			errs = append(errs, field.NotSupported(field.NewPath(name), text, supported))
		}
	}
	of := typeOf(node)
	oneOf("kind", of.kind, kinds)
	if of.kind == "" || len(errs) == 0 { // the version of an unknown kind says nothing
		oneOf("apiVersion", of.apiVersion, apiVersions)
	}
	return document.Locate(errs)
}
