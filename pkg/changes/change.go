// Package changes computes the differences between two states of an object, and which
// of them make Cluster API replace machines. It is pure.
package changes

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Change is a difference between what there is and what there is to be, in one field or
// in whether an object exists.
type Change struct {
	// Object is Kind/name.
	Object string `json:"object"`
	// Template is the kind of the template, among those that the object refers to, that
	// has the field; empty for a field of the object itself. Templates are replaced and
	// never changed, so that their names say nothing.
	Template string `json:"template,omitempty"`
	// Path of the field, with dots, from the root of the object or of the template; empty
	// for the object as a whole.
	Path   string `json:"path,omitempty"`
	Action Action `json:"action"`
	// Old and New are the values of the field; empty where it has none, or where they are
	// sensitive.
	Old Value `json:"old,omitempty"`
	New Value `json:"new,omitempty"`
	// Sensitive is true for a field of a Secret, whose values are left out.
	Sensitive bool `json:"sensitive,omitempty"`
	// ReplacesMachines is true where Cluster API replaces machines for the change.
	ReplacesMachines bool `json:"replacesMachines,omitempty"`
}

// Action says what becomes of a field or an object.
type Action string

// Actions.
const (
	Added   Action = "Added"
	Changed Action = "Changed"
	Removed Action = "Removed"
	// Restored is the action on a template that is missing although an object refers to
	// it: it is created again.
	Restored Action = "Restored"
)

// ObjectName returns the name of an object in messages: Kind/name.
func ObjectName(object *unstructured.Unstructured) string {
	return object.GetKind() + "/" + object.GetName()
}

// Kind returns the kind of the object.
func (c Change) Kind() string {
	kind, _, _ := strings.Cut(c.Object, "/")
	return kind
}

// Creates reports whether the object is created that was not there.
func (c Change) Creates() bool { return c.Action == Added && c.Path == "" }

// Reversed returns the change from what there is to be to what there is.
func (c Change) Reversed() Change {
	c.Old, c.New = c.New, c.Old
	switch c.Action {
	case Added:
		c.Action = Removed
	case Removed:
		c.Action = Added
	case Changed, Restored:
	}
	return c
}

// String returns the change in one line. Long values are cut.
func (c Change) String() string {
	name := strings.Join(slices.DeleteFunc([]string{c.Object, c.Template, c.Path}, func(s string) bool { return s == "" }), " ")
	if c.Action == Restored || c.Path == "" {
		return name + " (" + c.Effect() + ")"
	}
	return name + ": " + c.Effect()
}

// Effect returns what becomes of the object or of the value of the field, without its name.
func (c Change) Effect() string {
	switch {
	case c.Action == Restored:
		return "created again: it is missing, so that no new machine can be made"
	case c.Creates():
		return "created"
	case c.Path == "":
		return "deleted"
	}
	return c.values()
}

// values returns what becomes of the value of a field.
func (c Change) values() string {
	before, after := c.Old.String(), c.New.String()
	if before == after {
		before, after = string(c.Old), string(c.New) // as "1" and 1
	}
	before, after = shorten(before, after)
	if c.Sensitive {
		before, after = sensitive, sensitive
	}
	switch {
	case c.Action == Added:
		return after + " (added)"
	case c.Action == Removed:
		return before + " (removed)"
	case c.Sensitive:
		return sensitive
	}
	return before + " -> " + after
}

const (
	sensitive = "(sensitive value)"
	// longest text of a value, and how much of it stands before the first difference.
	longest, context = 80, 20
)

// shorten cuts two values of a field that are too long for a line. What they begin with
// alike is left out, but for a little of it.
func shorten(before, after string) (string, string) {
	a, b := []rune(before), []rune(after)
	if len(a) <= longest && len(b) <= longest {
		return before, after
	}
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	from := max(0, same-context)
	return cut(a, from), cut(b, from)
}

// cut returns a part of a text that begins at from, with an ellipsis for what is left out.
func cut(text []rune, from int) string {
	const ellipsis = string('…')
	part := string(text[from:min(len(text), from+longest)])
	if from > 0 {
		part = ellipsis + part
	}
	if from+longest < len(text) {
		part += ellipsis
	}
	return part
}
