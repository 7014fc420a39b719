package lifecycle

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/observe"
)

// ClustersOfRealMachines returns the clusters whose machines exist outside of the management
// cluster, in the order of the API server: all but those of providers of simulated machines.
func (s *Service) ClustersOfRealMachines(ctx context.Context) ([]types.NamespacedName, error) {
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
