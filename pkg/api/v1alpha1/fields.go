package v1alpha1

import (
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func (r *reader) unknownField(key, value *yaml.Node, fields map[string]int, at *field.Path) {
	if rule, ok := ruleFor(r.kind, at); ok {
		switch {
		case isNull(resolve(value)): // says nothing
		case rule.warning:
			r.warnings = append(r.warnings, Warning{File: r.document.file, Line: key.Line, Path: at.String(), Text: rule.text})
		default:
			r.problem(key, field.Forbidden(at, rule.text))
		}
		return
	}
	r.problem(key, field.Forbidden(at, "unknown field"+r.remedy(key.Value, fields)))
}

// remedy for a field that is not one of these.
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

// places are the paths of the fields of a name in the document's type, those
// only that lie least deep. Items of lists are written with empty brackets.
func (r *reader) places(name string) []string {
	goType, known := documentKinds()[r.kind]
	if !known || name == "" {
		return nil
	}
	all := placesIn(goType, name, "")
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
	if goType.Kind() != reflect.Struct || reflect.PointerTo(goType).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return nil
	}
	var places []string
	fields := fieldsOf(goType)
	for _, own := range sortedNames(fields) {
		if own == name {
			places = append(places, path+own)
		}
		places = append(places, placesIn(goType.Field(fields[own]).Type, name, path+own+".")...)
	}
	return places
}

// Similar is the candidate that a misspelt name most probably means, or
// nothing. Letters in the wrong order are a small mistake, whatever their
// distance.
func Similar(name string, candidates []string) string {
	best, bestScore := "", 0.0
	for _, candidate := range candidates {
		score := levenshtein.Match(strings.ToLower(name), strings.ToLower(candidate), nil)
		if sortedLetters(name) == sortedLetters(candidate) {
			score = max(score, 0.9)
		}
		if score > bestScore {
			best, bestScore = candidate, score
		}
	}
	const alike = 0.6
	if bestScore < alike {
		return ""
	}
	return best
}

func sortedLetters(name string) string {
	return string(slices.Sorted(slices.Values([]rune(strings.ToLower(name)))))
}

func sortedNames(fields map[string]int) []string { return slices.Sorted(maps.Keys(fields)) }

// fieldsOf maps the JSON names of a struct's fields to their indices.
func fieldsOf(t reflect.Type) map[string]int {
	fields := map[string]int{}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		fields[name] = i
	}
	return fields
}
