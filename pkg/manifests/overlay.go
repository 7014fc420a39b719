package manifests

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// What lists in a KubeadmConfigSpec are: those of objects with a key are merged by it, as in
// Cluster API's types, those of commands and names are joined, and others are one value.
var (
	keyOfList = map[string]string{ //nolint:gochecknoglobals // a constant
		"files": "path", "users": "name", "extraArgs": "name", "kubeletExtraArgs": "name", "extraVolumes": "name", "extraEnvs": "name",
	}
	joinedLists = []string{ //nolint:gochecknoglobals // a constant
		"bootCommands", "preKubeadmCommands", "postKubeadmCommands", "certSANs", "ignorePreflightErrors", "mounts",
	}
)

// overlay returns the values of above over those below: mappings are merged, and other
// values replaced. The items of joined lists come first where they are above.
func overlay(below, above map[string]any) map[string]any {
	merged := map[string]any{}
	for name, value := range below {
		merged[name] = value
	}
	for name, value := range above {
		merged[name] = overlaid(name, merged[name], value)
	}
	return merged
}

func overlaid(name string, below, above any) any {
	switch above := above.(type) {
	case map[string]any:
		if below, is := below.(map[string]any); is {
			return overlay(below, above)
		}
	case []any:
		below, is := below.([]any)
		key, keyed := keyOfList[name]
		switch {
		case is && keyed:
			return overlaidItems(key, below, above)
		case is && slices.Contains(joinedLists, name):
			return joined(above, below)
		}
	}
	return above
}

// overlaidItems merges lists of objects by the value of a key.
func overlaidItems(key string, below, above []any) []any {
	merged := slices.Clone(below)
	for _, item := range above {
		if i := indexOf(merged, key, item); i >= 0 {
			merged[i] = overlaid("", merged[i], item)
		} else {
			merged = append(merged, item)
		}
	}
	return merged
}

// indexOf returns the place of the item with the same key; -1 where there is none.
func indexOf(items []any, key string, item any) int {
	wanted, _ := item.(map[string]any)
	return slices.IndexFunc(items, func(other any) bool {
		object, is := other.(map[string]any)
		return is && wanted[key] != nil && object[key] == wanted[key]
	})
}

// joined are the items of both lists, each once.
func joined(first, then []any) []any {
	all := slices.Clone(first)
	for _, item := range then {
		if !slices.ContainsFunc(all, func(other any) bool { return reflect.DeepEqual(other, item) }) {
			all = append(all, item)
		}
	}
	return all
}

// contradiction is a value that two sources give differently.
type contradiction struct {
	path        *field.Path
	given, said any
}

// contradictions returns the values below a path that are given and differ from what is said.
func contradictions(given, said map[string]any, path *field.Path) []contradiction {
	var found []contradiction
	for _, name := range sortedKeys(given) {
		if other, both := said[name]; both {
			found = append(found, contradicting(name, given[name], other, path.Child(name))...)
		}
	}
	return found
}

func contradicting(name string, given, said any, path *field.Path) []contradiction {
	switch given := given.(type) {
	case map[string]any:
		if said, is := said.(map[string]any); is {
			return contradictions(given, said, path)
		}
	case []any:
		said, is := said.([]any)
		key, keyed := keyOfList[name]
		switch {
		case is && keyed:
			var found []contradiction
			for i, item := range given {
				if at := indexOf(said, key, item); at >= 0 {
					found = append(found, contradicting("", item, said[at], path.Index(i))...)
				}
			}
			return found
		case slices.Contains(joinedLists, name):
			return nil
		}
	}
	if reflect.DeepEqual(given, said) {
		return nil
	}
	return []contradiction{{path, given, said}}
}
