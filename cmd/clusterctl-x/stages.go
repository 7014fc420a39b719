package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
)

// manifestsOfStep are the complete manifests of a cluster at the end of a step
// of the plan from one file to another. Step 0 is what waits for no step.
func (a *app) manifestsOfStep(ctx context.Context, o upgradeOptions, step int) ([]templater.Object, error) {
	p, before, err := a.prepareOffline(ctx, o)
	if err != nil {
		return nil, err
	}
	if steps := len(p.plan.Steps); step < 0 || step > steps {
		return nil, usageError{fmt.Errorf("--step must be from 0 to %d, the number of steps of this plan; 'plan upgrade -f %s --from %s' shows them", steps, o.file, o.from)}
	}
	if step > 0 {
		a.say("step %d of %d: %s", step, len(p.plan.Steps), p.plan.Steps[step-1])
		a.sayRemovals(p.plan.Steps[step-1], before)
	}
	stage := p.stages[step]
	objects := stage.Cluster
	if !o.scope.covers(v1alpha1.ControlPlaneName) {
		objects = before.Cluster
	}
	versions := p.plan.Versions(step)
	for _, part := range append([]string{v1alpha1.ControlPlaneName}, p.plan.Groups()...) {
		_, there := versions.WorkerNodeGroups[part]
		if part != v1alpha1.ControlPlaneName && !there {
			continue
		}
		if !o.scope.covers(part) {
			objects = append(objects, besideOthers(before.Parts[part], stage.Others[part])...)
			continue
		}
		written, err := partAt(part, step, p.plan, stage.Parts[part], before.Parts[part])
		if err != nil {
			return nil, err
		}
		objects = append(objects, written...)
	}
	return encodeAll(objects)
}

// besideOthers are the objects of a part that the steps are not about: as they
// were, with what the control plane's version asks of them.
func besideOthers(before, after []*unstructured.Unstructured) []*unstructured.Unstructured {
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

// sayRemovals names what a step removes: whoever applies manifests removes
// nothing by that.
func (a *app) sayRemovals(step plan.Step, before rollout.Objects) {
	if step.Kind != plan.RemoveWorkers {
		return
	}
	for _, group := range step.WorkerNodeGroups {
		for _, object := range before.Parts[group.Name] {
			if !changes.IsTemplate(object.GetKind()) {
				a.say("delete %s: 'kubectl apply' does not", changes.ObjectName(object))
			}
		}
	}
}

// partAt are the objects of a part at the end of a step. Until a step gives it
// other machines it keeps the templates that it had.
func partAt(part string, step int, p plan.Plan, after, before []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	if p.Released(part, step) || len(before) == 0 {
		return after, nil
	}
	if part == v1alpha1.ControlPlaneName || len(after) == 0 {
		return before, nil
	}
	var objects []*unstructured.Unstructured
	for _, object := range before {
		if changes.IsTemplate(object.GetKind()) {
			objects = append(objects, object)
		}
	}
	for _, object := range after {
		if changes.IsTemplate(object.GetKind()) {
			continue
		}
		held := object.DeepCopy()
		for _, live := range before {
			if live.GetKind() == object.GetKind() && live.GetName() == object.GetName() {
				if err := changes.Hold(held, live); err != nil {
					return nil, err
				}
			}
		}
		objects = append(objects, held)
	}
	return objects, nil
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
