package lifecycle

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// WatchStep calls show with the state of a cluster, first with the current one and then
// after each change, until a step of a plan is done that others take, such as a GitOps tool.
// It returns the last state.
func (s *Service) WatchStep(ctx context.Context, key types.NamespacedName, of plan.Plan, step int, show func(Watched)) (Watched, error) {
	var seen Watched
	if err := of.CheckStep(step); err != nil {
		return seen, err
	}
	if of.Metadata.Name != key.Name {
		return seen, fmt.Errorf("the plan is about cluster %s, not %s", of.Metadata.Name, key.Name)
	}
	if _, err := s.find(ctx, key); err != nil {
		return seen, err
	}
	err := s.client.Watch(ctx, key, func(cluster state.Cluster, exists bool) (bool, error) {
		if seen.Gone = !exists; seen.Gone {
			return true, nil
		}
		seen.Cluster = cluster.Claim(cluster.Unclaimed())
		for done := range step {
			if !of.HasReached(done+1, seen.Cluster) {
				seen.Left.Steps = of.Steps[done:step]
				show(seen)
				return false, management.Stuck(cluster)
			}
		}
		seen.Left.Steps = nil
		show(seen)
		return true, nil
	})
	return seen, err
}
