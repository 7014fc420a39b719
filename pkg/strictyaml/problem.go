package strictyaml

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Problem is one mistake in a file, with its place and its remedy.
type Problem struct {
	File string // as the user named it
	Line int    // from 1; 0 where the place is not known
	// Err has path, value and remedy. A path is empty where the file as a
	// whole is wrong.
	Err *field.Error
}

// NewProblem returns a problem at a line. An error without a path is about the
// file as a whole.
func NewProblem(file string, line int, err *field.Error) Problem {
	if err.Field == (*field.Path)(nil).String() {
		err.Field = ""
	}
	if text, ok := err.BadValue.(string); ok && len(text) > maxShown {
		err.BadValue = strings.ToValidUTF8(text[:maxShown], "") + "..."
	}
	return Problem{File: file, Line: line, Err: err}
}

// maxShown bounds how much of a value is shown. It is longer than any name.
const maxShown = 300

// leading marks errors that come before others.
const leading = "leading"

// Lead marks an error as one that follows from what the file as a whole is for: it comes
// before others, and once where several fields have it.
func Lead(err *field.Error) *field.Error { return err.WithOrigin(leading) }

func (p Problem) leads() bool { return p.Err.Origin == leading }

// rank is lower for problems that come first.
func (p Problem) rank() int {
	if p.leads() {
		return 0
	}
	return 1
}

// String is one line: file, line, path, rule, remedy.
func (p Problem) String() string {
	place := p.File
	if p.Line > 0 {
		place = fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	if p.Err.Field == "" {
		return place + ": " + p.Err.Detail
	}
	return place + ": " + p.Err.Error()
}

// Warning is about something that is read and not acted on, or that acts in an
// unexpected way.
type Warning struct {
	File string // as the user named it
	Line int    // from 1; 0 where the place is not known
	Path string
	Text string // says what happens instead
}

// String is one line: file, line, path, text.
func (w Warning) String() string {
	if w.Line == 0 {
		return fmt.Sprintf("%s: %s: %s", w.File, w.Path, w.Text)
	}
	return fmt.Sprintf("%s:%d: %s: %s", w.File, w.Line, w.Path, w.Text)
}

// Problems are all the mistakes of a run. As an error they read one per line.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// Sort orders problems by file, line, path and text, leading ones first.
func (p Problems) Sort() {
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(
			strings.Compare(a.File, b.File),
			cmp.Compare(a.rank(), b.rank()),
			cmp.Compare(a.Line, b.Line),
			strings.Compare(a.Err.Field, b.Err.Field),
			strings.Compare(a.Err.Detail, b.Err.Detail),
		)
	})
}

// merged returns sorted problems with leading ones of the same text as one, which names the
// lines of the others.
func (p Problems) merged() Problems {
	var merged Problems
	lines := map[int][]string{}
	for _, problem := range p {
		i := -1
		if problem.leads() { // and so do all before it
			i = slices.IndexFunc(merged, func(other Problem) bool { return other.Err.Detail == problem.Err.Detail })
		}
		if i < 0 {
			merged = append(merged, problem)
			continue
		}
		lines[i] = append(lines[i], strconv.Itoa(problem.Line))
	}
	for i, others := range lines {
		err := *merged[i].Err
		err.Detail += " (also on line " + strings.Join(others, ", ") + ")"
		merged[i].Err = &err
	}
	return merged
}

// maxProblems bounds the reported problems of a file.
const maxProblems = 1000

// OrNil returns the problems as an error, sorted, or nil where there are none. Of
// too many it returns the first.
func (p Problems) OrNil() error {
	if len(p) == 0 {
		return nil
	}
	p.Sort()
	p = p.merged()
	if len(p) <= maxProblems {
		return p
	}
	return append(p[:maxProblems:maxProblems], NewProblem(p[0].File, 0, field.Invalid(nil, nil, fmt.Sprintf("there are more than these %d mistakes; fix the first ones and run the command again", maxProblems))))
}
