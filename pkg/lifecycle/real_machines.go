package lifecycle

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/observe"
)

// CheckRemovable refuses, with a *management.RefusedError, to remove the embedded management
// cluster of this name while it has clusters of real machines.
func (s *Service) CheckRemovable(ctx context.Context, name string) error {
	clusters, err := s.clustersOfRealMachines(ctx)
	if err != nil || len(clusters) == 0 {
		return err
	}
	names := make([]string, len(clusters))
	for i, cluster := range clusters {
		names[i] = cluster.String()
	}
	return &management.RefusedError{Check: "real-machines", Reason: fmt.Sprintf(
		"embedded management cluster %q manages clusters of real machines, which would go on without it: %s; delete them with 'clusterctl-x delete cluster', or save them with 'clusterctl-x backup management --to DIR' and add --abandon-clusters",
		name, strings.Join(names, ", "))}
}

// clustersOfRealMachines returns the clusters whose machines exist outside of the management
// cluster, in the order of the API server: all but those of providers of simulated machines.
func (s *Service) clustersOfRealMachines(ctx context.Context) ([]types.NamespacedName, error) {
	var clusters clusterv1.ClusterList
	if err := s.client.List(ctx, &clusters); err != nil {
		return nil, s.client.Explain(ctx, fmt.Errorf("listing clusters: %w", err))
	}
	var found []types.NamespacedName
	for _, cluster := range clusters.Items {
		simulated, err := s.simulated(ctx, cluster)
		if err != nil {
			return nil, s.client.Explain(ctx, fmt.Errorf("reading the infrastructure of cluster %s/%s: %w", cluster.Namespace, cluster.Name, err))
		}
		if !simulated {
			found = append(found, types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name})
		}
	}
	return found, nil
}

// simulated reports whether the machines of a cluster are simulated. Where the infrastructure
// is not there to tell they may be real.
func (s *Service) simulated(ctx context.Context, cluster clusterv1.Cluster) (bool, error) {
	ref := cluster.Spec.InfrastructureRef
	if !ref.IsDefined() {
		return false, nil
	}
	infrastructure, err := observe.Referred(ctx, s.client, cluster.Namespace, schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind}, ref.Name)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return false, nil
	}
	return err == nil && s.options.Providers.Simulates(infrastructure), err
}
