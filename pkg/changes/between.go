package changes

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Between lists the fields in which after differs from before, besides those
// that the API server writes itself. It is sorted by path.
func Between(before, after *unstructured.Unstructured) ([]Change, error) {
	comparing := func(err error) error { return fmt.Errorf("comparing %s: %w", ObjectName(before), err) }
	old, err := normalized(before)
	if err != nil {
		return nil, comparing(err)
	}
	wanted, err := normalized(after)
	if err != nil {
		return nil, comparing(err)
	}
	c := comparison{object: ObjectName(after), kind: before.GetKind()}
	if err := c.compare(nil, old, wanted); err != nil {
		return nil, comparing(err)
	}
	slices.SortFunc(c.found, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Old, b.Old), cmp.Compare(a.New, b.New))
	})
	return c.found, nil
}

// comparison of two states of an object.
type comparison struct {
	object, kind string
	found        []Change
}

// compare compares two values that are there. Lists are compared element by element.
func (c *comparison) compare(path []string, before, after any) error {
	switch old := before.(type) {
	case map[string]any:
		if wanted, same := after.(map[string]any); same {
			return c.compareMaps(path, old, wanted)
		}
	case []any:
		if wanted, same := after.([]any); same {
			return c.compareMaps(path, elements(old), elements(wanted))
		}
	}
	if reflect.DeepEqual(before, after) {
		return nil
	}
	return c.add(Changed, path, before, after)
}

func (c *comparison) compareMaps(path []string, before, after map[string]any) error {
	keys := maps.Clone(before)
	maps.Copy(keys, after)
	for key := range keys {
		old, was := before[key]
		wanted, is := after[key]
		field := append(slices.Clone(path), key)
		var err error
		switch {
		case !was:
			err = c.add(Added, field, nil, wanted)
		case !is:
			err = c.add(Removed, field, old, nil)
		default:
			err = c.compare(field, old, wanted)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// elements are those of a list by their index.
func elements(list []any) map[string]any {
	all := make(map[string]any, len(list))
	for i, element := range list {
		all[strconv.Itoa(i)] = element
	}
	return all
}

func (c *comparison) add(action Action, path []string, before, after any) error {
	change := Change{
		Object: c.object, Path: strings.Join(path, "."), Action: action,
		Sensitive: c.kind == "Secret", ReplacesMachines: replacesMachines(c.kind, path),
	}
	var err error
	if action != Added && !change.Sensitive {
		change.Old, err = ValueOf(before)
	}
	if err == nil && action != Removed && !change.Sensitive {
		change.New, err = ValueOf(after)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", change.Path, err)
	}
	c.found = append(c.found, change)
	return nil
}

// normalized returns an object as JSON has it, without what the API server writes itself.
func normalized(object *unstructured.Unstructured) (map[string]any, error) {
	o := object.DeepCopy()
	delete(o.Object, "status")
	for _, field := range []string{"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	data, err := json.Marshal(o.Object)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var fields map[string]any
	err = decoder.Decode(&fields)
	return fields, err
}
