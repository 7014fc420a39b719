package topology

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
)

// OtherThan returns the objects made from the templates of a class whose content is not
// among the other parts, sorted by part. MachineDeployments and MachineHealthChecks
// come from the topology itself and are left out.
func (p Parts) OtherThan(other Parts) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, part := range slices.Sorted(maps.Keys(p)) {
		for _, object := range p[part] {
			if object.GetKind() == "MachineDeployment" || object.GetKind() == "MachineHealthCheck" {
				continue
			}
			same := func(o *unstructured.Unstructured) bool {
				return o.GroupVersionKind() == object.GroupVersionKind() && reflect.DeepEqual(o.Object["spec"], object.Object["spec"])
			}
			if !slices.ContainsFunc(other[part], same) {
				all = append(all, object.DeepCopy())
			}
		}
	}
	return all
}

// Writer returns the place in the class that says what a field of an object of a kind
// is, and the name of the patch where it is one: the last one that writes the field, what
// contains it, or a part of it. Where the field is not known, it is the only patch of the
// kind that the class had not before.
func (c Class) Writer(before Class, kind, path string) (place *field.Path, patch string) {
	template, within := kind, []string{"spec"}
	if !changes.IsTemplate(kind) {
		template, within = kind+"Template", []string{"spec", "template", "spec"}
	}
	written := slices.Concat(within, segments(strings.TrimPrefix(path, "spec")))
	place, of := field.NewPath("spec", "patches"), []string{}
	for _, p := range slices.Backward(c.Spec.Patches) {
		if path == "" && slices.ContainsFunc(before.Spec.Patches, func(old clusterv1.ClusterClassPatch) bool { return reflect.DeepEqual(old, p) }) {
			continue
		}
		at, found := writer(p, template, written)
		switch {
		case !found:
		case path != "":
			return at, p.Name
		default:
			place, of = at, append(of, p.Name)
		}
	}
	if len(of) != 1 {
		return field.NewPath("spec", "patches"), ""
	}
	return place, of[0]
}

// writer is the place in a patch that writes a field of a template; it is the patch
// itself where several do.
func writer(p clusterv1.ClusterClassPatch, template string, written []string) (*field.Path, bool) {
	patch := field.NewPath("spec", "patches").Key(p.Name)
	var places []*field.Path
	for d, definition := range p.Definitions {
		if j := writes(definition.JSONPatches, written); definition.Selector.Kind == template && j >= 0 {
			places = append(places, patch.Child("definitions").Index(d).Child("jsonPatches").Index(j))
		}
	}
	if len(places) == 1 {
		return places[0], true
	}
	return patch, len(places) > 0
}

// writes is the index of the last patch that writes a field; -1 where none does.
func writes(patches []clusterv1.JSONPatch, field []string) int {
	for j, patch := range slices.Backward(patches) {
		if pathsMeet(pointer(patch.Path), field) {
			return j
		}
	}
	return -1
}

// pathsMeet reports whether one path is the beginning of the other. A patch may write
// to the end of a list, whatever its index then is.
func pathsMeet(patch, field []string) bool {
	for i := range min(len(patch), len(field)) {
		if patch[i] != field[i] && patch[i] != "-" {
			return false
		}
	}
	return true
}

// pointer are the names of a JSON pointer.
func pointer(text string) []string {
	names := strings.Split(strings.TrimPrefix(text, "/"), "/")
	for i, name := range names {
		names[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
	}
	return names
}

// segments are the names of the path of a field.
func segments(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) })
}
