package lifecycle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/clusterclass"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// current is what an upgrade begins with: a live cluster, or another file.
type current struct {
	// namespace of the cluster.
	namespace string
	state     state.Cluster
	metadata  plan.Metadata
	start     plan.Start
	// before is the spec that the cluster was made from; nil where it is not known.
	before *v1alpha1.Config
	// objects of a cluster that a file describes.
	objects rollout.Objects
	// compare says what applying the objects would change, and unused which ones
	// would no longer be needed beside these.
	compare func([]*unstructured.Unstructured) ([]management.Change, error)
	unused  func([]*unstructured.Unstructured) ([]string, error)
	// managed is more about a cluster from a ClusterClass; nil for others.
	managed *currentTopology
	// recorded is the record of a live cluster.
	recorded management.Record
	// holds of a live cluster.
	holds []state.Hold
	// claimed are the groups of a live cluster that the file describes and others made.
	claimed []state.Part
	// names of objects on the management cluster, as Kind/name, by the names that they
	// are generated under.
	names map[string]string
}

// currentOf is what is seen of a live cluster.
func currentOf(cluster state.Cluster) current {
	claimed := slices.DeleteFunc(slices.Clone(cluster.WorkerNodeGroups), func(p state.Part) bool { return !p.Claimed })
	return current{state: cluster, namespace: cluster.Namespace, metadata: plan.MetadataOf(cluster, ""), start: plan.StartOf(cluster), holds: cluster.Holds, claimed: claimed}
}

// fingerprint of a file.
func fingerprint(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// observe reads a live cluster and its record, and returns the spec with what these say
// about it.
func (s *Service) observe(ctx context.Context, spec Spec, about scope) (Spec, current, error) {
	key := s.keyOf(spec)
	cluster, exists, err := s.client.Observe(ctx, key)
	switch {
	case err != nil:
		return spec, current{}, err
	case !exists:
		return spec, current{}, fmt.Errorf("cluster %s: %w; 'clusterctl-x create cluster' creates it", key, management.ErrNotFound)
	case cluster.ControlPlane.Version.IsZero():
		return spec, current{}, &management.RefusedError{Check: "no-control-plane", Reason: fmt.Sprintf("cluster %s has no control plane with a version yet; 'clusterctl-x describe cluster %s -n %s' says why", key, key.Name, key.Namespace)}
	}
	if err := clusterclass.CheckTopologyMode(spec.Config, cluster); err != nil {
		return spec, current{}, err
	}
	cluster = cluster.Claim(spec.claims())
	record, _, err := s.client.Record(ctx, key)
	if err != nil {
		return spec, current{}, err
	}
	from := currentOf(cluster)
	from.metadata = plan.MetadataOf(cluster, fingerprint(spec.data), about.Groups...)
	from.compare = func(objects []*unstructured.Unstructured) ([]management.Change, error) {
		return s.client.Compare(ctx, objects)
	}
	from.unused = func(keep []*unstructured.Unstructured) ([]string, error) { return s.client.Unused(ctx, key, keep) }
	from.recorded = record
	spec, from.before = spec.withRecord(record, key.String())
	if cluster.Topology == nil {
		return spec, from, nil
	}
	if spec, err = s.observeManaged(ctx, spec, &from); err != nil {
		return spec, from, err
	}
	return spec, from, about.checkDetached(cluster, from.managed.topologyVersions)
}
