package management

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// ManagesItself reports whether a cluster, which may be missing, is this management cluster: its
// label says so, and its machines are nodes here.
func (c *Client) ManagesItself(ctx context.Context, key client.ObjectKey) (bool, error) {
	var cluster clusterv1.Cluster
	if err := c.Get(ctx, key, &cluster); apierrors.IsNotFound(err) {
		return false, nil
	} else if err != nil {
		return false, c.explain(ctx, fmt.Errorf("reading cluster %s: %w", key, err))
	}
	if cluster.Labels[v1alpha1.ManagementClusterLabel] != key.Name {
		return false, nil
	}
	var machines clusterv1.MachineList
	if err := c.List(ctx, &machines, client.InNamespace(key.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: key.Name}); err != nil {
		return false, c.explain(ctx, fmt.Errorf("listing the machines of cluster %s: %w", key, err))
	}
	ids := map[string]bool{}
	for _, machine := range machines.Items {
		if machine.Spec.ProviderID != "" {
			ids[machine.Spec.ProviderID] = true
		}
	}
	if len(ids) == 0 {
		return false, nil
	}
	var nodes corev1.NodeList
	if err := c.List(ctx, &nodes); err != nil {
		return false, c.explain(ctx, fmt.Errorf("listing the nodes of the management cluster: %w", err))
	}
	for _, node := range nodes.Items {
		if ids[node.Spec.ProviderID] {
			return true, nil
		}
	}
	return false, nil
}
