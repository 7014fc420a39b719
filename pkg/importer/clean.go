package importer

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/owners"
)

// spec returns the spec of an object as people wrote it: without the fields of a live object
// that only controllers own.
func (c *cluster) spec(object *unstructured.Unstructured) map[string]any {
	whole, _, _ := unstructured.NestedMap(object.Object, "spec")
	if whole == nil {
		whole = map[string]any{}
	}
	if c.live {
		if fields, known := ownedSpec(object); known {
			whole = changes.Pick(whole, fields)
		}
		maps.DeleteFunc(whole, func(name string, _ any) bool { return onlyControllersOwn(object, name, "spec") })
	}
	if endpoint, has := whole["controlPlaneEndpoint"].(map[string]any); has && !slices.ContainsFunc(slices.Collect(maps.Values(endpoint)), isGiven) {
		delete(whole, "controlPlaneEndpoint") // types of some providers write it empty
	}
	return whole
}

// isGiven reports whether a value is not the zero one.
func isGiven(value any) bool { return value != nil && !reflect.ValueOf(value).IsZero() }

func ofControllers(entry metav1.ManagedFieldsEntry) bool { return owners.IsController(entry.Manager) }

func ofOthers(entry metav1.ManagedFieldsEntry) bool { return !ofControllers(entry) }

// owned are the fields of a live object below a path that the field managers of some entries
// own.
func owned(object *unstructured.Unstructured, of func(metav1.ManagedFieldsEntry) bool, path ...string) *fieldpath.Set {
	fields, err := changes.OwnedFields(object, of)
	if err != nil {
		return fieldpath.NewSet() // an API server does not write such an entry
	}
	for i := range path {
		fields = fields.WithPrefix(fieldpath.PathElement{FieldName: &path[i]})
	}
	return fields
}

// onlyControllersOwn reports whether controllers own a field below a path, and no others do.
func onlyControllersOwn(object *unstructured.Unstructured, name string, path ...string) bool {
	has := func(fields *fieldpath.Set) bool {
		field := fieldpath.PathElement{FieldName: &name}
		_, below := fields.Children.Get(field)
		return below || fields.Members.Has(field)
	}
	return has(owned(object, ofControllers, path...)) && !has(owned(object, ofOthers, path...))
}

// ownedSpec are the fields of the spec that others than controllers own. They are not known
// where one of these wrote another version of the kind, whose fields may have other places.
func ownedSpec(object *unstructured.Unstructured) (fields *fieldpath.Set, known bool) {
	elsewhere := owned(object, func(entry metav1.ManagedFieldsEntry) bool {
		return ofOthers(entry) && entry.APIVersion != object.GetAPIVersion()
	}, "spec")
	fields = owned(object, ofOthers, "spec")
	return fields, elsewhere.Empty() && !fields.Empty()
}

// metadata returns the labels and annotations of an object that people wrote, apart from what
// belongs to the management cluster.
func (c *cluster) metadata(object *unstructured.Unstructured) (labels, annotations map[string]any) {
	of := func(all map[string]string, where string) map[string]any {
		own := map[string]any{}
		for name, value := range all {
			switch {
			case c.live && onlyControllersOwn(object, name, "metadata", where):
			case owners.IsMark(name):
				c.note("the mark "+name, object, "it says that a tool applies the object, and the tool writes it")
			case name == clusterv1.PausedAnnotation:
				c.note("annotation "+name, object, "the object stays paused until the annotation is removed")
			case !system(name):
				own[name] = value
			}
		}
		return own
	}
	return of(object.GetLabels(), "labels"), of(object.GetAnnotations(), "annotations")
}

// system reports whether a label or annotation is written by Cluster API, kubectl or
// clusterctl-x.
func system(name string) bool {
	prefix, _, _ := strings.Cut(name, "/")
	return slices.Contains([]string{"clusterctl-x.io", "kubectl.kubernetes.io", "topology.cluster.x-k8s.io", "machinedeployment.clusters.x-k8s.io", "runtime.cluster.x-k8s.io", "unsafe.topology.cluster.x-k8s.io", "in-place-updates.internal.cluster.x-k8s.io"}, prefix) ||
		slices.Contains([]string{
			clusterv1.ClusterNameLabel, clusterv1.MachineDeploymentNameLabel, "cluster.x-k8s.io/conversion-data", clusterv1.TemplateClonedFromNameAnnotation,
			clusterv1.TemplateClonedFromGroupKindAnnotation, "controlplane.cluster.x-k8s.io/kubeadm-cluster-configuration", "clusterctl.cluster.x-k8s.io/move-hierarchy",
		}, name)
}

// without removes a field where it has a value that is the default.
func without(spec map[string]any, value any, path ...string) {
	if has, found, _ := unstructured.NestedFieldNoCopy(spec, path...); found && (value == nil || reflect.DeepEqual(has, value)) {
		unstructured.RemoveNestedField(spec, path...)
		withoutEmpty(spec, path[:len(path)-1])
	}
}

// withoutEmpty removes the mappings on a path that have become empty.
func withoutEmpty(spec map[string]any, path []string) {
	for ; len(path) > 0; path = path[:len(path)-1] {
		if has, found, _ := unstructured.NestedMap(spec, path...); !found || len(has) > 0 {
			return
		}
		unstructured.RemoveNestedField(spec, path...)
	}
}

// take removes a field and returns it.
func take(spec map[string]any, path ...string) any {
	value, _, _ := unstructured.NestedFieldCopy(spec, path...)
	without(spec, nil, path...)
	return value
}
