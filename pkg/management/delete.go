package management

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// leftoverPoll is how often the kinds of a namespace are listed after the
// Cluster is gone, while the garbage collector removes the rest.
const leftoverPoll = 500 * time.Millisecond

// Deletion says how to delete a cluster.
type Deletion struct {
	// Wait until everything is gone.
	Wait bool
	// TakeOver and Waiting are those of a Claim.
	TakeOver bool
	Waiting  func(HeldLock)
	// Progress is called with the state of the cluster while it goes away.
	Progress func(state.Cluster)
}

// DeleteCluster deletes a cluster and everything that belongs to it, and
// returns, unless it is not to wait, when all of it is gone. It returns false
// where there was nothing. It is refused while other clusters name this one as
// their management cluster. It holds the lock of the cluster until it returns.
func (c *Client) DeleteCluster(ctx context.Context, key client.ObjectKey, deletion Deletion) (bool, error) {
	kinds, err := c.namespacedKinds()
	if err != nil {
		return false, c.explain(ctx, err)
	}
	before, err := c.belongings(ctx, kinds, key)
	if err != nil {
		return false, err
	}
	if len(before) == 0 {
		return false, nil
	}
	if err := c.checkManagesNone(ctx, key); err != nil {
		return false, err
	}
	ctx, release, err := c.Lock(ctx, key, Claim{Unowned: true, TakeOver: deletion.TakeOver, Waiting: deletion.Waiting})
	if err != nil {
		return true, err
	}
	defer release()
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	if err := c.whileHeld(ctx, func() error { return c.Delete(ctx, cluster) }); client.IgnoreNotFound(err) != nil {
		return true, c.explain(ctx, fmt.Errorf("deleting cluster %s: %w", key, err))
	}
	if !deletion.Wait {
		return true, nil
	}
	err = c.Watch(ctx, key, func(cluster state.Cluster, exists bool) (bool, error) {
		if exists {
			deletion.Progress(cluster)
		}
		return !exists, nil
	})
	if err != nil {
		return true, err
	}
	return true, c.removeLeftovers(ctx, kinds, key)
}

func (c *Client) checkManagesNone(ctx context.Context, key client.ObjectKey) error {
	var managed clusterv1.ClusterList
	if err := c.List(ctx, &managed, client.MatchingLabels{v1alpha1.ManagementClusterLabel: key.Name}); err != nil {
		return c.explain(ctx, fmt.Errorf("looking for clusters that %s manages: %w", key, err))
	}
	var names []string
	for _, cluster := range managed.Items {
		if cluster.Name != key.Name { // else it manages itself, in whichever namespace
			names = append(names, cluster.Namespace+"/"+cluster.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return &RefusedError{Check: "manages-clusters", Reason: fmt.Sprintf("cluster %s is the management cluster of %s; delete these first, or change their spec.managementCluster", key, strings.Join(names, ", "))}
}

// removeLeftovers waits until nothing that belongs to the cluster is left. It deletes
// objects without an owner, and leaves others to the garbage collector.
func (c *Client) removeLeftovers(ctx context.Context, kinds []schema.GroupVersionKind, key client.ObjectKey) error {
	var left []metav1.PartialObjectMetadata
	err := wait.PollUntilContextCancel(ctx, leftoverPoll, true, func(ctx context.Context) (bool, error) {
		found, err := c.belongings(ctx, kinds, key)
		if err != nil {
			return false, err // what was left the last time is still the best that is known
		}
		left = found
		for i := range left {
			if len(left[i].OwnerReferences) > 0 || !left[i].DeletionTimestamp.IsZero() {
				continue
			}
			if err := c.Delete(ctx, &left[i], propagation(left[i])); client.IgnoreNotFound(err) != nil {
				return false, fmt.Errorf("deleting %s/%s: %w", left[i].Kind, left[i].Name, err)
			}
		}
		return len(left) == 0, nil
	})
	if err == nil {
		return nil
	}
	switch {
	case ctx.Err() == nil:
		return c.explain(ctx, err)
	case len(left) == 0: // else it would be gone
		return fmt.Errorf("%w: what is still there could not be listed", timedOut(ctx))
	default:
		return fmt.Errorf("%w: still there: %s", timedOut(ctx), describe(left))
	}
}

// propagation returns the deletion policy for the dependents of an object. A
// ClusterResourceSet owns the ConfigMaps and Secrets that it applies, and these may be
// the user's: they stay, except for those with the cluster's label.
func propagation(object metav1.PartialObjectMetadata) client.PropagationPolicy {
	if object.Kind == "ClusterResourceSet" {
		return client.PropagationPolicy(metav1.DeletePropagationOrphan)
	}
	return client.PropagationPolicy(metav1.DeletePropagationBackground)
}

func describe(objects []metav1.PartialObjectMetadata) string {
	names := make([]string, len(objects))
	for i, object := range objects {
		names[i] = object.Kind + "/" + object.Name
		if len(object.Finalizers) > 0 {
			names[i] += fmt.Sprintf(" (finalizers %s)", strings.Join(object.Finalizers, ", "))
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// belongings are all objects of any kind that carry the cluster's label, ours
// or Cluster API's, sorted.
func (c *Client) belongings(ctx context.Context, kinds []schema.GroupVersionKind, key client.ObjectKey) ([]metav1.PartialObjectMetadata, error) {
	var all []metav1.PartialObjectMetadata
	seen := map[string]bool{}
	for _, label := range []string{v1alpha1.ClusterLabel, clusterv1.ClusterNameLabel} {
		named, err := labels.NewRequirement(label, selection.Equals, []string{key.Name})
		if err != nil {
			return nil, err
		}
		for _, kind := range kinds {
			list := &metav1.PartialObjectMetadataList{}
			list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
			err := c.List(ctx, list, client.InNamespace(key.Namespace), client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*named)})
			if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
				continue
			}
			if err != nil {
				return nil, c.explain(ctx, fmt.Errorf("listing every %s of cluster %s: %w", kind.Kind, key, err))
			}
			for _, item := range list.Items {
				if id := kind.String() + item.Name; !seen[id] {
					seen[id] = true
					item.SetGroupVersionKind(kind)
					all = append(all, item)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b metav1.PartialObjectMetadata) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return all, nil
}

// namespacedKinds are the kinds in which something of a cluster may be kept:
// those of Cluster API and its providers, and Secrets and ConfigMaps.
func (c *Client) namespacedKinds() ([]schema.GroupVersionKind, error) {
	lists, err := c.discovery.ServerPreferredNamespacedResources()
	// A broken API service hides its own kinds only.
	if partial := (*discovery.ErrGroupDiscoveryFailed)(nil); err != nil && !errors.As(err, &partial) {
		return nil, fmt.Errorf("asking for the kinds of objects: %w", err)
	}
	var kinds []schema.GroupVersionKind
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, resource := range list.APIResources {
			ofClusterAPI := gv.Group == clusterv1.GroupVersion.Group || strings.HasSuffix(gv.Group, "."+clusterv1.GroupVersion.Group)
			ofCore := gv.Group == "" && (resource.Kind == "Secret" || resource.Kind == "ConfigMap")
			if (ofClusterAPI || ofCore) && slices.Contains(resource.Verbs, "list") && slices.Contains(resource.Verbs, "delete") {
				kinds = append(kinds, gv.WithKind(resource.Kind))
			}
		}
	}
	return kinds, nil
}
