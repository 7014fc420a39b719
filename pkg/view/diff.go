package view

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
)

// Diff writes changes as a diff: below each object a line for each value that a field
// has, and one for each that it gets. All values are written whole.
func (s Style) Diff(w io.Writer, all []changes.Change) error {
	var b strings.Builder
	object := ""
	for _, change := range slices.SortedStableFunc(slices.Values(all), func(a, b changes.Change) int { return strings.Compare(a.Object, b.Object) }) {
		if change.Object != object {
			object = change.Object
			fmt.Fprintf(&b, "%s\n", object)
		}
		what := strings.TrimSpace(change.Template + " " + change.Path)
		if what == "" {
			what = "(the whole object)"
		}
		if change.Action == changes.Removed || change.Action == changes.Changed {
			fmt.Fprintln(&b, s.colored(red, "- "+what+valueIn(change, change.Old)))
		}
		if change.Action != changes.Removed {
			fmt.Fprintln(&b, s.colored(green, "+ "+what+valueIn(change, change.New)))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// valueIn returns how the value of a field follows its path; an object has none.
func valueIn(change changes.Change, value changes.Value) string {
	switch {
	case change.Path == "":
		return ""
	case change.Sensitive:
		return ": (sensitive value)"
	default:
		return ": " + value.String()
	}
}

func (s Style) colored(color, text string) string {
	if !s.Color {
		return text
	}
	return color + text + reset
}
