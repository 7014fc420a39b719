package strictyaml

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func child(path *field.Path, name string) *field.Path {
	if path == nil {
		return field.NewPath(name)
	}
	return path.Child(name)
}

// pathText returns the path as text, which is empty for no path.
func pathText(path *field.Path) string {
	if path == nil {
		return ""
	}
	return path.String()
}

// FieldName returns the name of a field as it can stand in a path and on one line.
func FieldName(name string) string {
	if name != "" && !strings.ContainsFunc(name, notInFieldName) {
		return name
	}
	return strconv.Quote(name)
}

func notInFieldName(r rune) bool {
	letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	return !letter && (r < '0' || r > '9') && r != '_' && r != '/' && r != '-'
}

func parentPath(path string) string { return path[:max(strings.LastIndexAny(path, ".["), 0)] }
