package rollout

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
)

// writePart writes the desired part after a number of steps. A part that is not
// released keeps its templates.
func (t *turn) writePart(steps int, part string) {
	objects := t.Desired[steps].Parts[part]
	switch {
	case t.Plan.Released(part, steps) && !slices.Contains(t.p.replacements.queue, part):
		t.writeAll(part, objects)
		return
	case part == v1alpha1.ControlPlaneName:
		return // its changes travel with its step
	}
	for _, object := range objects {
		if !changes.IsTemplate(object.GetKind()) {
			t.writeInPlace(part, object)
		}
	}
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
			t.writeInPlace(part, object)
		}
	}
}

// writeInPlace writes an object with its live values of the fields that replace
// machines.
func (t *turn) writeInPlace(part string, object *unstructured.Unstructured) {
	if changes.IsKind(object, "MachineDeployment") {
		t.write(ApplyInPlace{object, part})
		return
	}
	t.write(Apply{object, part})
}

// changed reports whether an object is not as it was dealt with last.
func (t *turn) changed(object *unstructured.Unstructured) bool {
	last, known := t.p.last[changes.ObjectName(object)]
	return !known || !reflect.DeepEqual(last.Object, object.Object)
}
