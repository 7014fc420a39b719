package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/controlplanes"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// maxPlanned is how many clusters are planned for at the same time.
const maxPlanned = 8

// ClusterPlan is the plan for one of several clusters.
type ClusterPlan struct {
	Key  types.NamespacedName
	Plan plan.Plan
	// Err is why there is no plan.
	Err error
}

// PlanVersionChange plans the change of versions of a cluster that exists. Nothing is
// written.
func (s *Service) PlanVersionChange(ctx context.Context, key types.NamespacedName, change VersionChange, o UpgradeOptions) (Upgrade, error) {
	cluster, err := s.upgradable(ctx, key)
	if err != nil {
		return Upgrade{}, err
	}
	cluster = cluster.Claim(cluster.Unclaimed())
	from := currentOf(cluster)
	if from.recorded, err = s.record(ctx, key); err != nil {
		return Upgrade{}, err
	}
	if from.live, err = s.client.VersionedObjects(ctx, key); err != nil {
		return Upgrade{}, err
	}
	kind := controlplanes.Of(from.live.ControlPlane.GetKind())
	if reason := kind.Refusal(from.live.ControlPlane); reason != "" && cluster.Topology == nil {
		return Upgrade{}, &management.RefusedError{Check: "control-plane-version", Reason: reason}
	}
	spec, err := s.specOf(change, from)
	if err != nil {
		return Upgrade{}, err
	}
	from.metadata = plan.MetadataOf(cluster, fingerprint(spec.data), o.Scope.Groups...)
	if err := errors.Join(scope{o.Scope}.check(spec)...); err != nil {
		return Upgrade{}, err
	}
	if cluster.Topology != nil {
		if spec, err = s.observeTopology(ctx, spec, &from); err == nil {
			err = scope{o.Scope}.checkDetached(cluster, from.topology.hasVersions())
		}
		if err != nil {
			return Upgrade{}, err
		}
	}
	l := s.live(key)
	return prepare(ctx, spec, from, source{comparer: l, topology: l}, o, s.options)
}

// PlanVersionChanges plans a change of versions for each cluster of a selection, in their
// order. Nothing is rendered and nothing is tried on the API server: what the upgrade of a
// single cluster would be refused for is what PlanVersionChange says.
func (s *Service) PlanVersionChanges(ctx context.Context, of Selection, change VersionChange) ([]ClusterPlan, error) {
	clusters, err := s.Clusters(ctx, of)
	if err != nil {
		return nil, err
	}
	classes, err := s.classesOf(ctx, clusters)
	if err != nil {
		return nil, err
	}
	plans := make([]ClusterPlan, len(clusters))
	var tasks errgroup.Group
	tasks.SetLimit(maxPlanned)
	for i, cluster := range clusters {
		tasks.Go(func() error {
			key := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}
			p, err := s.outlinePlan(ctx, key, cluster, change, classes)
			if err != nil {
				err = fmt.Errorf("cluster %s: %w", key, err)
			}
			plans[i] = ClusterPlan{Key: key, Plan: p, Err: err}
			return nil
		})
	}
	return plans, tasks.Wait()
}

// classesOf reads the ClusterClasses of clusters, each once, by namespace/name.
func (s *Service) classesOf(ctx context.Context, clusters []state.Cluster) (map[string]topology.Class, error) {
	classes := map[string]topology.Class{}
	for _, cluster := range clusters {
		if cluster.Topology == nil {
			continue
		}
		namespace, name, _ := strings.Cut(cluster.Topology.Class, "/")
		if _, known := classes[cluster.Topology.Class]; known {
			continue
		}
		class, exists, err := s.client.ClassAlone(ctx, types.NamespacedName{Namespace: namespace, Name: name})
		if err != nil {
			return nil, err
		}
		if exists {
			classes[cluster.Topology.Class] = class
		}
	}
	return classes, nil
}

// outlinePlan plans by versions and numbers of machines alone.
func (s *Service) outlinePlan(ctx context.Context, key types.NamespacedName, cluster state.Cluster, change VersionChange, classes map[string]topology.Class) (plan.Plan, error) {
	if err := checkUpgradable(key, cluster); err != nil {
		return plan.Plan{}, err
	}
	cluster = cluster.Claim(cluster.Unclaimed())
	from := currentOf(cluster)
	var err error
	if from.recorded, err = s.record(ctx, key); err != nil {
		return plan.Plan{}, err
	}
	spec, err := s.specOf(change, from)
	if err != nil {
		return plan.Plan{}, err
	}
	if cluster.Topology != nil {
		class, exists := classes[cluster.Topology.Class]
		if !exists {
			return plan.Plan{}, &management.RefusedError{Check: "class-missing", Reason: fmt.Sprintf("ClusterClass %s, which the cluster is made from, is gone; apply it again", cluster.Topology.Class)}
		}
		spec.class, from.running = &class, runningOf(cluster)
	}
	r, err := newRequest(spec, from, from.running, UpgradeOptions{}, s.options)
	if err != nil {
		return plan.Plan{}, err
	}
	in := r.planInput()
	if cluster.Topology != nil {
		if in.TopologyPath, err = pathOf(ctx, spec, in, cluster.Topology.Version, cluster.Topology.Deferred(), s.live(key)); err != nil {
			return plan.Plan{}, err
		}
	}
	p, err := plan.Compute(in)
	p.Notes = append(p.Notes, groupNotes(cluster, p)...)
	return p, err
}
