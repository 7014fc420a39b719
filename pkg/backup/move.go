package backup

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Place says what a management cluster has of a cluster that is moved.
type Place string

const (
	// Absent means that there is no Cluster.
	Absent Place = "Absent"
	// Present means that the cluster is there, and not being moved.
	Present Place = "Present"
	// Leaving means that the cluster is being moved to another management cluster.
	Leaving Place = "Leaving"
	// Arriving means that the cluster is being moved here, and objects of it are missing.
	Arriving Place = "Arriving"
	// Arrived means that all its objects are here, and that it is still paused.
	Arrived Place = "Arrived"
)

// Place returns what the management cluster has of a cluster.
func (s *Service) Place(ctx context.Context, key client.ObjectKey) (Place, error) {
	live, err := s.cluster(ctx, key)
	if err != nil {
		return "", s.management.Explain(ctx, err)
	}
	return placeOf(live), nil
}

// cluster reads a Cluster; nil where there is none.
func (s *Service) cluster(ctx context.Context, key client.ObjectKey) (*unstructured.Unstructured, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind))
	err := s.objects.Get(ctx, key, live)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading cluster %s: %w", key, err)
	}
	return live, nil
}

// placeOf returns the place that a Cluster, which may be nil, says it has.
func placeOf(live *unstructured.Unstructured) Place {
	switch {
	case live == nil:
		return Absent
	case leaves(live):
		return Leaving
	case pauseOf(live) == state.PauseForArrival:
		return Arriving
	case pauseOf(live) == state.PauseForArrived:
		return Arrived
	default:
		return Present
	}
}

// leaves reports whether a move of an object to another management cluster has begun.
func leaves(object client.Object) bool {
	_, deleted := object.GetAnnotations()[clusterctlv1.DeleteForMoveAnnotation]
	return deleted || pauseOf(object) == state.PauseForMove
}

// Moving says what a move is for.
type Moving struct {
	// Why is what the pauses are for, such as "move it into itself".
	Why string
	// Command completes a move that was interrupted.
	Command string
}

// pause returns the mark of a pause.
func (s *Service) pause(of Moving, why state.PauseFor) (string, error) {
	return s.management.PauseMark(state.Pause{Why: of.Why, Command: of.Command, For: why})
}

// Move moves a cluster, which must be the only one of its namespace, with all that belongs to it,
// to another management cluster. The cluster is locked and paused meanwhile. Into is called while
// it is locked here, and returns the Service of the other management cluster. What cannot be moved
// as it is now is refused before the first write.
//
// A move that was stopped anywhere is completed by the next call, or, where this management
// cluster does not have the cluster any more, by Finish on the other one.
func (s *Service) Move(ctx context.Context, key client.ObjectKey, of Moving, into func(context.Context) (*Service, error)) error {
	ctx, release, err := s.lock(ctx, []client.ObjectKey{key}, true)
	if err != nil {
		return err
	}
	defer release()
	live, err := s.cluster(ctx, key)
	if err != nil {
		return s.management.Explain(ctx, err)
	}
	if live == nil {
		return fmt.Errorf("moving cluster %s: %w", key, management.ErrNotFound)
	}
	var kinds []schema.GroupKind
	if placeOf(live) != Leaving {
		if kinds, err = s.checkLeaving(ctx, key); err != nil {
			return err
		}
	}
	target, err := into(ctx)
	if err != nil {
		return management.UnlessLost(ctx, err)
	}
	if err := target.checkArrival(ctx, key, string(live.GetUID()), kinds); err != nil {
		return err
	}
	if err := target.ensureNamespace(ctx, key.Namespace); err != nil {
		return target.management.Explain(ctx, err)
	}
	ctx, releaseTarget, err := target.lock(ctx, []client.ObjectKey{key}, true)
	if err != nil {
		return err
	}
	defer releaseTarget()
	return target.management.Explain(ctx, s.moveTo(ctx, target, live, of))
}

// checkLeaving refuses a cluster that cannot be moved as it is now. It returns the kinds that it
// is made of.
func (s *Service) checkLeaving(ctx context.Context, key client.ObjectKey) ([]schema.GroupKind, error) {
	from, err := s.check(ctx, key.Namespace, state.PauseForMove)
	if err != nil {
		return nil, err
	}
	found := &refusals{}
	for _, other := range from.clusters {
		if other != key {
			found.add(&management.RefusedError{Check: checkOthers, Reason: fmt.Sprintf("cluster %s cannot be moved alone: its namespace also has cluster %s; delete that cluster, or move it elsewhere first", key, other.Name)})
		}
	}
	return from.kinds, found.err()
}

// checkArrival refuses to move a cluster into a management cluster that lacks one of its kinds, or
// has another cluster of its name. ID is that of the move.
func (s *Service) checkArrival(ctx context.Context, key client.ObjectKey, id string, kinds []schema.GroupKind) error {
	found := &refusals{}
	for _, kind := range kinds {
		_, err := s.management.RESTMapper().RESTMapping(kind)
		if meta.IsNoMatchError(err) {
			found.add(&management.RefusedError{Check: checkKinds, Reason: fmt.Sprintf("the management cluster that cluster %s is moved into has no kind %s of %s; install the provider that has it", key, kind.Kind, kind.Group)})
		} else if err != nil {
			return s.management.Explain(ctx, err)
		}
	}
	live, err := s.cluster(ctx, key)
	if err != nil {
		return s.management.Explain(ctx, err)
	}
	if live != nil && live.GetAnnotations()[v1alpha1.RestoredAnnotation] != id {
		found.add(&management.RefusedError{Check: checkExists, Reason: fmt.Sprintf("the management cluster that cluster %s is moved into has another cluster of this name; delete one of the two", key)})
	}
	if len(*found) > 0 {
		return found.err()
	}
	if err := s.checkKinds(ctx, key.Namespace, kinds, []string{"get", "create", "update", "patch"}, found); err != nil {
		return err
	}
	return found.err()
}

// moveTo moves a cluster with clusterctl's library.
func (s *Service) moveTo(ctx context.Context, target *Service, cluster *unstructured.Unstructured, of Moving) error {
	leaving, err := s.pause(of, state.PauseForMove)
	if err != nil {
		return err
	}
	arriving, err := target.pause(of, state.PauseForArrival)
	if err != nil {
		return err
	}
	arrived, err := target.pause(of, state.PauseForArrived)
	if err != nil {
		return err
	}
	id := string(cluster.GetUID())
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	to := &arrival{creator: creator{pauser: pauser{Client: target.objects, paused: map[string]*unstructured.Unstructured{}}, id: id, giveUp: giveUp}, from: withoutInventory{s.objects}}
	from := &departure{
		pauser:   pauser{Client: s.objects, mark: leaving, paused: map[string]*unstructured.Unstructured{}},
		complete: func(ctx context.Context) error { return remark(ctx, target.objects, cluster, arrived) },
	}
	err = mover(from).ObjectMover().Move(ctx, cluster.GetNamespace(), mover(to), false, func(object *unstructured.Unstructured) error {
		arrives(object, id, arriving)
		return nil
	})
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if err != nil {
		return s.stay(ctx, target, from, cluster, fmt.Errorf("moving cluster %s: %w", client.ObjectKeyFromObject(cluster), err))
	}
	return nil
}

// stay ends the pause of a cluster whose move failed before anything of it was created in the other
// management cluster. Otherwise the pause stays: a cluster that changed would differ from what is
// there already.
func (s *Service) stay(ctx context.Context, target *Service, from *departure, cluster *unstructured.Unstructured, failed error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), liftTimeout)
	defer cancel()
	there, err := target.cluster(ctx, client.ObjectKeyFromObject(cluster))
	if err != nil || there != nil {
		return failed
	}
	if err := from.liftAll(ctx); err != nil {
		return fmt.Errorf("%w; and %w", failed, err)
	}
	return failed
}

// Finish ends the pause of a cluster that was moved into the management cluster as a whole. One
// that is not here as a whole is refused.
func (s *Service) Finish(ctx context.Context, key client.ObjectKey) error {
	ctx, release, err := s.lock(ctx, []client.ObjectKey{key}, true)
	if err != nil {
		return err
	}
	defer release()
	live, err := s.cluster(ctx, key)
	if err != nil {
		return s.management.Explain(ctx, err)
	}
	if placeOf(live) != Arrived {
		return &management.RefusedError{Check: checkIncomplete, Reason: fmt.Sprintf("cluster %s was moved here in part, and the management cluster that has the rest is gone; restore the cluster from a backup, or remove its machines with the tools of their provider", key)}
	}
	classes := &unstructured.UnstructuredList{}
	classes.SetGroupVersionKind(clusterv1.GroupVersion.WithKind(clusterv1.ClusterClassKind + "List"))
	if err := s.objects.List(ctx, classes, client.InNamespace(key.Namespace)); err != nil {
		return s.management.Explain(ctx, fmt.Errorf("listing the ClusterClasses of namespace %s: %w", key.Namespace, err))
	}
	id := live.GetAnnotations()[v1alpha1.RestoredAnnotation]
	for i := range classes.Items {
		class := &classes.Items[i]
		if class.GetAnnotations()[v1alpha1.RestoredAnnotation] == id && pauseOf(class) == state.PauseForArrival {
			if err := lift(ctx, s.objects, class); err != nil {
				return s.management.Explain(ctx, err)
			}
		}
	}
	return s.management.Explain(ctx, lift(ctx, s.objects, live))
}
