package strictyaml

import (
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Verdict says how a field is handled that the Go type does not have.
type Verdict string

// Verdicts on a field that the Go type does not have.
const (
	Unknown  Verdict = "unknown"   // is a problem, with a suggestion of what is meant
	Ignore   Verdict = "ignore"    // is accepted
	Warn     Verdict = "warn"      // is a warning, with the text of the rule
	Forbid   Verdict = "forbid"    // is a problem, with the text of the rule
	SetAside Verdict = "set aside" // is a problem that Read returns apart from the others
)

// Rule decides about a field that the Go type does not have, which is at a path and
// has a value other than null. The text says what to do.
type Rule func(at *field.Path, value *yaml.Node) (verdict Verdict, text string)

func (r *reader) unknownField(key, value *yaml.Node, fields map[string]int, at *field.Path) {
	verdict, text := Unknown, ""
	if r.options.Rule != nil {
		verdict, text = r.options.Rule(at, value)
	}
	null := isNull(resolve(value))
	switch {
	case verdict == Unknown:
		r.problem(key, field.Forbidden(at, "unknown field"+r.remedy(key.Value, fields)))
	case verdict == Ignore, null: // says nothing
	case verdict == Warn:
		r.warnings = append(r.warnings, Warning{File: r.document.file, Line: key.Line, Path: at.String(), Text: text})
	case verdict == SetAside:
		r.document.unread[at.String()] = true
		r.setAside = append(r.setAside, NewProblem(r.document.file, key.Line, field.Forbidden(at, text)))
	default:
		r.problem(key, field.Forbidden(at, text))
	}
}

// remedy returns what to do about a field that is not one of these.
func (r *reader) remedy(name string, fields map[string]int) string {
	if len(r.problems) > maxProblems {
		return "" // is not going to be read, and takes time
	}
	elsewhere := r.places(name)
	switch similar := Similar(name, sortedNames(fields)); {
	case len(elsewhere) == 1:
		r.misplaced = append(r.misplaced, elsewhere[0])
		return fmt.Sprintf(" here; did you mean %s?", elsewhere[0])
	case similar != "":
		return fmt.Sprintf("; did you mean %s?", similar)
	case len(elsewhere) > 1:
		return " here; there are " + strings.Join(elsewhere, ", ")
	case len(fields) == 0:
		return "; there are none here: remove it"
	}
	return "; there are " + strings.Join(sortedNames(fields), ", ")
}

// places returns the paths of the fields of a name in the document's type, only
// those that are least deep. Items of lists are written with empty brackets.
func (r *reader) places(name string) []string {
	if name == "" {
		return nil
	}
	all := placesIn(r.root, name, "")
	depth := func(path string) int { return strings.Count(path, ".") }
	least := 0
	for i, path := range all {
		if i == 0 || depth(path) < least {
			least = depth(path)
		}
	}
	return slices.DeleteFunc(all, func(path string) bool { return depth(path) > least })
}

func placesIn(goType reflect.Type, name, path string) []string {
	for goType.Kind() == reflect.Pointer || goType.Kind() == reflect.Slice {
		if goType.Kind() == reflect.Slice {
			path = strings.TrimSuffix(path, ".") + "[]."
		}
		goType = goType.Elem()
	}
	if goType.Kind() != reflect.Struct || goType == reflect.TypeFor[Described]() || reflect.PointerTo(goType).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return nil
	}
	var places []string
	fields := FieldsOf(goType)
	for _, own := range sortedNames(fields) {
		if own == name {
			places = append(places, path+own)
		}
		places = append(places, placesIn(goType.Field(fields[own]).Type, name, path+own+".")...)
	}
	return places
}

func sortedNames(fields map[string]int) []string { return slices.Sorted(maps.Keys(fields)) }

// FieldsOf maps the names that the fields of a struct have in a file, which are
// their JSON names, to their indices.
func FieldsOf(t reflect.Type) map[string]int {
	fields := map[string]int{}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		fields[name] = i
	}
	return fields
}
