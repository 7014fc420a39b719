package management

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/observe"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Hold holds up the upgrades of a cluster at a place, for a reason. It is false where
// the cluster is held there already by the same person for the same reason.
func (c *Client) Hold(ctx context.Context, key client.ObjectKey, point state.HoldPoint, reason string) (bool, error) {
	hold := state.Hold{Point: point, Reason: reason, By: person(), Since: c.opts().Clock.Now().UTC().Truncate(time.Second), Annotation: point.Annotation(), Cluster: key}
	value, err := hold.Value()
	if err != nil {
		return false, err
	}
	changed := false
	cluster, err := c.annotate(ctx, key, func(cluster *clusterv1.Cluster) error {
		changed = false
		for _, there := range observe.Holds(cluster) {
			switch {
			case there.Annotation != hold.Annotation:
			case there.Reason == hold.Reason && there.By == hold.By:
				return nil
			default:
				return &RefusedError{Check: "held", Reason: fmt.Sprintf("cluster %s is %s; lift that hold first", key, there)}
			}
		}
		metav1.SetMetaDataAnnotation(&cluster.ObjectMeta, hold.Annotation, value)
		changed = true
		return nil
	})
	if refused := (*RefusedError)(nil); errors.As(err, &refused) {
		return false, refused
	}
	if err != nil {
		return false, c.explain(ctx, fmt.Errorf("holding cluster %s: %w", key, err))
	}
	if changed {
		c.recordEvent(ctx, key, string(cluster.UID), "Held", hold.String())
	}
	return changed, nil
}

// Release lifts the holds at places, and returns those that were there.
func (c *Client) Release(ctx context.Context, key client.ObjectKey, points []state.HoldPoint) ([]state.Hold, error) {
	var lifted []state.Hold
	cluster, err := c.annotate(ctx, key, func(cluster *clusterv1.Cluster) error {
		lifted = nil
		for _, hold := range observe.Holds(cluster) {
			if hold.Ours() && slices.Contains(points, hold.Point) {
				lifted = append(lifted, hold)
				delete(cluster.Annotations, hold.Annotation)
			}
		}
		return nil
	})
	if err != nil {
		return nil, c.explain(ctx, fmt.Errorf("releasing cluster %s: %w", key, err))
	}
	if err := c.forgetHeld(ctx, key, cluster, lifted); err != nil {
		return nil, c.explain(ctx, fmt.Errorf("removing condition %s from cluster %s: %w", v1alpha1.HeldCondition, key, err))
	}
	for _, hold := range lifted {
		c.recordEvent(ctx, key, string(cluster.UID), "Released", fmt.Sprintf("%s lifted what was %s", person(), hold))
	}
	return lifted, nil
}

// forgetHeld removes the condition about a hold that was lifted: the run of the upgrade
// may have ended. A run that waits at another hold by now reports that one again.
func (c *Client) forgetHeld(ctx context.Context, key client.ObjectKey, cluster *clusterv1.Cluster, lifted []state.Hold) error {
	waits := meta.FindStatusCondition(cluster.Status.Conditions, v1alpha1.HeldCondition)
	if waits == nil || !slices.ContainsFunc(lifted, func(h state.Hold) bool { return h.Point.Hook() == waits.Reason }) {
		return nil
	}
	return c.setHeldCondition(ctx, key, nil)
}

// annotate changes the annotations of a Cluster, unless someone else changed it at the
// same time.
func (c *Client) annotate(ctx context.Context, key client.ObjectKey, change func(*clusterv1.Cluster) error) (*clusterv1.Cluster, error) {
	var cluster clusterv1.Cluster
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cluster = clusterv1.Cluster{}
		if err := c.Get(ctx, key, &cluster); err != nil {
			return err
		}
		before := cluster.DeepCopy()
		if err := change(&cluster); err != nil {
			return err
		}
		patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		if len(before.Annotations) == len(cluster.Annotations) {
			return nil // one is added, or some are taken away
		}
		return c.Patch(ctx, &cluster, patch, FieldOwner)
	})
	return &cluster, err
}

// person names who runs clusterctl-x, and where.
func person() string {
	name := "somebody"
	if current, err := user.Current(); err == nil {
		name = current.Username
	}
	host, err := os.Hostname()
	if err != nil {
		return name
	}
	return name + "@" + host
}

// setHeldCondition writes the condition of a Cluster whose upgrade waits at a hold, or takes
// it away.
func (c *Client) setHeldCondition(ctx context.Context, key client.ObjectKey, hold *state.Hold) error {
	cluster := &unstructured.Unstructured{}
	cluster.SetGroupVersionKind(clusterv1.GroupVersion.WithKind("Cluster"))
	cluster.SetNamespace(key.Namespace)
	cluster.SetName(key.Name)
	conditions := []any{}
	if hold != nil {
		conditions = append(conditions, map[string]any{
			"type": v1alpha1.HeldCondition, "status": string(metav1.ConditionTrue), "reason": hold.Point.Hook(), "message": hold.String(),
			"lastTransitionTime": c.opts().Clock.Now().UTC().Format(time.RFC3339),
		})
	}
	if err := unstructured.SetNestedSlice(cluster.Object, conditions, "status", "conditions"); err != nil {
		return err
	}
	return c.whileHeld(ctx, func() error {
		return client.IgnoreNotFound(c.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(cluster), FieldOwner, client.ForceOwnership))
	})
}
