// Package importer turns the objects of clusters that others made into cluster specs. It has
// no effects: objects in, text out.
package importer

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Imported is the spec of one cluster.
type Imported struct {
	Name, Namespace string
	// YAML are the documents of the spec.
	YAML []byte
	// Notes say what of the objects the spec does not have, and why.
	Notes []string
}

// Join returns the specs of clusters as one file, and their notes.
func Join(all []Imported) (text []byte, notes []string) {
	texts := make([][]byte, len(all))
	for i, imported := range all {
		texts[i] = imported.YAML
		notes = append(notes, imported.Notes...)
	}
	return bytes.Join(texts, []byte("---\n")), notes
}

// RefusedError says why a cluster cannot be imported.
type RefusedError struct {
	Cluster, Reason string
}

// Error is a complete sentence.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("cluster %s cannot be imported: %s", e.Cluster, e.Reason)
}

// Kinds are those of the documents that carry the objects of any infrastructure.
type Kinds struct {
	Datacenter, Machine string
	// ImageFields returns the fields of spec.template.spec of machine templates of a kind that
	// name an image of one version; nil for none of any kind.
	ImageFields func(schema.GroupKind) []string
}

// Clusters returns the specs of all clusters among the objects, in their order, and notes about
// the objects that belong to none. Objects of Cluster API are of its current version. live is
// true of those of a management cluster.
func Clusters(objects []*unstructured.Unstructured, kinds Kinds, live bool) ([]Imported, []string, error) {
	set := objectSet{objects: objects, used: map[*unstructured.Unstructured]bool{}, kinds: kinds, live: live}
	var imported []Imported
	for _, object := range objects {
		if object.GetKind() != clusterv1.ClusterKind || group(object) != clusterv1.GroupVersion.Group {
			continue
		}
		set.used[object] = true
		of, err := set.importCluster(object)
		if err != nil {
			return nil, nil, err
		}
		imported = append(imported, of)
	}
	return imported, set.unusedNotes(), nil
}

// objectSet are the objects that specs are made from.
type objectSet struct {
	objects []*unstructured.Unstructured
	// used are those that a spec has, or has a note about.
	used  map[*unstructured.Unstructured]bool
	kinds Kinds
	live  bool
}

func (s objectSet) importCluster(object *unstructured.Unstructured) (Imported, error) {
	c := cluster{objectSet: s, object: object, name: object.GetName()}
	imported := Imported{Name: c.name, Namespace: object.GetNamespace()}
	if object.GetDeletionTimestamp() != nil {
		return imported, c.refuse("it is being deleted")
	}
	var err error
	if _, managed, _ := unstructured.NestedMap(object.Object, "spec", "topology"); managed {
		imported.YAML, err = c.topology()
	} else {
		imported.YAML, err = c.direct()
	}
	slices.Sort(c.notes)
	imported.Notes = slices.Compact(c.notes)
	return imported, err
}

// cluster is one that is imported.
type cluster struct {
	objectSet
	object *unstructured.Unstructured
	name   string
	notes  []string
}

func (c *cluster) refuse(format string, args ...any) error {
	return &RefusedError{Cluster: c.name, Reason: fmt.Sprintf(format, args...)}
}

// note says what of an object is left out.
func (c *cluster) note(what string, of *unstructured.Unstructured, why string) {
	c.notes = append(c.notes, fmt.Sprintf("%s of %s: %s", what, title(of), why))
}

// find returns the object that a reference of another object names.
func (c *cluster) find(from *unstructured.Unstructured, path ...string) (*unstructured.Unstructured, error) {
	reference, found, err := unstructured.NestedMap(from.Object, path...)
	if err != nil || !found {
		return nil, c.refuse("%s has no %s yet; import it once its objects refer to each other", title(from), strings.Join(path, "."))
	}
	kind, name, ofGroup := text(reference, "kind"), text(reference, "name"), groupOf(reference)
	for _, object := range c.objects {
		if object.GetKind() == kind && object.GetName() == name && group(object) == ofGroup && sameNamespace(object, from) {
			c.used[object] = true
			return object, nil
		}
	}
	return nil, c.refuse("%s %s, which %s names in %s, is not there; add its manifest, or apply it", kind, name, title(from), strings.Join(path, "."))
}

// ofCluster returns the objects of a kind of Cluster API's core group that belong to the
// cluster, sorted by name.
func (c *cluster) ofCluster(kind string) []*unstructured.Unstructured {
	var found []*unstructured.Unstructured
	for _, object := range c.objects {
		name, _, _ := unstructured.NestedString(object.Object, "spec", "clusterName")
		if object.GetKind() == kind && group(object) == clusterv1.GroupVersion.Group && name == c.name && sameNamespace(object, c.object) {
			c.used[object] = true
			found = append(found, object)
		}
	}
	slices.SortStableFunc(found, func(a, b *unstructured.Unstructured) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return found
}

// unusedNotes name the objects that are part of no cluster.
func (s objectSet) unusedNotes() []string {
	var notes []string
	for _, object := range s.objects {
		if !s.used[object] {
			notes = append(notes, fmt.Sprintf("%s is left out: it is no part of one cluster; keep its manifest", title(object)))
		}
	}
	slices.Sort(notes)
	return slices.Compact(notes)
}

func group(object *unstructured.Unstructured) string { return object.GroupVersionKind().Group }

func groupOf(reference map[string]any) string {
	if of := text(reference, "apiGroup"); of != "" {
		return of
	}
	of, _, _ := strings.Cut(text(reference, "apiVersion"), "/")
	return of
}

func text(values map[string]any, name string) string {
	value, _ := values[name].(string)
	return value
}

// sameNamespace reports whether objects are in one namespace, as far as they say.
func sameNamespace(a, b *unstructured.Unstructured) bool {
	return a.GetNamespace() == b.GetNamespace() || a.GetNamespace() == "" || b.GetNamespace() == ""
}

// title is what people call an object.
func title(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetName()
}
