package lifecycle

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Description is a cluster with what is known about it.
type Description struct {
	Cluster state.Cluster
	// Lags are the worker node groups that are pinned or behind the control plane.
	Lags []plan.Lag
	// Postponed are the changes that Cluster API postpones.
	Postponed []string
	// Variables of the ClusterClass.
	Variables []topology.Variable
	// Unreached are the detached groups that the last change of the ClusterClass has not
	// reached.
	Unreached []string
}

// Describe describes a cluster.
func (s *Service) Describe(ctx context.Context, key types.NamespacedName) (Description, error) {
	cluster, err := s.find(ctx, key)
	if err != nil {
		return Description{}, err
	}
	last, err := s.lastApplied(ctx, key)
	if err != nil {
		return Description{}, err
	}
	d := Description{Cluster: cluster, Lags: last.lags(cluster), Postponed: cluster.Postponed()}
	if err := s.describeClass(ctx, &d); err != nil {
		s.options.warn("its ClusterClass cannot be read: %v", err)
	}
	return d, nil
}

// describeClass adds what the class of a cluster says about it. Without its class
// there is nothing to say.
func (s *Service) describeClass(ctx context.Context, d *Description) error {
	if d.Cluster.Topology == nil {
		return nil
	}
	cluster, err := s.client.LiveCluster(ctx, types.NamespacedName{Namespace: d.Cluster.Namespace, Name: d.Cluster.Name})
	if err != nil {
		return err
	}
	class, exists, err := s.client.ClassAlone(ctx, cluster.GetClassKey())
	if err != nil || !exists {
		return err
	}
	d.Variables = topology.Variables(class.ClusterClass, cluster)
	content, err := class.Content()
	for _, group := range d.Cluster.WorkerNodeGroups {
		if group.Detached && group.MadeFrom != content {
			d.Unreached = append(d.Unreached, group.Name)
		}
	}
	return err
}

// Delete deletes a cluster and everything that belongs to it. It reports whether there
// was anything.
func (s *Service) Delete(ctx context.Context, key types.NamespacedName, deletion management.Deletion) (bool, error) {
	deletion.Waiting = s.options.Waiting
	if deletion.Progress == nil {
		deletion.Progress = func(state.Cluster) {}
	}
	return s.client.DeleteCluster(ctx, key, deletion)
}
