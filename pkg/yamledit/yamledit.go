// Package yamledit changes fields of YAML documents where they stand. All other lines stay
// as they are, with their comments, order and quotes.
package yamledit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// Document is one document of a file.
type Document struct {
	APIVersion, Kind, Namespace, Name string

	root *yaml.Node
}

// File is a text with YAML documents.
type File struct {
	Documents []Document

	lines       []string // with their ends
	ops         []operation
	presentOnly bool
}

// operation replaces lines, or a part of one line where it has columns.
type operation struct {
	first, after int // indexes of lines
	from, to     int // bytes in the line; to is 0 for whole lines
	text         string
}

// Parse reads a file. Documents that are no objects of Kubernetes have no kind.
func Parse(data []byte) (*File, error) {
	f := &File{lines: strings.SplitAfter(string(data), "\n")}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var node yaml.Node
		if err := decoder.Decode(&node); errors.Is(err, io.EOF) {
			return f, nil
		} else if err != nil {
			return nil, err
		}
		var head struct {
			APIVersion string `yaml:"apiVersion"`
			Kind       string
			Metadata   struct{ Namespace, Name string }
		}
		if node.Kind != yaml.DocumentNode || node.Content[0].Kind != yaml.MappingNode || node.Decode(&head) != nil {
			continue
		}
		f.Documents = append(f.Documents, Document{head.APIVersion, head.Kind, head.Metadata.Namespace, head.Metadata.Name, node.Content[0]})
	}
}

// Change changes in a document what differs between two values of its object. With
// presentOnly, fields that the document does not have are left out: it is a patch of the
// object that another document has.
func (f *File) Change(document Document, before, after map[string]any, presentOnly bool) error {
	f.presentOnly = presentOnly
	return f.mapping(document.root, before, after, "")
}

// Append adds a document behind another one.
func (f *File) Append(behind Document, text []byte) {
	after := len(f.lines)
	for i := behind.root.Line; i < len(f.lines); i++ {
		if strings.HasPrefix(f.lines[i], "---") || strings.HasPrefix(f.lines[i], "...") {
			after = i
			break
		}
	}
	separated := "---\n" + strings.TrimSuffix(string(text), "\n") + "\n"
	if last := f.lines[after-1]; after == len(f.lines) && last != "" && !strings.HasSuffix(last, "\n") {
		separated = "\n" + separated
	}
	f.ops = append(f.ops, operation{first: after, after: after, text: separated})
}

// Changed reports whether anything is to be changed.
func (f *File) Changed() bool { return len(f.ops) > 0 }

// Bytes returns the changed text.
func (f *File) Bytes() []byte {
	lines := slices.Clone(f.lines)
	ops := slices.Clone(f.ops)
	slices.SortStableFunc(ops, func(a, b operation) int { return b.first - a.first })
	windows := len(lines) > 0 && strings.HasSuffix(lines[0], "\r\n")
	for _, op := range ops {
		text := op.text
		if windows {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		if op.to > 0 {
			line := lines[op.first]
			lines[op.first] = line[:op.from] + text + line[op.to:]
			continue
		}
		lines = slices.Replace(lines, op.first, op.after, text)
	}
	return []byte(strings.Join(lines, ""))
}

// mapping changes the entries of a mapping in block style.
func (f *File) mapping(node *yaml.Node, before, after map[string]any, path string) error {
	for _, key := range keys(before, after) {
		was, had := before[key]
		is, has := after[key]
		if had && has && reflect.DeepEqual(was, is) {
			continue
		}
		if err := f.entry(node, key, was, is, has, path+"."+key); err != nil {
			return err
		}
	}
	return nil
}

// entry changes one entry of a mapping; has is true for one that is to be there.
func (f *File) entry(node *yaml.Node, key string, was, is any, has bool, path string) error {
	name, value := find(node, key)
	switch {
	case name == nil && (!has || f.presentOnly):
		return nil
	case name == nil:
		return f.insert(node, key, is, path)
	case !has:
		return f.replace(name, nil, path)
	case reflect.DeepEqual(decoded(value), normal(is)):
		return nil
	}
	fields, isMap := is.(map[string]any)
	items, isList := is.([]any)
	switch {
	case value.Kind == yaml.ScalarNode && !isMap && !isList:
		return f.scalar(value, is, path)
	case value.Style&yaml.FlowStyle != 0:
		return f.replace(name, map[string]any{key: merged(decoded(value), was, is)}, path)
	case value.Kind == yaml.MappingNode && isMap:
		fieldsBefore, _ := was.(map[string]any)
		return f.mapping(value, fieldsBefore, fields, path)
	case value.Kind == yaml.SequenceNode && isList:
		if done, err := f.sequence(value, was, items, path); done || err != nil {
			return err
		}
	}
	return f.replace(name, map[string]any{key: is}, path)
}

// sequence changes the items of a list, if it has as many as before. It reports whether it
// could.
func (f *File) sequence(node *yaml.Node, was any, is []any, path string) (bool, error) {
	before, _ := was.([]any)
	if len(before) != len(is) || len(node.Content) != len(is) {
		return false, nil
	}
	for i, item := range is {
		if reflect.DeepEqual(before[i], item) {
			continue
		}
		at := fmt.Sprintf("%s[%d]", path, i)
		fields, isMap := item.(map[string]any)
		element := itemOf(node, fields["name"], i)
		fieldsBefore, _ := before[i].(map[string]any)
		switch {
		case element.Kind == yaml.ScalarNode && !isMap:
			if err := f.scalar(element, item, at); err != nil {
				return true, err
			}
		case element.Kind == yaml.MappingNode && isMap && element.Style&yaml.FlowStyle == 0:
			if err := f.mapping(element, fieldsBefore, fields, at); err != nil {
				return true, err
			}
		default:
			return false, nil
		}
	}
	return true, nil
}

// itemOf is the item of a name, and otherwise that of an index.
func itemOf(node *yaml.Node, name any, index int) *yaml.Node {
	for _, item := range node.Content {
		if item.Kind != yaml.MappingNode {
			continue
		}
		if _, value := find(item, "name"); value != nil && name != nil && value.Value == name {
			return item
		}
	}
	return node.Content[index]
}

// scalar changes a value on its line, with the quotes that it has.
func (f *File) scalar(node *yaml.Node, is any, path string) error {
	if strings.Contains(node.Value, "${") {
		return fmt.Errorf("line %d: %s is %s: change the value of the variable to %v", node.Line, strings.TrimPrefix(path, "."), node.Value, is)
	}
	line := f.lines[node.Line-1]
	from := byteOf(line, node.Column)
	var length int
	text := fmt.Sprint(is)
	switch node.Style {
	case yaml.DoubleQuotedStyle, yaml.SingleQuotedStyle:
		quote := line[from : from+1]
		end := strings.Index(line[from+1:], quote)
		if end < 0 {
			return byHand(node, path)
		}
		length, text = end+2, quote+text+quote
	default:
		plain, err := sigsyaml.Marshal(is)
		if err != nil || !strings.HasPrefix(line[from:], node.Value) || node.Value == "" {
			return byHand(node, path)
		}
		length, text = len(node.Value), strings.TrimSuffix(string(plain), "\n")
	}
	f.ops = append(f.ops, operation{first: node.Line - 1, from: from, to: from + length, text: text})
	return nil
}

// byteOf returns the index of a column, which counts characters from 1.
func byteOf(line string, column int) int {
	at := 0
	for i := range line {
		if at++; at == column {
			return i
		}
	}
	return len(line)
}

func byHand(node *yaml.Node, path string) error {
	return fmt.Errorf("line %d: %s cannot be changed as it is written; change it by hand", node.Line, strings.TrimPrefix(path, "."))
}

// insert adds an entry to a mapping, behind its last one.
func (f *File) insert(node *yaml.Node, key string, value any, path string) error {
	if len(node.Content) == 0 || node.Style&yaml.FlowStyle != 0 {
		return byHand(node, path)
	}
	last := node.Content[len(node.Content)-2]
	text, err := indented(map[string]any{key: value}, node.Content[0].Column-1)
	if err != nil {
		return err
	}
	end := f.end(last)
	if previous := f.lines[end-1]; !strings.HasSuffix(previous, "\n") {
		text = "\n" + text
	}
	f.ops = append(f.ops, operation{first: end, after: end, text: text})
	return nil
}

// replace writes other entries in the place of one; none removes it.
func (f *File) replace(name *yaml.Node, entries map[string]any, path string) error {
	line := f.lines[name.Line-1]
	if strings.TrimSpace(line[:byteOf(line, name.Column)]) != "" {
		return byHand(name, path) // it stands behind a dash, or in braces
	}
	text, err := "", error(nil)
	if len(entries) > 0 {
		text, err = indented(entries, name.Column-1)
	}
	f.ops = append(f.ops, operation{first: name.Line - 1, after: f.end(name), text: text})
	return err
}

// end is the index of the line behind an entry: what follows its key is indented more, or the
// items of a list.
func (f *File) end(name *yaml.Node) int {
	indent, end := name.Column-1, name.Line
	for i := name.Line; i < len(f.lines); i++ {
		line := strings.TrimRight(f.lines[i], "\r\n")
		text := strings.TrimLeft(line, " ")
		is := len(line) - len(text)
		switch {
		case text == "":
		case is > indent || is == indent && strings.HasPrefix(text, "- "):
			end = i + 1
		case !strings.HasPrefix(text, "#"):
			return end
		}
	}
	return end
}
