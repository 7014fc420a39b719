package lifecycle

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Hold holds up the upgrades of a cluster at a place, for a reason. It reports whether that
// changed anything. A hold that nothing would keep to is refused.
func (s *Service) Hold(ctx context.Context, key types.NamespacedName, point state.HoldPoint, reason string) (bool, error) {
	cluster, err := s.find(ctx, key)
	if err != nil {
		return false, err
	}
	if cluster.Topology != nil {
		kept, err := s.client.KeepsHolds(ctx, key.Namespace, point)
		if err != nil {
			return false, err
		}
		if !kept {
			return false, &management.RefusedError{Check: "hold-unkept", Reason: fmt.Sprintf(
				"cluster %s is from a ClusterClass, and Cluster API calls no runtime extension %s: run 'clusterctl-x serve runtime-extension --register', or deploy it as docs/runtime-extension.md says", key, point)}
		}
	}
	return s.client.Hold(ctx, key, point, reason)
}

// warnUnkept warns of holds that nothing enforces: those that were set by hand, or
// before the runtime extension was removed.
func (s *Service) warnUnkept(ctx context.Context, cluster state.Cluster) {
	if cluster.Topology == nil {
		return
	}
	key := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}
	for _, hold := range cluster.Holds {
		switch kept, err := s.client.KeepsHolds(ctx, key.Namespace, hold.Point); {
		case err != nil:
			s.options.warn("it is unknown whether anything enforces that cluster %s is %s: %v", key, hold, err)
		case !kept:
			s.options.warn("Cluster API calls no runtime extension %s, so the upgrade does not wait there, although cluster %s is %s", hold.Point, key, hold)
		}
	}
}

// Release lifts the holds of clusterctl-x at hold points, and returns them together
// with the holds of others there, which stay.
func (s *Service) Release(ctx context.Context, key types.NamespacedName, points []state.HoldPoint) (lifted, left []state.Hold, err error) {
	cluster, err := s.find(ctx, key)
	if err != nil {
		return nil, nil, err
	}
	if lifted, err = s.client.Release(ctx, key, points); err != nil {
		return nil, nil, err
	}
	for _, hold := range cluster.Holds {
		if !hold.Ours() && slices.Contains(points, hold.Point) {
			left = append(left, hold)
		}
	}
	return lifted, left, nil
}
