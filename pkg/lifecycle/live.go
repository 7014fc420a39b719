package lifecycle

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/clusterclass"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// comparer says what a cluster would become.
type comparer interface {
	// Compare returns what applying the objects would change, in their order.
	Compare(ctx context.Context, objects []*unstructured.Unstructured) ([]changes.Change, error)
	// Unused returns the objects, as Kind/name, that are no longer needed if the given
	// ones are kept.
	Unused(ctx context.Context, keep []*unstructured.Unstructured) ([]string, error)
	// Differs reports whether there is a template of the name of another one with another
	// content.
	Differs(ctx context.Context, template *unstructured.Unstructured) (bool, error)
}

// topologyServer answers what only a management cluster knows about a cluster from a
// ClusterClass.
type topologyServer interface {
	// TryCluster returns what the API server would make of a Cluster.
	TryCluster(ctx context.Context, object *unstructured.Unstructured) (*clusterv1.Cluster, error)
	// SameTemplate returns the name of the template that a MachineDeployment refers to,
	// if its content is that of the given one, and otherwise nothing.
	SameTemplate(ctx context.Context, deployment string, template *unstructured.Unstructured) (string, error)
	// Asking returns a function that asks a runtime extension for upgrade plans.
	Asking(extension string) func(ctx context.Context, target, controlPlane, workers string) ([]string, []string, error)
}

// source is where an upgrade learns what a cluster would become.
type source struct {
	comparer
	// topology is nil for a cluster without a ClusterClass.
	topology topologyServer
}

// live is a cluster of a management cluster.
type live struct {
	*management.Client
	key     types.NamespacedName
	planner management.Planner
}

func (s *Service) live(key types.NamespacedName) *live {
	return &live{Client: s.client, key: key, planner: management.Planner{Certificates: s.options.Certificates}}
}

func (l *live) Unused(ctx context.Context, keep []*unstructured.Unstructured) ([]string, error) {
	return l.Client.Unused(ctx, l.key, keep)
}

func (l *live) Asking(extension string) func(ctx context.Context, target, controlPlane, workers string) ([]string, []string, error) {
	return l.planner.Asking(l.Client, l.key, extension)
}

// observe reads a live cluster and its record, and returns the spec with what these say
// about it.
func (s *Service) observe(ctx context.Context, spec Spec, about scope) (Spec, current, error) {
	key := s.keyOf(spec)
	cluster, err := s.upgradable(ctx, key)
	if err != nil {
		return spec, current{}, err
	}
	if err := clusterclass.CheckTopologyMode(spec.Config, cluster); err != nil {
		return spec, current{}, err
	}
	cluster = cluster.Claim(spec.claims())
	from := currentOf(cluster)
	from.metadata = plan.MetadataOf(cluster, fingerprint(spec.data), about.Groups...)
	if from.recorded, err = s.record(ctx, key); err != nil {
		return spec, current{}, err
	}
	spec.bundles = spec.bundles.With(from.recorded.Releases)
	if !from.recorded.VersionOnly {
		from.before = configOf(from.recorded, spec.providers)
	}
	if cluster.Topology == nil {
		return spec, from, nil
	}
	if spec, err = s.observeTopology(ctx, spec, &from); err != nil {
		return spec, from, err
	}
	return spec, from, about.checkDetached(cluster, from.topology.hasVersions())
}

// upgradable observes a cluster that an upgrade can be planned for.
func (s *Service) upgradable(ctx context.Context, key types.NamespacedName) (state.Cluster, error) {
	cluster, exists, err := s.client.Observe(ctx, key)
	switch {
	case err != nil:
		return cluster, err
	case !exists:
		return cluster, fmt.Errorf("cluster %s: %w; 'clusterctl-x create cluster' creates it", key, management.ErrNotFound)
	}
	return cluster, checkUpgradable(key, cluster)
}

// checkUpgradable refuses a cluster without versions to begin with.
func checkUpgradable(key types.NamespacedName, cluster state.Cluster) error {
	if !cluster.ControlPlane.Version.IsZero() {
		return nil
	}
	return &management.RefusedError{Check: "no-control-plane", Reason: fmt.Sprintf("the cluster has no control plane with a version yet; 'clusterctl-x describe cluster %s -n %s' says why", key.Name, key.Namespace)}
}

// record reads the record of a cluster. Where only a Secret can have it, and may not be
// read, planning goes on without.
func (s *Service) record(ctx context.Context, key types.NamespacedName) (management.Record, error) {
	record, _, err := s.client.Record(ctx, key)
	if refused := (*management.RefusedError)(nil); errors.As(err, &refused) && refused.Check == management.CheckPrivileges {
		s.options.warn("cluster %s has no record that you may read, so the plan does not know what was asked for before, nor versions that have left the bundles; the next upgrade writes one", key)
		return management.Record{}, nil
	}
	return record, err
}

// observeTopology reads what only clusters from a ClusterClass have.
func (s *Service) observeTopology(ctx context.Context, spec Spec, now *current) (Spec, error) {
	if reason := now.state.PutBack(); reason != "" {
		return spec, &management.RefusedError{Check: "group-put-back", Reason: reason}
	}
	key := types.NamespacedName{Namespace: now.state.Namespace, Name: now.state.Name}
	from := &currentTopology{}
	spec, err := spec.withClass(ctx, s.client, key.Namespace)
	if err != nil {
		return spec, err
	}
	if from.cluster, err = s.client.LiveCluster(ctx, key); err != nil {
		return spec, err
	}
	from.class = *spec.class
	if of := from.cluster.GetClassKey(); of.Name != from.class.Name || of.Namespace != from.class.Namespace {
		class, exists, err := s.client.Class(ctx, of)
		if err != nil {
			return spec, err
		}
		if !exists {
			return spec, &management.RefusedError{Check: "class-missing", Reason: fmt.Sprintf("ClusterClass %s, which cluster %s is made from, is gone; apply it again", of, key)}
		}
		from.class = class
		if err := spec.use().CheckRebase(class); err != nil {
			return spec, err
		}
	}
	from.takesVersions, err = s.takesTopologyVersions(ctx, spec, now.state)
	*now = now.withTopology(*from)
	return spec, err
}

// takesTopologyVersions reports whether Cluster API accepts versions for groups in the
// topology, if some are pinned. A cluster with detached groups keeps these.
func (s *Service) takesTopologyVersions(ctx context.Context, spec Spec, now state.Cluster) (bool, error) {
	pinned := false
	for _, group := range now.Topology.Groups {
		pinned = pinned || group.Pinned
	}
	for _, group := range now.WorkerNodeGroups {
		if group.Detached && !pinned {
			return false, nil
		}
	}
	if pinned || len(pins(spec.Config)) == 0 {
		return pinned, nil
	}
	versions := map[string]string{}
	for _, group := range now.WorkerNodeGroups {
		versions[group.Name] = group.Version.String()
	}
	return s.client.TakesVersions(ctx, types.NamespacedName{Namespace: now.Namespace, Name: now.Name}, versions)
}
