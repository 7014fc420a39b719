package changes

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// IsTemplate reports whether objects of a kind are templates, which are never
// changed: one with another content has another name.
func IsTemplate(kind string) bool { return strings.HasSuffix(kind, "Template") }

// IsKind reports whether an object is of a kind of Cluster API's core group.
func IsKind(object *unstructured.Unstructured, kind string) bool {
	return object.GetKind() == kind && object.GroupVersionKind().Group == clusterv1.GroupVersion.Group
}

// FollowTemplates puts the fields in which templates differ in the place of
// their names: a name says nothing to people. wanted are the objects to be, by
// Kind/name; find returns the template of a name in whose place another one
// comes, or nil where it is not there.
func FollowTemplates(before, after *unstructured.Unstructured, fields []Change, wanted map[string]*unstructured.Unstructured,
	find func(name string, instead *unstructured.Unstructured) (*unstructured.Unstructured, error),
) ([]Change, error) {
	for _, path := range References(after.GetKind()) {
		i := slices.IndexFunc(fields, func(c Change) bool { return c.Template == "" && c.Path == strings.Join(path, ".")+".name" })
		if i < 0 {
			continue
		}
		inside, err := templateFields(before, after, path, wanted, find)
		if err != nil {
			return nil, fmt.Errorf("comparing the templates of %s: %w", ObjectName(after), err)
		}
		if len(inside) > 0 {
			fields = slices.Replace(fields, i, i+1, inside...)
		}
	}
	return fields, nil
}

// templateFields are those in which the templates at a path differ; none where
// one of them cannot be had.
func templateFields(before, after *unstructured.Unstructured, path []string, wanted map[string]*unstructured.Unstructured,
	find func(string, *unstructured.Unstructured) (*unstructured.Unstructured, error),
) ([]Change, error) {
	oldReference, _, err := unstructured.NestedStringMap(before.Object, path...)
	if err != nil {
		return nil, err
	}
	newReference, _, err := unstructured.NestedStringMap(after.Object, path...)
	if err != nil {
		return nil, err
	}
	instead, ok := wanted[newReference["kind"]+"/"+newReference["name"]]
	if !ok {
		return nil, nil
	}
	template, err := find(oldReference["name"], instead)
	if template == nil || err != nil {
		return nil, err
	}
	// What machines are made of, and nothing else.
	only := func(o *unstructured.Unstructured) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"kind": o.GetKind(), "spec": o.Object["spec"]}}
	}
	fields, err := Between(only(template), only(instead))
	for i := range fields {
		fields[i].Object, fields[i].Template, fields[i].ReplacesMachines = ObjectName(after), instead.GetKind(), true
	}
	return fields, err
}
