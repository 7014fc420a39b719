package lifecycle

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// RestartOptions say which machines are replaced.
type RestartOptions struct {
	// ControlPlane replaces the machines of the control plane, and Groups those of worker
	// node groups.
	ControlPlane bool
	Groups       []string
	// TakeOver takes over the locks of other runs that work on the cluster.
	TakeOver bool
}

// Restart replaces machines of a cluster by new ones of the same version. It does not wait
// until they are ready; WaitReady does. A cluster that is being upgraded or is not well is
// refused: its machines may be replaced at the moment.
func (s *Service) Restart(ctx context.Context, key types.NamespacedName, o RestartOptions) error {
	cluster, err := s.find(ctx, key)
	if err != nil {
		return err
	}
	parts, err := partsToRestart(cluster, o)
	if err != nil {
		return err
	}
	groups := o.Groups
	if o.ControlPlane {
		groups = nil // the lock of the whole cluster
	}
	held, release, err := s.client.Lock(ctx, key, management.Claim{Groups: groups, TakeOver: o.TakeOver, Waiting: s.options.Waiting})
	if err != nil {
		return err
	}
	defer release()
	return s.client.Restart(held, key, parts, management.Restarting{Command: s.command("restart"), Warn: s.warn})
}

// partsToRestart returns the parts, each of which must be as it was asked for.
func partsToRestart(cluster state.Cluster, o RestartOptions) ([]state.Part, error) {
	var parts []state.Part
	if o.ControlPlane {
		parts = append(parts, cluster.ControlPlane)
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(o.Groups))) {
		part, exists := cluster.Group(name)
		if !exists {
			return nil, &management.RefusedError{Check: "restart", Reason: fmt.Sprintf(
				"cluster %s/%s has no worker node group %s; it has %s", cluster.Namespace, cluster.Name, name, groupNames(cluster))}
		}
		parts = append(parts, part)
	}
	for _, part := range parts {
		if !part.Done() {
			return nil, &management.RefusedError{Check: "restart", Reason: fmt.Sprintf(
				"machines of %s of cluster %s/%s are not ready, or are being replaced; 'clusterctl-x watch cluster %s -n %s' says why, and waits", part.Name, cluster.Namespace, cluster.Name, cluster.Name, cluster.Namespace)}
		}
	}
	if cluster.Paused {
		return nil, &management.RefusedError{Check: "restart", Reason: fmt.Sprintf("cluster %s/%s is paused, so Cluster API would do nothing: set spec.paused to false", cluster.Namespace, cluster.Name)}
	}
	return parts, nil
}

func groupNames(cluster state.Cluster) string {
	var names []string
	for _, group := range cluster.WorkerNodeGroups {
		names = append(names, group.Name)
	}
	return strings.Join(names, ", ")
}
