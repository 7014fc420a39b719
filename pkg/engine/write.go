package engine

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
)

// WritesInPlace returns the actions that write the objects of a part whose machines may
// not be replaced: it keeps its templates, and its objects the fields that name them.
func WritesInPlace(part string, objects []*unstructured.Unstructured) []Action {
	if part == v1alpha1.ControlPlaneName {
		return nil // its changes travel with its step
	}
	var actions []Action
	for _, object := range objects {
		if !changes.IsTemplate(object.GetKind()) {
			actions = append(actions, inPlace(part, object))
		}
	}
	return actions
}

// inPlace writes an object with its live values of the fields that replace machines.
func inPlace(part string, object *unstructured.Unstructured) Action {
	if changes.IsKind(object, "MachineDeployment") {
		return ApplyInPlace{object, part}
	}
	return Apply{object, part}
}

// writePart writes the desired part after a number of steps.
func (t *turn) writePart(steps int, part string) {
	objects := t.Desired[steps].Parts[part]
	if t.Plan.Released(part, steps) && !slices.Contains(t.p.replacements.queue, part) {
		t.writeAll(part, objects)
		return
	}
	t.write(WritesInPlace(part, objects)...)
}

func (t *turn) writeAll(part string, objects []*unstructured.Unstructured) {
	for _, object := range objects {
		t.write(Apply{object, part})
	}
}

// writeChanged writes those objects that differ from what was written last, and
// replaces no machine.
func (t *turn) writeChanged(part string, objects []*unstructured.Unstructured) {
	for _, object := range objects {
		if t.changed(object) && !changes.IsTemplate(object.GetKind()) {
			t.write(inPlace(part, object))
		}
	}
}

// changed reports whether an object is not as it was dealt with last.
func (t *turn) changed(object *unstructured.Unstructured) bool {
	last, known := t.p.last[changes.ObjectName(object)]
	return !known || !reflect.DeepEqual(last.Object, object.Object)
}
