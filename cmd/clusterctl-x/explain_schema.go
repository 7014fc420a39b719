package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// definitions is what references to definitions begin with.
const definitions = "#/$defs/"

// schemaNode is a part of a JSON Schema. A keyword that is not there, or not
// of the form that hack/schema writes, is the zero value.
type schemaNode map[string]any

func (n schemaNode) text(keyword string) string {
	text, _ := n[keyword].(string)
	return text
}

func (n schemaNode) node(keyword string) schemaNode {
	node, _ := n[keyword].(map[string]any)
	return node
}

func (n schemaNode) list(keyword string) []any {
	list, _ := n[keyword].([]any)
	return list
}

func (n schemaNode) title() string       { return n.text("title") }
func (n schemaNode) description() string { return n.text("description") }

// ignored tells whether the field is read and not acted on.
func (n schemaNode) ignored() bool {
	deprecated, _ := n["deprecated"].(bool)
	return deprecated
}

func (n schemaNode) requires(field string) bool {
	return slices.Contains(n.list("required"), any(field))
}

// specSchema is the schema of the documents of a cluster spec.
type specSchema struct{ root schemaNode }

func parseSpecSchema(data []byte) (*specSchema, error) {
	var s specSchema
	if err := json.Unmarshal(data, &s.root); err != nil {
		return nil, fmt.Errorf("reading the schema of clusterctl-x: %w", err)
	}
	return &s, nil
}

// resolve follows a reference. What stands beside it says more of this place.
func (s *specSchema) resolve(n schemaNode) schemaNode {
	name, refers := strings.CutPrefix(n.text("$ref"), definitions)
	if !refers {
		return n
	}
	resolved := schemaNode{}
	maps.Copy(resolved, s.root.node("$defs").node(name))
	maps.Copy(resolved, n)
	delete(resolved, "$ref")
	return resolved
}

// expand follows all references, so that the node stands for itself.
func (s *specSchema) expand(n schemaNode) schemaNode {
	expanded := schemaNode{}
	for keyword, value := range s.resolve(n) {
		switch value := value.(type) {
		case map[string]any: // a schema, or, in properties, a map of schemas
			expanded[keyword] = map[string]any(s.expand(value))
		default:
			expanded[keyword] = value
		}
	}
	return expanded
}

func (s *specSchema) kinds() []schemaNode {
	var kinds []schemaNode
	for _, kind := range s.root.list("oneOf") {
		if node, ok := kind.(map[string]any); ok {
			kinds = append(kinds, s.resolve(node))
		}
	}
	return kinds
}

// inside is the node that has the fields: of a list or a map that of its values.
func (s *specSchema) inside(n schemaNode) schemaNode {
	for _, keyword := range []string{"items", "additionalProperties"} {
		if values := n.node(keyword); values != nil {
			return s.inside(s.resolve(values))
		}
	}
	return n
}

// fields are the names of the fields of a node, but those that are ignored.
func (s *specSchema) fields(n schemaNode) []string {
	properties := s.inside(n).node("properties")
	names := slices.Sorted(maps.Keys(properties))
	return slices.DeleteFunc(names, func(name string) bool { return properties.node(name).ignored() })
}

func (s *specSchema) field(n schemaNode, name string) (schemaNode, bool) {
	field := s.inside(n).node("properties").node(name)
	return s.resolve(field), field != nil
}

// fieldPlace is a node with the way to it.
type fieldPlace struct {
	kind, path string // the path is empty for the kind itself
	node       schemaNode
}

func (p fieldPlace) String() string { return strings.TrimSuffix(p.kind+"."+p.path, ".") }

func (p fieldPlace) child(name string, node schemaNode) fieldPlace {
	return fieldPlace{kind: p.kind, path: strings.TrimPrefix(p.path+"."+name, "."), node: node}
}

// pathIndex is what the paths in messages have in addition: [0], [key].
var pathIndex = regexp.MustCompile(`\[[^\]]*\]`)

// find finds a path that begins with a kind, in any case, or inside of a
// Cluster or its spec.
func (s *specSchema) find(path string) (fieldPlace, error) {
	names := strings.Split(pathIndex.ReplaceAllString(path, ""), ".")
	for _, kind := range s.kinds() {
		if strings.EqualFold(kind.title(), names[0]) {
			return s.follow(fieldPlace{kind: kind.title(), node: kind}, names[1:])
		}
	}
	for _, start := range s.starts() {
		if _, ok := s.field(start.node, names[0]); ok {
			return s.follow(start, names)
		}
	}
	return fieldPlace{}, s.unknownStart(names[0])
}

// cluster is the place of the kind that a path without a kind is of.
func (s *specSchema) cluster() fieldPlace {
	node := s.resolve(schemaNode{"$ref": definitions + v1alpha1.ClusterKind})
	return fieldPlace{kind: v1alpha1.ClusterKind, node: node}
}

// starts are the places that a path without a kind may begin in. A name that
// both had would mean the first.
func (s *specSchema) starts() []fieldPlace {
	cluster := s.cluster()
	spec, _ := s.field(cluster.node, "spec")
	return []fieldPlace{cluster, cluster.child("spec", spec)}
}

// firstNames are what a path may begin with.
func (s *specSchema) firstNames() []string {
	var names []string
	for _, kind := range s.kinds() {
		names = append(names, kind.title())
	}
	for _, start := range s.starts() {
		names = append(names, s.fields(start.node)...)
	}
	return names
}

func (s *specSchema) follow(from fieldPlace, names []string) (fieldPlace, error) {
	for _, name := range names {
		node, ok := s.field(from.node, name)
		if !ok {
			return fieldPlace{}, s.unknownField(from, name)
		}
		from = from.child(name, node)
	}
	return from, nil
}

func (s *specSchema) unknownField(in fieldPlace, name string) error {
	fields := s.fields(in.node)
	if len(fields) == 0 {
		return fmt.Errorf("%s has no field %q: no fields are known below it; see 'clusterctl-x explain %s'", in, name, in)
	}
	return fmt.Errorf("%s has no field %q; %sthere are %s", in, name, s.didYouMean(name, fields), strings.Join(fields, ", "))
}

func (s *specSchema) unknownStart(name string) error {
	names := s.firstNames()
	return fmt.Errorf("%q is no kind, and no field of Cluster or of its spec; %sthere are %s", name, s.didYouMean(name, names), strings.Join(names, ", "))
}

// didYouMean is a part of a sentence: which of the candidates a misspelt name
// most probably means, else where in a Cluster there is a field of this name,
// or nothing.
func (s *specSchema) didYouMean(name string, candidates []string) string {
	const few = 3
	if best := similar(name, candidates); best != "" {
		return fmt.Sprintf("did you mean %s? ", best)
	}
	elsewhere := s.called(name, s.cluster())
	if len(elsewhere) == 0 || len(elsewhere) > few {
		return ""
	}
	return fmt.Sprintf("did you mean %s? ", strings.Join(elsewhere, " or "))
}

// similar is the candidate that begins with the name, which may be much longer,
// else the one that is spelt most alike, or nothing.
func similar(name string, candidates []string) string {
	const tooShort = 3
	i := slices.IndexFunc(candidates, func(candidate string) bool {
		return len(name) >= tooShort && strings.HasPrefix(strings.ToLower(candidate), strings.ToLower(name))
	})
	if i >= 0 {
		return candidates[i]
	}
	return v1alpha1.Similar(name, candidates)
}

// called are the paths of all fields of a name below a place.
func (s *specSchema) called(name string, in fieldPlace) []string {
	var paths []string
	for _, field := range s.fields(in.node) {
		node, _ := s.field(in.node, field)
		below := in.child(field, node)
		if field == name {
			paths = append(paths, below.path)
		}
		paths = append(paths, s.called(name, below)...)
	}
	return paths
}
