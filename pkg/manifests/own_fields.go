package manifests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
)

// Fields of documents that have what belongs to objects of Cluster API, for providers whose
// documents carry objects.
const (
	clusterFields           = "cluster"
	controlPlaneFields      = "controlPlane"
	machineDeploymentFields = "machineDeployment"
	machineTemplateField    = "machineTemplate"
	bootstrapTemplateField  = "bootstrapTemplate"
	kubeadmDefaultsField    = "kubeadmDefaults"
	noDefaults              = "None"
)

// ownFields are the labels, annotations and fields of an object that a document has.
type ownFields struct {
	document *v1alpha1.InfrastructureConfig
	name     string
	content  map[string]any
}

// fieldsOf returns a field of a document; nothing where the provider's documents carry no
// objects.
func (r renderer) fieldsOf(document *v1alpha1.InfrastructureConfig, name string) ownFields {
	if document == nil || !r.Provider.Spec.Objects {
		return ownFields{}
	}
	content, _ := document.Complete[name].(map[string]any)
	return ownFields{document: document, name: name, content: content}
}

// machineFieldsOf does the same for the document of a part.
func (r renderer) machineFieldsOf(ref *v1alpha1.Ref, name string) ownFields {
	if ref == nil {
		return ownFields{}
	}
	return r.fieldsOf(r.Config.Machines[*ref], name)
}

// text returns a field.
func (f ownFields) text(name string) string {
	value, _ := f.content[name].(string)
	return value
}

// values returns the fields below one.
func (f ownFields) values(name string) map[string]any {
	value, _ := f.content[name].(map[string]any)
	return value
}

// withoutDefaults reports whether the document of a part wants none of clusterctl-x's
// defaults.
func (r renderer) withoutDefaults(ref *v1alpha1.Ref) bool {
	if ref == nil || !r.Provider.Spec.Objects {
		return false
	}
	return r.Config.Machines[*ref].Complete[kubeadmDefaultsField] == noDefaults
}

// withFields returns a rendered object with what its document says in addition. A value that
// both have must be the same.
func (r renderer) withFields(object templater.Object, own ownFields) (templater.Object, error) {
	if len(own.content) == 0 {
		return object, nil
	}
	var said map[string]any
	if err := json.Unmarshal(object.JSON, &said); err != nil {
		return object, err
	}
	given, err := own.object()
	if err != nil {
		return object, err
	}
	rendered := runtime.DeepCopyJSON(said)
	withoutDefaultsOf(object.Kind.Kind, given, said)
	if err := r.contradictedFields(own, given, said); err != nil {
		return object, err
	}
	merged := overlay(given, said)
	if reflect.DeepEqual(merged, rendered) {
		return object, nil
	}
	text, err := yaml.Marshal(merged)
	if err != nil {
		return object, err
	}
	whole, err := r.checker.Decode(text)
	if err != nil {
		path := field.NewPath("spec", own.name)
		return object, r.Config.LocateIn(own.document, field.ErrorList{field.Forbidden(path, "makes no "+object.Kind.Kind+": "+strings.ReplaceAll(err.Error(), "\n", ", "))}).OrNil()
	}
	return whole, nil
}

// object returns the fields as those of an object, with numbers as JSON has them.
func (f ownFields) object() (map[string]any, error) {
	object, metadata := map[string]any{}, map[string]any{}
	if spec := f.values("spec"); len(spec) > 0 {
		object["spec"] = spec
	}
	for _, name := range []string{"labels", "annotations"} {
		if values := f.values(name); len(values) > 0 {
			metadata[name] = values
		}
	}
	if len(metadata) > 0 {
		object["metadata"] = metadata
	}
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	given := map[string]any{}
	return given, json.Unmarshal(data, &given)
}

// withoutDefaultsOf removes from a rendered object what is a default only where its document
// says something else.
func withoutDefaultsOf(kind string, given, said map[string]any) {
	if _, has, _ := unstructured.NestedMap(given, "spec", "clusterNetwork"); has && kind == clusterv1.ClusterKind {
		unstructured.RemoveNestedField(said, "spec", "clusterNetwork")
	}
	if _, has, _ := unstructured.NestedMap(given, "spec", "selector"); has {
		unstructured.RemoveNestedField(said, "spec", "selector", "matchLabels", clusterv1.MachineDeploymentNameLabel)
		unstructured.RemoveNestedField(said, "spec", "template", "metadata", "labels", clusterv1.MachineDeploymentNameLabel)
	}
}

func (r renderer) contradictedFields(own ownFields, given, said map[string]any) error {
	path := field.NewPath("spec", own.name)
	var errs field.ErrorList
	for _, found := range contradictions(given, said, nil) {
		at := strings.TrimPrefix(found.path.String(), "metadata.")
		errs = append(errs, field.Invalid(path.Child(at), found.given, fmt.Sprintf("contradicts the fields of the Cluster, which make it %s; remove it here, and set it there", asText(found.said))))
	}
	return r.Config.LocateIn(own.document, errs).OrNil()
}

// Renamed returns the key in Input.Renamed of a template of a kind and name.
func Renamed(kind, name string) string { return kind + "/" + name }

// keptName returns the name that a document gives a template; empty where the template
// cannot have it.
func (r renderer) keptName(template ownFields, kind string) string {
	name := template.text("name")
	if name == "" || r.Renamed[Renamed(kind, name)] {
		return ""
	}
	return name
}

// once returns objects without templates that are there already: parts may have one in common.
func once(objects []templater.Object) []templater.Object {
	var all []templater.Object
	known := map[string]bool{}
	for _, object := range objects {
		if key := Renamed(object.Kind.Kind, object.Name); !known[key] || !changes.IsTemplate(object.Kind.Kind) {
			known[key] = true
			all = append(all, object)
		}
	}
	return all
}

// sameTemplates refuses documents that give one template two contents.
func sameTemplates(objects Objects) error {
	known := map[string][]byte{}
	for _, object := range objects.every() {
		if !changes.IsTemplate(object.Kind.Kind) {
			continue
		}
		key := Renamed(object.Kind.Kind, object.Name)
		if other, twice := known[key]; twice && !bytes.Equal(other, object.JSON) {
			return fmt.Errorf("%s %s would have two contents: the documents of two parts name it and differ; give one of them another name", object.Kind.Kind, object.Name)
		}
		known[key] = object.JSON
	}
	return nil
}

// checkOwnObjects refuses documents with names or fields of the objects of one cluster, which a
// ClusterClass has no place for.
func (m *classMaker) checkOwnObjects() error {
	if m.Documents == nil || !m.Provider.Spec.Objects {
		return nil
	}
	var wrong []error
	refuse := func(document *v1alpha1.InfrastructureConfig, fields ...string) {
		value, has, _ := unstructured.NestedFieldNoCopy(document.Complete, fields...)
		if has && value != "Add" {
			path := field.NewPath("spec", fields...)
			wrong = append(wrong, m.Documents.LocateIn(document, field.ErrorList{field.Forbidden(path, "is about the objects of one cluster, and a ClusterClass makes many; remove it, or write the cluster without a class")}).OrNil())
		}
	}
	for _, path := range [][]string{{"infrastructureCluster", "name"}, {clusterFields}, {controlPlaneFields, "labels"}, {controlPlaneFields, "spec"}} {
		refuse(m.Documents.Datacenter, path...)
	}
	for _, ref := range slices.SortedFunc(maps.Keys(m.Documents.Machines), func(a, b v1alpha1.Ref) int { return strings.Compare(a.Name, b.Name) }) {
		for _, path := range [][]string{{machineTemplateField, "name"}, {kubeadmDefaultsField}, {bootstrapTemplateField}, {machineDeploymentFields}} {
			refuse(m.Documents.Machines[ref], path...)
		}
	}
	return errors.Join(wrong...)
}
