package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// MaxFileSize is far above what any file needs that people write: a bigger file is
// the wrong file. Reading one byte more of a file is enough to refuse it.
const MaxFileSize = 1 << 20

// Split parses a file into the roots of its documents, which are mappings. Empty
// documents are dropped. The documents before a mistake in the syntax are returned;
// what follows it cannot be read.
func Split(file string, data []byte) ([]*yaml.Node, Problems) {
	whole := func(detail string) ([]*yaml.Node, Problems) {
		return nil, Problems{NewProblem(file, 0, field.Invalid(nil, nil, detail))}
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
			problems = append(problems, NewProblem(file, root.Line, field.Invalid(nil, nil, "a document must be a mapping with apiVersion and kind: is this the right file?")))
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

// syntaxProblem returns why a file is not YAML. The library reports the line of only
// some mistakes, and for others the line where the enclosing list or mapping begins; so
// the line is the first one up to which there is this mistake.
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
		remedy = "write the value out, or put & and the name before its first use"
	case strings.HasPrefix(text, "control characters"):
		remedy = "remove them"
	}
	return NewProblem(file, line, field.Invalid(nil, nil, fmt.Sprintf("not valid YAML: %s; %s", text, remedy)))
}
