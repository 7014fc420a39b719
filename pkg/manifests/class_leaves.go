package manifests

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// inSome returns the paths of objects that only some of the releases have. A patch puts such
// an object in as a whole: it cannot add a field to what is not there.
func inSome(releases []map[string]any) map[string]bool {
	count := map[string]int{}
	var visit func(value any, path string)
	visit = func(value any, path string) {
		object, is := value.(map[string]any)
		if !is {
			return
		}
		count[path]++
		for name := range object {
			visit(object[name], path+"/"+escapedPath(name))
		}
	}
	for _, release := range releases {
		visit(release["spec"], "/spec")
	}
	some := map[string]bool{}
	for path, there := range count {
		some[path] = there < len(releases)
	}
	return some
}

func escapedPath(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

// eachLeaf visits the values of an object that are no objects, and objects without fields or
// at these paths, with their JSON.
func eachLeaf(value any, path string, whole map[string]bool, visit func(path, value string)) error {
	if object, is := value.(map[string]any); is && len(object) > 0 && !whole[path] {
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if err := eachLeaf(object[name], path+"/"+escapedPath(name), whole, visit); err != nil {
				return err
			}
		}
		return nil
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // people read it
	err := encoder.Encode(value)
	visit(path, strings.TrimSuffix(text.String(), "\n"))
	return err
}
