package v1alpha1

import (
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/agext/levenshtein"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// asWritten is the name of a field where any name may stand.
func asWritten(name string) string { return name }

// fieldName is the name of the field that a key stands for, or the key.
func (r *reader) fieldName(written string, fields map[string]int) string {
	if _, known := fields[written]; known || !r.anyCase {
		return written
	}
	for name := range fields { // of which no two differ in case only
		if strings.EqualFold(name, written) {
			return name
		}
	}
	return written
}

func (r *reader) unknownField(key, value *yaml.Node, fields map[string]int, at *field.Path) {
	if rule, ok := r.ruleFor(at); ok {
		switch {
		case isNull(resolve(value)): // says nothing
		case rule.idle != nil && rule.idle(value):
		case rule.warning:
			r.warnings = append(r.warnings, Warning{File: r.document.file, Line: key.Line, Path: at.String(), Text: rule.text})
		case rule.ofProvider:
			r.document.unread[at.String()] = true
			r.ofProvider = append(r.ofProvider, newProblem(r.document.file, key.Line, field.Forbidden(at, rule.text)))
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
// distance. Words that two names end with alike say nothing about the rest of
// them.
func Similar(name string, candidates []string) string {
	best, bestScore := "", 0.0
	for _, candidate := range candidates {
		score := similarity(strings.ToLower(name), strings.ToLower(candidate))
		if own, other := unlikeWords(name, candidate); own != "" && other != "" {
			score = min(score, similarity(own, other))
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

func similarity(a, b string) float64 {
	score := levenshtein.Match(a, b, nil)
	if sortedLetters(a) == sortedLetters(b) {
		score = max(score, 0.9)
	}
	// One name is a part of the other one, and more than a letter or two.
	const least = 4
	short, long := a, b
	if len(short) > len(long) {
		short, long = long, short
	}
	if len(short) >= least && !strings.Contains(long, ".") && (strings.HasPrefix(long, short) || strings.HasSuffix(long, short)) {
		score = max(score, 0.7)
	}
	return score
}

// unlikeWords are what is left of two names in camel case without the words that
// both end with, in lower case.
func unlikeWords(a, b string) (string, string) {
	as, bs := words(a), words(b)
	for len(as) > 0 && len(bs) > 0 && as[len(as)-1] == bs[len(bs)-1] {
		as, bs = as[:len(as)-1], bs[:len(bs)-1]
	}
	return strings.Join(as, ""), strings.Join(bs, "")
}

// words of a name in camel case, in lower case.
func words(name string) []string {
	var all []string
	begin := 0
	for i, char := range name {
		if i > begin && unicode.IsUpper(char) {
			all = append(all, strings.ToLower(name[begin:i]))
			begin = i
		}
	}
	return append(all, strings.ToLower(name[begin:]))
}

func sortedLetters(name string) string {
	return string(slices.Sorted(slices.Values([]rune(strings.ToLower(name)))))
}

func sortedNames(fields map[string]int) []string { return slices.Sorted(maps.Keys(fields)) }

// fieldsOf is the function of that name, asked once for each type of a file.
func (r *reader) fieldsOf(t reflect.Type) map[string]int {
	if _, known := r.fields[t]; !known {
		r.fields[t] = fieldsOf(t)
	}
	return r.fields[t]
}

// fieldsOf maps the JSON names of a struct's fields to their indices.
func fieldsOf(t reflect.Type) map[string]int {
	fields := map[string]int{}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		fields[name] = i
	}
	return fields
}
