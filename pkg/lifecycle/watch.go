package lifecycle

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/clusterclass"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/skew"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// Watched is the last observed state of a cluster.
type Watched struct {
	Cluster state.Cluster
	// Gone is true where the cluster does not exist.
	Gone bool
	// Left are the steps that are left.
	Left plan.Plan
	// Unknown is why the steps that are left cannot be told.
	Unknown error
}

// Watch calls show with the state of a cluster, first with the current one and then
// after each change, until the cluster is done and no run works on it. It returns the
// last state.
func (s *Service) Watch(ctx context.Context, key types.NamespacedName, show func(Watched)) (Watched, error) {
	var seen Watched
	if _, err := s.find(ctx, key); err != nil {
		return seen, err
	}
	last, err := s.lastApplied(ctx, key)
	if err != nil {
		return seen, err
	}
	deviation := last.deviations()
	err = s.client.Watch(ctx, key, func(cluster state.Cluster, exists bool) (bool, error) {
		if seen.Gone = !exists; seen.Gone {
			return true, nil
		}
		seen.Cluster = cluster
		seen.Left, seen.Unknown = last.left(ctx, cluster)
		if text := deviation(cluster); text != "" {
			s.warn(text)
		}
		show(seen)
		if !cluster.Done() || seen.Left.Empty() {
			return cluster.Done(), management.Stuck(cluster)
		}
		// Another run takes the next step, or none does.
		held, err := s.client.HeldLocks(ctx, key)
		return len(held) == 0, err
	})
	return seen, err
}

// lastApplied is the spec that was last applied to a cluster; the zero value if that is
// not known.
type lastApplied struct {
	resolved validations.Resolved
	spec     Spec
	// plan that was followed last; nil for a cluster without a ClusterClass.
	plan *plan.Plan
	// server knows the paths of clusters from a ClusterClass.
	server topologyServer
	// unread is why the path of a cluster from a ClusterClass cannot be told.
	unread error
}

// lastApplied reads it from the cluster's record.
func (s *Service) lastApplied(ctx context.Context, key types.NamespacedName) (lastApplied, error) {
	record, _, err := s.client.Record(ctx, key)
	if refused := (*management.RefusedError)(nil); errors.As(err, &refused) && refused.Check == management.CheckPrivileges {
		return lastApplied{}, nil // as of a cluster without a record
	}
	if err != nil {
		return lastApplied{}, err
	}
	known := s.options.Providers
	config := configOf(record, known)
	if config == nil || record.Versions.ControlPlane.IsZero() {
		return lastApplied{}, nil
	}
	spec := Spec{Config: config, providers: known, bundles: s.options.Bundles.With(record.Releases)}
	if record.VersionOnly {
		spec.change = &VersionChange{}
	}
	k := lastApplied{resolved: validations.Resolved{Config: config, Provider: known.Of(config.Cluster), Versions: record.Versions}, spec: spec, plan: record.Plan, server: s.live(key)}
	if spec.managed() {
		// Without its class nothing can be told of the path, and all else can.
		class, exists, err := s.client.ClassAlone(ctx, clusterclass.Key(config, key.Namespace))
		switch {
		case err != nil:
			k.unread = fmt.Errorf("its ClusterClass cannot be read: %w", err)
		case !exists:
			k.unread = errors.New("its ClusterClass is gone")
		default:
			k.spec.class = &class
		}
	}
	return k, nil
}

// deviations returns a function that says how a cluster deviates from its plan, each
// deviation once.
func (k lastApplied) deviations() func(state.Cluster) string {
	step, said := 0, ""
	return func(cluster state.Cluster) string {
		if k.plan == nil || cluster.Topology == nil || cluster.Topology.Version.After(k.plan.To.ControlPlane) {
			return ""
		}
		var deviation string
		if step, deviation = k.plan.Follow(step, cluster); cluster.Done() {
			deviation = ""
		}
		if deviation == said {
			return ""
		}
		said = deviation
		return deviation
	}
}

// left is the plan that is left from the cluster as it is, by its versions. The
// error says why it cannot be told.
func (k lastApplied) left(ctx context.Context, cluster state.Cluster) (plan.Plan, error) {
	if k.resolved.Config == nil {
		return plan.Plan{}, errors.New("the cluster has no record that this version of clusterctl-x and you can read")
	}
	cluster = cluster.Claim(k.spec.claimsOf(cluster))
	if k.unread != nil {
		return plan.Plan{}, k.unread
	}
	in := k.spec.planInput(k.resolved, plan.StartOf(cluster))
	if k.spec.managed() && cluster.Topology != nil {
		path, err := pathOf(ctx, k.spec, in, cluster.Topology.Version, cluster.Topology.Deferred(), k.server)
		if err != nil {
			return plan.Plan{}, err
		}
		in.TopologyPath = path
	}
	return plan.Compute(in)
}

// pinned reports whether the spec gives a group a version of its own.
func (k lastApplied) pinned(group string) bool {
	if k.resolved.Config == nil {
		return false
	}
	for _, g := range k.resolved.Config.Cluster.Spec.WorkerNodeGroupConfigurations {
		if g.Name == group {
			return g.Pinned()
		}
	}
	return false
}

func (k lastApplied) lags(cluster state.Cluster) []plan.Lag {
	var policy skew.Policy
	if k.resolved.Config != nil {
		policy = validations.Policy(k.resolved.Config.Cluster)
	}
	return plan.Lags(cluster, k.pinned, policy)
}
