package main

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"
)

// comments are the doc comments of the types in one directory, by type and by
// type.field, one paragraph per line.
type comments map[string]string

func readComments(dir string) (comments, error) {
	var reader jsonschema.Reflector
	if err := reader.AddGoComments("", dir, jsonschema.WithFullComment()); err != nil {
		return nil, fmt.Errorf("read the comments in %s: %w", dir, err)
	}
	all := comments{}
	for name, text := range reader.CommentMap {
		if short, here := strings.CutPrefix(name, filepath.ToSlash(filepath.Clean(dir))+"."); here {
			all[short] = unwrap(text)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no type with a comment in %s", dir)
	}
	return all, nil
}

// unwrap puts each paragraph on one line.
func unwrap(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, paragraph := range paragraphs {
		paragraphs[i] = strings.Join(strings.Fields(paragraph), " ")
	}
	return strings.Join(paragraphs, "\n\n")
}

// lookup describes a field of a struct, or the struct itself where name is empty.
func (c comments) lookup(t reflect.Type, name string) string {
	if name == "" {
		return c[t.Name()]
	}
	field, _ := t.FieldByName(name)
	inFile, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	valueType := field.Type
	if valueType.Kind() == reflect.Pointer {
		valueType = valueType.Elem()
	}
	own := startWith(inFile, name, c[t.Name()+"."+name])
	ofType := c[valueType.Name()]
	if _, ok := scalars()[valueType]; ok && ofType != "" {
		return own + "\n\n" + ofType
	}
	ofType = startWith(inFile, valueType.Name(), ofType)
	if strings.HasPrefix(ofType, strings.TrimSuffix(own, ".")) {
		return ofType // which says the same, and more
	}
	return own
}

// startWith is a comment with the name that people write in a file, where it
// begins with the name in Go.
func startWith(inFile, inGo, comment string) string {
	if rest, ok := strings.CutPrefix(comment, inGo+" "); ok && inGo != "" {
		return inFile + " " + rest
	}
	return comment
}
