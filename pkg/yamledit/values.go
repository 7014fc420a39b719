package yamledit

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// keys of two maps, sorted.
func keys(before, after map[string]any) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(all)
	return slices.Compact(all)
}

// find returns the key and the value of an entry; nil without one.
func find(node *yaml.Node, key string) (name, value *yaml.Node) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i], node.Content[i+1]
		}
	}
	return nil, nil
}

// decoded is the value of a node as JSON has it; nil where it has none.
func decoded(node *yaml.Node) any {
	var value any
	if node.Decode(&value) != nil {
		return nil
	}
	return normal(value)
}

// normal is a value with the types of JSON.
func normal(value any) any {
	text, err := json.Marshal(value)
	if err != nil {
		return value
	}
	var same any
	if json.Unmarshal(text, &same) != nil {
		return value
	}
	return same
}

// merged is a value with what differs between two others.
func merged(value, before, after any) any {
	fields, isMap := value.(map[string]any)
	was, _ := before.(map[string]any)
	is, toMap := after.(map[string]any)
	if !isMap || !toMap {
		return after
	}
	all := maps.Clone(fields)
	for _, key := range keys(was, is) {
		if next, has := is[key]; has {
			all[key] = merged(all[key], was[key], next)
		} else {
			delete(all, key)
		}
	}
	return all
}

// indented is a value as YAML behind some blanks.
func indented(value any, blanks int) (string, error) {
	text, err := sigsyaml.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("writing YAML: %w", err)
	}
	var lines strings.Builder
	for line := range strings.Lines(string(text)) {
		lines.WriteString(strings.Repeat(" ", blanks) + line)
	}
	return lines.String(), nil
}

// nodes counts a node and those below it.
func nodes(node *yaml.Node) int {
	count := 1
	for _, child := range node.Content {
		count += nodes(child)
	}
	return count
}
