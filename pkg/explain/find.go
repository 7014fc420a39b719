// Package explain looks up the fields of a cluster spec in its JSON Schema: their
// types, descriptions, choices and defaults. It is pure.
package explain

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// index matches what paths in messages have in addition: [0], [key].
var index = regexp.MustCompile(`\[[^\]]*\]`)

// Find returns the field at a path that begins with a kind, in any case, or inside
// of a Cluster or its spec. The error names what there is instead.
func (s *Schema) Find(path string) (Field, error) {
	names := strings.Split(index.ReplaceAllString(path, ""), ".")
	for _, kind := range s.Kinds() {
		if strings.EqualFold(kind.Kind, names[0]) {
			return s.follow(kind, names[1:])
		}
	}
	for _, start := range s.starts() {
		if _, ok := start.field(names[0]); ok {
			return s.follow(start, names)
		}
	}
	return Field{}, s.unknownStart(names[0])
}

// Complete returns the paths by which what was typed up to its last dot may
// continue. Shells compare case, so kinds are offered in lower case too.
func (s *Schema) Complete(typed string) []string {
	dot := strings.LastIndex(typed, ".")
	if dot < 0 {
		names := s.firstNames()
		for _, kind := range s.Kinds() {
			names = append(names, strings.ToLower(kind.Kind))
		}
		return names
	}
	parent, err := s.Find(typed[:dot])
	if err != nil {
		return nil
	}
	names := s.names(parent.node)
	for i, name := range names {
		names[i] = typed[:dot+1] + name
	}
	return names
}

// cluster returns the kind that a path without a kind belongs to.
func (s *Schema) cluster() Field { return s.kind(v1alpha1.ClusterKind) }

func (s *Schema) kind(name string) Field {
	return s.field(name, name, s.resolve(node{"$ref": definitions + name}))
}

// starts returns where a path without a kind may begin. The first that has a name
// is meant.
func (s *Schema) starts() []Field {
	cluster := s.cluster()
	spec, _ := cluster.field("spec")
	return []Field{cluster, spec}
}

// firstNames returns the names that a path may begin with.
func (s *Schema) firstNames() []string {
	var names []string
	for _, kind := range s.Kinds() {
		names = append(names, kind.Kind)
	}
	for _, start := range s.starts() {
		names = append(names, s.names(start.node)...)
	}
	return names
}

func (s *Schema) follow(from Field, names []string) (Field, error) {
	for _, name := range names {
		field, ok := from.field(name)
		if !ok {
			return Field{}, s.unknownField(from, name)
		}
		from = field
	}
	return from, nil
}

func (s *Schema) unknownField(in Field, name string) error {
	names := s.names(in.node)
	if len(names) == 0 {
		return fmt.Errorf("%s has no field %q: no fields are known below it; see 'clusterctl-x explain %s'", in, name, in)
	}
	return fmt.Errorf("%s has no field %q; %sthere are %s", in, name, didYouMean(name, names, s.kind(in.Kind)), strings.Join(names, ", "))
}

func (s *Schema) unknownStart(name string) error {
	names := s.firstNames()
	return fmt.Errorf("%q is no kind, and no field of Cluster or of its spec; %sthere are %s", name, didYouMean(name, names, s.cluster()), strings.Join(names, ", "))
}

// didYouMean returns the part of a sentence that suggests a candidate for a misspelt
// name, or where in a kind there is a field of this name; empty without a suggestion.
func didYouMean(name string, candidates []string, kind Field) string {
	const few = 3
	if best := similar(name, candidates); best != "" {
		return fmt.Sprintf("did you mean %s? ", best)
	}
	elsewhere := called(name, kind)
	if len(elsewhere) == 0 || len(elsewhere) > few {
		return ""
	}
	return fmt.Sprintf("did you mean %s? ", strings.Join(elsewhere, " or "))
}

// similar returns the candidate that begins with the name, which may be much
// shorter, or else the one that is spelt most alike, or nothing.
func similar(name string, candidates []string) string {
	const tooShort = 3
	i := slices.IndexFunc(candidates, func(candidate string) bool {
		return len(name) >= tooShort && strings.HasPrefix(strings.ToLower(candidate), strings.ToLower(name))
	})
	if i >= 0 {
		return candidates[i]
	}
	return strictyaml.Similar(name, candidates)
}

// called returns the paths of all fields of a name below a field.
func called(name string, in Field) []string {
	var paths []string
	for _, field := range in.Fields() {
		if field.Name == name {
			paths = append(paths, field.Path)
		}
		paths = append(paths, called(name, field)...)
	}
	return paths
}
