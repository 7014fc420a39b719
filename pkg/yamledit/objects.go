package yamledit

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	sigsyaml "sigs.k8s.io/yaml"
)

// Objects changes the files that hold objects from one state to another, and returns those
// that change, by their names. Of an object only those fields are changed that differ. A new
// object is added behind one of its kind, if there is one behind the one whose place it
// takes. Files that are no YAML are left alone.
func Objects(texts map[string][]byte, before, after []*unstructured.Unstructured) (map[string][]byte, error) {
	l := layout{files: map[string]*File{}}
	for name, text := range texts {
		if file, err := Parse(text); err == nil {
			l.files[name] = file
		}
	}
	were := map[string]*unstructured.Unstructured{}
	for _, object := range before {
		were[id(object)] = object
	}
	replaced := replacedNames(were, after)
	for _, object := range after {
		if err := l.write(were[id(object)], object, replaced[object.GetName()]); err != nil {
			return nil, err
		}
	}
	changed := map[string][]byte{}
	for name, file := range l.files {
		if file.Changed() {
			changed[name] = file.Bytes()
		}
	}
	return changed, nil
}

// layout is where objects stand in files.
type layout struct{ files map[string]*File }

// place is a document of a file.
type place struct {
	name     string
	document Document
}

func id(object *unstructured.Unstructured) string {
	group, _, _ := strings.Cut(object.GetAPIVersion(), "/")
	return group + "/" + object.GetKind() + "/" + object.GetName()
}

// places returns the documents that a function accepts, in the order of the files.
func (l layout) places(accept func(Document) bool) []place {
	var found []place
	for _, name := range slices.Sorted(maps.Keys(l.files)) {
		for _, document := range l.files[name].Documents {
			if accept(document) {
				found = append(found, place{name, document})
			}
		}
	}
	return found
}

// write changes or adds an object; was is nil for a new one, which may take the place of
// another one of its kind.
func (l layout) write(was, object *unstructured.Unstructured, replaced string) error {
	group, _, _ := strings.Cut(object.GetAPIVersion(), "/")
	ofKind := func(name string) func(Document) bool {
		return func(d Document) bool {
			return d.Kind == object.GetKind() && strings.HasPrefix(d.APIVersion, group+"/") && (name == "" || d.Name == name) &&
				(d.Namespace == "" || object.GetNamespace() == "" || d.Namespace == object.GetNamespace())
		}
	}
	places := l.places(ofKind(object.GetName()))
	switch {
	case was != nil && reflect.DeepEqual(was.Object, object.Object), was == nil && len(places) > 0:
		return nil
	case was != nil && len(places) == 0:
		return fmt.Errorf("%s/%s changes, and no file has it; write it with 'clusterctl-x generate manifests --output-dir'", object.GetKind(), object.GetName())
	case was != nil:
		return l.change(places, was, object)
	}
	places = l.places(ofKind(replaced))
	if replaced == "" || len(places) == 0 {
		places = l.places(func(d Document) bool { return ofKind("")(d) || d.Kind == "MachineDeployment" || d.Kind == "Cluster" })
	}
	if len(places) == 0 {
		return fmt.Errorf("%s/%s is new, and no file has objects of a cluster to add it to; write it with 'clusterctl-x generate manifests --output-dir'", object.GetKind(), object.GetName())
	}
	last := places[len(places)-1]
	added := object.DeepCopy()
	if last.document.Namespace == "" {
		unstructured.RemoveNestedField(added.Object, "metadata", "namespace")
	}
	text, err := sigsyaml.Marshal(added.Object)
	if err != nil {
		return fmt.Errorf("writing %s/%s: %w", object.GetKind(), object.GetName(), err)
	}
	l.files[last.name].Append(last.document, text)
	return nil
}

// change changes an object in the first document that has most of it; the others are patches,
// which keep to the fields that they have.
func (l layout) change(places []place, was, object *unstructured.Unstructured) error {
	slices.SortStableFunc(places, func(a, b place) int { return nodes(b.document.root) - nodes(a.document.root) })
	for i, at := range places {
		if err := l.files[at.name].Change(at.document, was.Object, object.Object, i > 0); err != nil {
			return fmt.Errorf("%s: %s/%s: %w", at.name, object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

// replacedNames maps the name that an object refers to now to the one that it referred to
// before.
func replacedNames(were map[string]*unstructured.Unstructured, after []*unstructured.Unstructured) map[string]string {
	names := map[string]string{}
	for _, object := range after {
		if was := were[id(object)]; was != nil {
			compareStrings(was.Object, object.Object, names)
		}
	}
	return names
}

func compareStrings(was, is any, names map[string]string) {
	switch now := is.(type) {
	case map[string]any:
		before, _ := was.(map[string]any)
		for key, value := range now {
			compareStrings(before[key], value, names)
		}
	case string:
		if before, text := was.(string); text && before != now {
			names[now] = before
		}
	}
}
