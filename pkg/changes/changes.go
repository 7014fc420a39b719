// Package changes computes the differences between two states of an object, and which
// of them make Cluster API replace machines. It is pure.
package changes

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gomodules.xyz/jsonpatch/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Field is one field that differs.
type Field struct {
	Path string // with dots, from the object's root
	// Change says what becomes of it, such as "would become 3". Values of
	// Secrets are left out.
	Change string
	// Rolling is true where Cluster API replaces machines for the change.
	Rolling bool
}

// String is the field with its change.
func (f Field) String() string { return f.Path + " " + f.Change }

// ObjectName is the name by which people are told of an object: Kind/name.
func ObjectName(object *unstructured.Unstructured) string {
	return object.GetKind() + "/" + object.GetName()
}

// Between lists the fields in which after differs from before, besides those
// that the API server writes itself. It is sorted by path.
func Between(before, after *unstructured.Unstructured) ([]Field, error) {
	old, err := normalized(before)
	if err != nil {
		return nil, err
	}
	wanted, err := normalized(after)
	if err != nil {
		return nil, err
	}
	patch, err := jsonpatch.CreatePatch(old, wanted)
	if err != nil {
		return nil, fmt.Errorf("comparing %s: %w", ObjectName(before), err)
	}
	fields := make([]Field, len(patch))
	for i, operation := range patch {
		fields[i] = Field{Path: fieldPath(operation.Path), Rolling: rolling(before.GetKind(), operation.Path)}
		switch {
		case before.GetKind() == "Secret":
			fields[i].Change = "differs"
		case operation.Operation == "remove":
			fields[i].Change = "would be removed"
		default:
			value, err := fieldValue(operation.Value)
			if err != nil {
				return nil, fmt.Errorf("comparing %s: %s: %w", ObjectName(before), fields[i].Path, err)
			}
			fields[i].Change = "would become " + value
		}
	}
	slices.SortFunc(fields, func(a, b Field) int { return strings.Compare(a.String(), b.String()) })
	return fields, nil
}

// fieldPath is a JSON pointer (RFC 6901) with dots. The order matters: "~01" is
// the text "~1".
func fieldPath(pointer string) string {
	path := strings.ReplaceAll(strings.TrimPrefix(pointer, "/"), "/", ".")
	path = strings.ReplaceAll(path, "~1", "/")
	return strings.ReplaceAll(path, "~0", "~")
}

// fieldValue is text as it is, and everything else, and the empty text, as JSON.
func fieldValue(value any) (string, error) {
	if text, ok := value.(string); ok && text != "" {
		return text, nil
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // people read it
	err := encoder.Encode(value)
	return strings.TrimSuffix(b.String(), "\n"), err
}

func normalized(object *unstructured.Unstructured) ([]byte, error) {
	o := object.DeepCopy()
	delete(o.Object, "status")
	for _, field := range []string{"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	return o.MarshalJSON()
}
