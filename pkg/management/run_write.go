package management

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
)

// writePart writes a part as it is to be once so many steps were begun. What is
// not released keeps the templates that it has.
func (r *run) writePart(ctx context.Context, steps int, part string) error {
	objects := r.Stages[steps].Parts[part]
	switch {
	case r.Plan.Released(part, steps) && !slices.Contains(r.replacing.queue, part):
		return r.writeAll(ctx, objects)
	case part == v1alpha1.ControlPlaneName:
		return nil // its changes travel with its step
	}
	for _, object := range objects {
		if changes.IsTemplate(object.GetKind()) {
			continue
		}
		if err := r.writeHeld(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// restore writes the templates that live objects refer to and that are not there. They
// are named after their content, so that no machine is replaced for one that is back.
func (r *run) restore(ctx context.Context, stage rollout.Objects) error {
	objects := stage.All()
	for _, object := range objects {
		if !changes.IsTemplate(object.GetKind()) {
			continue
		}
		missed := false
		err := patiently(ctx, func() error {
			_, err := r.c.live(ctx, object)
			if apierrors.IsNotFound(err) {
				missed, err = r.c.missed(ctx, object, objects)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("reading %s: %w", changes.ObjectName(object), err)
		}
		if !missed {
			continue
		}
		if err := r.write(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) writeAll(ctx context.Context, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if err := r.write(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// writeChanged writes what is rendered otherwise than at the stage before, and
// replaces no machine.
func (r *run) writeChanged(ctx context.Context, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		rendered, err := object.MarshalJSON()
		if err != nil {
			return err
		}
		if r.last[changes.ObjectName(object)] == string(rendered) || changes.IsTemplate(object.GetKind()) {
			continue
		}
		if err := r.writeHeld(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// writeHeld writes an object with what it has now of all that machines are
// replaced for.
func (r *run) writeHeld(ctx context.Context, object *unstructured.Unstructured) error {
	if !isKind(object, "MachineDeployment") {
		return r.write(ctx, object)
	}
	var live *unstructured.Unstructured
	err := patiently(ctx, func() (err error) {
		live, err = r.c.live(ctx, object)
		return err
	})
	if apierrors.IsNotFound(err) {
		return &rollout.StalePlanError{Cluster: r.key.String(), Reasons: []string{"somebody deleted " + changes.ObjectName(object)}}
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", changes.ObjectName(object), err)
	}
	held := object.DeepCopy()
	if err := changes.Hold(held, live); err != nil {
		return err
	}
	if err := r.remember(object); err != nil {
		return err
	}
	return r.apply(ctx, held)
}

func (r *run) write(ctx context.Context, object *unstructured.Unstructured) error {
	if err := r.remember(object); err != nil {
		return err
	}
	return r.apply(ctx, object)
}

func (r *run) remember(object *unstructured.Unstructured) error {
	rendered, err := object.MarshalJSON()
	r.last[changes.ObjectName(object)] = string(rendered)
	return err
}

// apply writes an object, and notes the generation that it has then.
func (r *run) apply(ctx context.Context, object *unstructured.Unstructured) error {
	options := []client.ApplyOption{FieldOwner}
	if r.Force {
		options = append(options, client.ForceOwnership)
	}
	var written *unstructured.Unstructured
	err := whileHeld(ctx, func() error {
		written = object.DeepCopy()
		return r.c.Apply(ctx, client.ApplyConfigurationFromUnstructured(written), options...)
	})
	if conflict := conflictOf(conflicts(object, err)); conflict != nil {
		return conflict
	}
	if err != nil {
		return fmt.Errorf("applying %s: %w", changes.ObjectName(object), err)
	}
	switch {
	case isKind(object, "MachineDeployment"):
		r.generations[object.GetLabels()[WorkerNodeGroupLabel]] = written.GetGeneration()
	case object.GetKind() == "KubeadmControlPlane":
		r.generations[v1alpha1.ControlPlaneName] = written.GetGeneration()
	case isKind(object, "Cluster"):
		r.generations[wholeCluster] = written.GetGeneration()
	}
	return nil
}
