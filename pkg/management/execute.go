package management

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// execution is an upgrade on its way: it does what the engine says.
type execution struct {
	c   *Client
	key client.ObjectKey
	Upgrade
	uid      string
	engine   engine.Engine
	progress engine.Progress
	// wrote has the objects that the run wrote, by kind and name.
	wrote map[string]written
	// done is true once the plan is at its end.
	done bool
}

func newExecution(c *Client, key client.ObjectKey, upgrade Upgrade) *execution {
	return &execution{c: c, key: key, Upgrade: upgrade, engine: engine.New(key.String(), upgrade.Program), wrote: map[string]written{}}
}

// begin makes the changes that wait for nothing.
func (x *execution) begin(ctx context.Context, cluster state.Cluster) error {
	x.uid = cluster.UID
	actions, progress := x.engine.Begin(cluster)
	x.progress = progress
	_, err := x.do(ctx, actions)
	return err
}

// advance does what can be done at a state of the cluster.
func (x *execution) advance(ctx context.Context, cluster state.Cluster) (verdict, error) {
	for {
		turn, stopped := x.engine.Next(cluster, x.c.opts().Clock.Now(), x.progress)
		x.progress = turn.Progress
		if stopped == nil && !isGone(cluster) {
			if err := x.undisturbed(ctx, cluster); err != nil {
				return verdict{}, err
			}
		}
		postponed, err := x.do(ctx, turn.Actions)
		if err == nil {
			err = x.named(ctx, x.explain(stopped))
		}
		if err == nil && turn.Again && !postponed {
			continue
		}
		if !isGone(cluster) {
			status := x.engine.Status(turn.Cluster, x.progress)
			status.Done = turn.Done
			x.Show(status)
		}
		x.done = turn.Done
		return verdict{done: turn.Done || x.NoWait && turn.MayLeave && !postponed, again: turn.LookAgain()}, err
	}
}

// explain puts the engine's error about an unhealthy cluster as the preflight does.
func (x *execution) explain(err error) error {
	unhealthy := (*engine.UnhealthyError)(nil)
	if !errors.As(err, &unhealthy) {
		return err
	}
	refused := &PreflightError{Cluster: x.key.String(), Step: unhealthy.Place(), Waited: unhealthy.Waited}
	for _, reason := range healthReasons(unhealthy.Cluster, unhealthy.Parts) {
		refused.Findings = append(refused.Findings, plan.Finding{Check: CheckHealth, Reason: reason})
	}
	return refused
}

// do does actions in their order, and notes what came of them. It reports whether
// Cluster API does not take one of them yet. After an error it records Events only.
func (x *execution) do(ctx context.Context, actions []engine.Action) (postponed bool, failed error) {
	for _, action := range actions {
		if _, records := action.(engine.RecordEvent); failed != nil && !records {
			continue
		}
		written, err := x.doOne(ctx, action)
		if errors.Is(err, errPostponed) {
			postponed, err = true, nil
		}
		if err != nil {
			failed = err
			continue
		}
		x.progress = x.progress.After(action, written...)
	}
	return postponed, failed
}

// doOne returns the objects that were written, as the API server has them then.
func (x *execution) doOne(ctx context.Context, action engine.Action) ([]*unstructured.Unstructured, error) {
	switch a := action.(type) {
	case engine.Apply:
		return x.apply(ctx, a.Object)
	case engine.ApplyInPlace:
		return x.applyInPlace(ctx, a.Object)
	case engine.ApplyTopology:
		return x.applyTopology(ctx, a.Object)
	case engine.Pause:
		return x.pause(ctx, a)
	case engine.Restore:
		return nil, x.restore(ctx, a.Objects)
	case engine.Remove:
		return nil, x.remove(ctx, a.Object)
	case engine.Annotate:
		return nil, x.annotate(ctx, a)
	case engine.Transfer:
		return nil, x.transfer(ctx, a)
	case engine.RecordHold:
		x.recordHold(ctx, a.Hold)
	case engine.RecordEvent:
		x.c.recordEvent(ctx, x.key, x.uid, a.Reason, a.Message)
	case engine.Warn:
		x.Warn(a.Text)
	}
	return nil, nil
}

// apply writes an object, with the fields of others that the upgrade takes over.
func (x *execution) apply(ctx context.Context, object *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	var now *unstructured.Unstructured
	write := func(options ...client.ApplyOption) error {
		return x.c.whileHeld(ctx, func() error {
			now = object.DeepCopy()
			return x.c.Apply(ctx, client.ApplyConfigurationFromUnstructured(now), append(options, FieldOwner)...)
		})
	}
	var err error
	if x.Takeover.All {
		err = write(client.ForceOwnership)
	} else if err = write(); len(fieldConflicts(err)) > 0 {
		_, refused, unread := x.c.judged(ctx, object, err, x.Takeover)
		switch {
		case unread != nil:
			return nil, unread
		case len(refused) > 0:
			return nil, conflictOf(refused)
		}
		err = write(client.ForceOwnership)
	}
	if err != nil {
		return nil, fmt.Errorf("applying %s: %w", changes.ObjectName(object), err)
	}
	x.wrote[changes.ObjectName(object)] = written{object, now.GetGeneration()}
	return []*unstructured.Unstructured{now}, nil
}

// applyInPlace writes an object with its live values of the fields that replace
// machines.
func (x *execution) applyInPlace(ctx context.Context, object *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	var live *unstructured.Unstructured
	err := x.c.retrying(ctx, func() (err error) {
		live, err = x.c.live(ctx, object)
		return err
	})
	if apierrors.IsNotFound(err) {
		return nil, &engine.StalePlanError{Cluster: x.key.String(), Reasons: []string{changes.ObjectName(object) + " was deleted"}}
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", changes.ObjectName(object), err)
	}
	held := object.DeepCopy()
	if err := changes.HoldOwned(held, live, string(FieldOwner)); err != nil {
		return nil, err
	}
	return x.apply(ctx, held)
}

// restore writes the templates that live objects refer to and that are not there. They
// are named after their content, so that no machine is replaced for one that is back.
func (x *execution) restore(ctx context.Context, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if !changes.IsTemplate(object.GetKind()) {
			continue
		}
		missed := false
		err := x.c.retrying(ctx, func() error {
			_, err := x.c.live(ctx, object)
			if apierrors.IsNotFound(err) {
				missed, err = x.c.missed(ctx, object, objects)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("reading %s: %w", changes.ObjectName(object), err)
		}
		if !missed {
			continue
		}
		if _, err := x.apply(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes a MachineDeployment with its machines.
func (x *execution) remove(ctx context.Context, object string) error {
	_, name, _ := strings.Cut(object, "/")
	deployment := &clusterv1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: x.key.Namespace, Name: name}}
	err := x.c.whileHeld(ctx, func() error {
		return client.IgnoreNotFound(x.c.Delete(ctx, deployment, client.PropagationPolicy(metav1.DeletePropagationForeground)))
	})
	if err != nil {
		return fmt.Errorf("deleting %s: %w", object, err)
	}
	return nil
}

// annotate gives an object one annotation.
func (x *execution) annotate(ctx context.Context, a engine.Annotate) error {
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, a.Key, a.Value))
	err := x.c.whileHeld(ctx, func() error { return client.IgnoreNotFound(x.c.Patch(ctx, a.Object.DeepCopy(), patch, FieldOwner)) })
	if err != nil {
		return fmt.Errorf("annotating %s: %w", changes.ObjectName(a.Object), err)
	}
	return nil
}

// recordHold says on the Cluster what its upgrade waits for.
func (x *execution) recordHold(ctx context.Context, hold *state.Hold) {
	if err := x.c.setHeldCondition(ctx, x.key, hold); err != nil && ctx.Err() == nil {
		x.Warn(fmt.Sprintf("writing to the Cluster what its upgrade waits for: %v", err))
	}
}

// pause writes the Cluster, paused, with a mark that says why.
func (x *execution) pause(ctx context.Context, a engine.Pause) ([]*unstructured.Unstructured, error) {
	mark, err := x.c.PauseMark(state.Pause{Why: a.Why})
	if err != nil {
		return nil, err
	}
	paused := a.Object.DeepCopy()
	for _, field := range []struct {
		value any
		path  []string
	}{{true, []string{"spec", "paused"}}, {mark, []string{"metadata", "annotations", v1alpha1.PauseAnnotation}}} {
		if err := unstructured.SetNestedField(paused.Object, field.value, field.path...); err != nil {
			return nil, err
		}
	}
	written, err := x.apply(ctx, paused)
	if err != nil {
		return nil, err
	}
	return written, x.change(ctx, "Cluster", x.key.Name, func(cluster *unstructured.Unstructured) error {
		return editEntries(cluster, func(name string, _ map[string]any) (bool, error) { return !slices.Contains(a.Drop, name), nil })
	})
}
