package management

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/observe"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Observe returns the state of a cluster, and false if there is none.
func (c *Client) Observe(ctx context.Context, key client.ObjectKey) (state.Cluster, bool, error) {
	cluster, _, err := observe.Cluster(ctx, c.Client, c.Client, key, c.options.BootstrapFailures...)
	if apierrors.IsNotFound(err) {
		return state.Cluster{}, false, nil
	}
	if err != nil {
		return state.Cluster{}, false, c.explain(ctx, fmt.Errorf("reading cluster %s: %w", key, err))
	}
	return cluster, true, nil
}

// Filter chooses clusters.
type Filter = observe.Filter

// Clusters returns the states of the clusters that a filter chooses, sorted by namespace
// and name.
func (c *Client) Clusters(ctx context.Context, filter Filter) ([]state.Cluster, error) {
	clusters, _, err := observe.Clusters(ctx, c.Client, c.Client, filter, c.options.BootstrapFailures...)
	if err != nil {
		return nil, c.explain(ctx, fmt.Errorf("listing clusters: %w", err))
	}
	return clusters, nil
}

// Namespaces returns the names of all namespaces, sorted.
func (c *Client) Namespaces(ctx context.Context) ([]string, error) {
	var namespaces corev1.NamespaceList
	if err := c.List(ctx, &namespaces); err != nil {
		return nil, c.explain(ctx, fmt.Errorf("listing namespaces: %w", err))
	}
	names := make([]string, len(namespaces.Items))
	for i, namespace := range namespaces.Items {
		names[i] = namespace.Name
	}
	slices.Sort(names)
	return names, nil
}

// ErrNotFound says that there is no such cluster.
var ErrNotFound = fmt.Errorf("not found")

// Kubeconfig returns the administrator's kubeconfig of a cluster.
func (c *Client) Kubeconfig(ctx context.Context, key client.ObjectKey) ([]byte, error) {
	var cluster clusterv1.Cluster
	if err := c.Get(ctx, key, &cluster); apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("cluster %s: %w", key, ErrNotFound)
	} else if err != nil {
		return nil, c.explain(ctx, fmt.Errorf("reading cluster %s: %w", key, err))
	}
	var kubeconfig corev1.Secret
	err := c.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: secret.Name(key.Name, secret.Kubeconfig)}, &kubeconfig)
	if apierrors.IsNotFound(err) {
		return nil, &RefusedError{Check: "no-kubeconfig-yet", Reason: fmt.Sprintf("cluster %s has no kubeconfig yet: its control plane is not initialized; 'clusterctl-x describe cluster %s -n %s' says why", key, key.Name, key.Namespace)}
	}
	if err != nil {
		return nil, c.explain(ctx, fmt.Errorf("reading the kubeconfig of cluster %s: %w", key, err))
	}
	return kubeconfig.Data[secret.KubeconfigDataName], nil
}
