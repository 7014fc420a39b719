package engine

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
)

// Writes returns the actions that write the objects of a part. Unless its machines may be
// replaced it keeps its templates, and its objects the fields that name them.
func Writes(part string, objects []*unstructured.Unstructured, released bool) []Action {
	if !released && part == v1alpha1.ControlPlaneName {
		return nil // its changes travel with its step
	}
	var actions []Action
	for _, object := range objects {
		switch {
		case released:
			actions = append(actions, Apply{object, part})
		case !changes.IsTemplate(object.GetKind()):
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
	released := t.Plan.Released(part, steps) && !slices.Contains(t.p.replacements.queue, part)
	t.write(Writes(part, t.Desired[steps].Parts[part], released)...)
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
