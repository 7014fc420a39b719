package changes

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Owned returns what a field manager has applied of a live object: an object of the same
// name with the fields that it owns by server-side apply, and nothing else. Applying it
// again changes nothing; applied with other values for some fields, it changes these.
func Owned(live *unstructured.Unstructured, manager string) (*unstructured.Unstructured, error) {
	owned := &unstructured.Unstructured{}
	owned.SetAPIVersion(live.GetAPIVersion())
	owned.SetKind(live.GetKind())
	owned.SetNamespace(live.GetNamespace())
	owned.SetName(live.GetName())
	fields, err := OwnedFields(live, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationApply
	})
	if err != nil {
		return nil, fmt.Errorf("of field manager %s: %w", manager, err)
	}
	picked := Pick(live.Object, fields)
	if metadata, has := picked["metadata"].(map[string]any); has {
		metadata["name"], metadata["namespace"] = live.GetName(), live.GetNamespace()
	}
	maps.Copy(owned.Object, picked)
	return owned, nil
}

// OwnedFields are the fields of a live object, besides those of its status, that the field
// managers of some entries own.
func OwnedFields(live *unstructured.Unstructured, of func(metav1.ManagedFieldsEntry) bool) (*fieldpath.Set, error) {
	all := fieldpath.NewSet()
	for _, entry := range live.GetManagedFields() {
		if entry.Subresource != "" || entry.FieldsV1 == nil || !of(entry) {
			continue
		}
		var fields fieldpath.Set
		if err := fields.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
			return nil, fmt.Errorf("reading who owns the fields of %s: %w", ObjectName(live), err)
		}
		all = all.Union(&fields)
	}
	return all, nil
}

// Pick returns the fields of an object, or of a part of one, that are in a set. Of a list
// whose elements have keys it returns the elements that have fields in the set.
func Pick(of map[string]any, fields *fieldpath.Set) map[string]any {
	return pickFields(of, fields.Leaves())
}

// pick returns what a set of leaves has of a value; nil where it has nothing.
func pick(of any, leaves *fieldpath.Set) any {
	switch is := of.(type) {
	case map[string]any:
		if picked := pickFields(is, leaves); len(picked) > 0 {
			return picked
		}
	case []any:
		if picked := pickElements(is, leaves); len(picked) > 0 {
			return picked
		}
	}
	return nil
}

func pickFields(of map[string]any, leaves *fieldpath.Set) map[string]any {
	picked := map[string]any{}
	for name, is := range of {
		field := fieldpath.PathElement{FieldName: &name}
		if leaves.Members.Has(field) {
			picked[name] = runtime.DeepCopyJSONValue(is)
		} else if some := pick(is, leaves.WithPrefix(field)); some != nil {
			picked[name] = some
		}
	}
	return picked
}

// pickElements picks from a list whose elements have keys, or are values of a set. Lists of
// other kinds are leaves.
func pickElements(of []any, leaves *fieldpath.Set) []any {
	var picked []any
	for _, is := range of {
		if element, found := keyedElement(is, leaves); found {
			some, _ := pick(is, leaves.WithPrefix(element)).(map[string]any)
			if some == nil {
				some = map[string]any{}
			}
			for _, key := range *element.Key {
				some[key.Name] = key.Value.Unstructured()
			}
			picked = append(picked, some)
			continue
		}
		scalar := value.NewValueInterface(is)
		if leaves.Members.Has(fieldpath.PathElement{Value: &scalar}) {
			picked = append(picked, is)
		}
	}
	return picked
}

// keyedElement returns the element of a set whose keys a value has.
func keyedElement(of any, leaves *fieldpath.Set) (fieldpath.PathElement, bool) {
	fields, _ := of.(map[string]any)
	elements := slices.Concat(slices.Collect(leaves.Children.All()), slices.Collect(leaves.Members.All()))
	i := slices.IndexFunc(elements, func(element fieldpath.PathElement) bool {
		return element.Key != nil && !slices.ContainsFunc(*element.Key, func(key value.Field) bool {
			return !value.Equals(key.Value, value.NewValueInterface(fields[key.Name]))
		})
	})
	if i < 0 {
		return fieldpath.PathElement{}, false
	}
	return elements[i], true
}
