package lifecycle

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
	"github.com/clusterctl-x/clusterctl-x/pkg/yamledit"
)

// CheckStep refuses a number that is not that of a step of the plan. Step 0 is what waits
// for no step.
func (p Upgrade) CheckStep(step int) error {
	if steps := len(p.Plan.Steps); step < 0 || step > steps {
		return fmt.Errorf("must be from 0 to %d, the number of steps of this plan", steps)
	}
	return nil
}

// Manifests returns the complete manifests of a cluster at the end of a step of an
// upgrade that PlanBetween planned. Step 0 is what waits for no step.
func (p Upgrade) Manifests(step int) ([]templater.Object, error) {
	objects, err := p.objectsAt(step)
	if err != nil {
		return nil, err
	}
	return encodeAll(objects)
}

// Edited returns those of some files, by their names, that change where they hold the objects
// of the cluster and are to hold them as they are at the end of a step.
func (p Upgrade) Edited(step int, texts map[string][]byte) (map[string][]byte, error) {
	if p.spec.change != nil {
		return yamledit.Objects(texts, p.States[0].All(), p.States[step].All())
	}
	objects, err := p.objectsAt(step)
	if err != nil {
		return nil, err
	}
	return yamledit.Objects(texts, p.from.objects.All(), objects)
}

// objectsAt returns the objects of the cluster at the end of a step.
func (p Upgrade) objectsAt(step int) ([]*unstructured.Unstructured, error) {
	before := p.from.objects
	stage := p.States[step]
	objects := stage.Cluster
	if !p.scope.covers(v1alpha1.ControlPlaneName) {
		objects = before.Cluster
	}
	versions := p.Plan.Versions(step)
	for _, part := range append([]string{v1alpha1.ControlPlaneName}, p.Plan.Groups()...) {
		_, there := versions.WorkerNodeGroups[part]
		if part != v1alpha1.ControlPlaneName && !there {
			continue
		}
		if !p.scope.covers(part) {
			objects = append(objects, carriedForward(before.Parts[part], stage.Others[part])...)
			continue
		}
		written, err := partAt(part, step, p.Plan, stage.Parts[part], before.Parts[part])
		if err != nil {
			return nil, err
		}
		objects = append(objects, written...)
	}
	return objects, nil
}

// carriedForward returns the objects of a part that has no step: as they were, with the
// annotations that the control plane's version requires.
func carriedForward(before, after []*unstructured.Unstructured) []*unstructured.Unstructured {
	const skip = clusterv1.MachineSetSkipPreflightChecksAnnotation
	objects := make([]*unstructured.Unstructured, len(before))
	for i, object := range before {
		objects[i] = object
		for _, wanted := range after {
			value, needed := wanted.GetAnnotations()[skip]
			if needed && wanted.GetKind() == object.GetKind() && wanted.GetName() == object.GetName() {
				objects[i] = object.DeepCopy()
				annotations := objects[i].GetAnnotations()
				if annotations == nil {
					annotations = map[string]string{}
				}
				annotations[skip] = value
				objects[i].SetAnnotations(annotations)
			}
		}
	}
	return objects
}

// Removals returns the objects, as Kind/name, that a step of an upgrade which PlanBetween
// planned removes: applying manifests removes nothing.
func (p Upgrade) Removals(step int) []string {
	var names []string
	if p.Plan.Steps[step-1].Kind != plan.RemoveWorkers {
		return nil
	}
	for _, group := range p.Plan.Steps[step-1].WorkerNodeGroups {
		for _, object := range p.from.objects.Parts[group.Name] {
			if !changes.IsTemplate(object.GetKind()) {
				names = append(names, changes.ObjectName(object))
			}
		}
	}
	return names
}

// partAt are the objects of a part at the end of a step. Until a step gives it
// other machines it keeps the templates that it had.
func partAt(part string, step int, p plan.Plan, after, before []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	if p.Released(part, step) || len(before) == 0 {
		return after, nil
	}
	actions := engine.WritesInPlace(part, after)
	if len(actions) == 0 {
		return before, nil
	}
	var objects []*unstructured.Unstructured
	for _, object := range before {
		if changes.IsTemplate(object.GetKind()) {
			objects = append(objects, object)
		}
	}
	for _, action := range actions {
		switch action := action.(type) {
		case engine.Apply:
			objects = append(objects, action.Object)
		case engine.ApplyInPlace:
			held, err := heldAt(action.Object, before)
			if err != nil {
				return nil, err
			}
			objects = append(objects, held)
		}
	}
	return objects, nil
}

// heldAt returns an object with the values that it has now of the fields that replace
// machines.
func heldAt(object *unstructured.Unstructured, before []*unstructured.Unstructured) (*unstructured.Unstructured, error) {
	held := object.DeepCopy()
	for _, now := range before {
		if now.GetKind() == object.GetKind() && now.GetName() == object.GetName() {
			return held, changes.Hold(held, now)
		}
	}
	return held, nil
}

func encodeAll(objects []*unstructured.Unstructured) ([]templater.Object, error) {
	encoded := make([]templater.Object, len(objects))
	for i, object := range objects {
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			return nil, fmt.Errorf("writing %s: %w", changes.ObjectName(object), err)
		}
		encoded[i] = templater.Object{Kind: object.GroupVersionKind(), Name: object.GetName(), YAML: text}
	}
	return encoded, nil
}
