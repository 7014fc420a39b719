package strictyaml

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Document knows where the fields of a document are in its file.
type Document struct {
	file  string
	lines map[string]int // path -> line; the empty path is the document itself
	// unread has the paths of fields whose values could not be read; the empty path
	// means the rest of the document.
	unread map[string]bool
}

func newDocument(file string) Document {
	return Document{file: file, lines: map[string]int{}, unread: map[string]bool{}}
}

// OmitUnread returns the errors without those about what could not be read, which
// only follow from a problem that was reported before.
func (d Document) OmitUnread(errs field.ErrorList) field.ErrorList {
	return slices.DeleteFunc(slices.Clone(errs), func(err *field.Error) bool { return d.Unread(err.Field) })
}

// Unread reports whether a path, or what contains it, could not be read.
func (d Document) Unread(path string) bool {
	for path != "" && !d.unread[path] {
		path = parentPath(path)
	}
	return d.unread[path]
}

// MarkUnread notes that a path could not be read.
func (d Document) MarkUnread(path string) { d.unread[path] = true }

// Locate returns the errors about the document with their places in the file.
func (d Document) Locate(errs field.ErrorList) Problems {
	problems := make(Problems, len(errs))
	for i, err := range errs {
		problems[i] = NewProblem(d.file, d.Line(err.Field), err)
	}
	return problems
}

// LocateWarnings returns the warnings about the document with their places in the file.
func (d Document) LocateWarnings(warnings []Warning) []Warning {
	located := make([]Warning, len(warnings))
	for i, warning := range warnings {
		warning.File, warning.Line = d.file, d.Line(warning.Path)
		located[i] = warning
	}
	return located
}

// Line returns the line of a path, or of what contains it where the path itself is
// not in the file. The empty path is the document.
func (d Document) Line(path string) int {
	for path != "" {
		if line, ok := d.lines[path]; ok {
			return line
		}
		path = parentPath(path)
	}
	return d.lines[""]
}
