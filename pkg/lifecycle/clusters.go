package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Selection chooses clusters.
type Selection struct {
	// Namespace of the clusters; where it is empty, that of the Service.
	Namespace string
	// AllNamespaces chooses the clusters of all namespaces.
	AllNamespaces bool
	// Names of the clusters; without any, all are chosen.
	Names []string
	// Selector is nil for clusters of whatever labels.
	Selector labels.Selector
}

// Where says in which namespaces a selection chooses clusters, and with which labels.
func (s *Service) Where(of Selection) string {
	where := "any namespace"
	if !of.AllNamespaces {
		where = s.options.namespace(of.Namespace)
	}
	if of.Selector != nil {
		where += " with labels " + of.Selector.String()
	}
	return where
}

// Clusters returns the states of clusters, sorted by namespace and name, or in the order of
// the names that were given. A name without a cluster is an error.
func (s *Service) Clusters(ctx context.Context, of Selection) ([]state.Cluster, error) {
	if len(of.Names) == 0 {
		return s.client.Clusters(ctx, s.filter(of))
	}
	clusters := make([]state.Cluster, 0, len(of.Names))
	var missing []string
	var first error
	for _, name := range of.Names {
		key := s.Key(name, of.Namespace)
		cluster, err := s.find(ctx, key)
		switch {
		case errors.Is(err, management.ErrNotFound):
			missing, first = append(missing, key.String()), cmp.Or(first, err)
		case err != nil:
			return nil, err
		}
		clusters = append(clusters, cluster)
	}
	if len(missing) > 1 {
		return nil, fmt.Errorf("clusters %s: %w; 'clusterctl-x get clusters -A' lists the ones there are", strings.Join(missing, ", "), management.ErrNotFound)
	}
	return clusters, first
}

// ClusterChange is what happened to a cluster of a Selection.
type ClusterChange struct {
	state.Cluster
	// Gone is true where the cluster does not exist any more, or is not chosen any more;
	// Cluster is its last state then.
	Gone bool
}

// WatchClusters calls show with the clusters of a selection, and then with those that
// changed, until show returns an error or ctx ends. A name without a cluster is an error
// at the beginning.
func (s *Service) WatchClusters(ctx context.Context, of Selection, show func([]ClusterChange) error) error {
	if len(of.Names) > 0 {
		if _, err := s.Clusters(ctx, of); err != nil {
			return err
		}
	}
	var last []state.Cluster
	first := true
	return s.client.WatchClusters(ctx, s.filter(of), func(clusters []state.Cluster) (bool, error) {
		if len(of.Names) > 0 {
			clusters = slices.DeleteFunc(clusters, func(c state.Cluster) bool { return !slices.Contains(of.Names, c.Name) })
		}
		changes := changed(last, clusters)
		last = clusters
		if len(changes) == 0 && !first {
			return false, nil
		}
		first = false
		return false, show(changes)
	})
}

func (s *Service) filter(of Selection) management.Filter {
	if of.AllNamespaces {
		return management.Filter{Selector: of.Selector}
	}
	return management.Filter{Namespace: s.options.namespace(of.Namespace), Selector: of.Selector}
}

// changed returns what happened between two lists of clusters.
func changed(before, after []state.Cluster) []ClusterChange {
	key := func(c state.Cluster) types.NamespacedName {
		return types.NamespacedName{Namespace: c.Namespace, Name: c.Name}
	}
	left := map[types.NamespacedName]state.Cluster{}
	for _, cluster := range before {
		left[key(cluster)] = cluster
	}
	var changes []ClusterChange
	for _, cluster := range after {
		was, existed := left[key(cluster)]
		if !existed || !reflect.DeepEqual(was, cluster) {
			changes = append(changes, ClusterChange{Cluster: cluster})
		}
		delete(left, key(cluster))
	}
	for _, cluster := range before {
		if _, gone := left[key(cluster)]; gone {
			changes = append(changes, ClusterChange{Cluster: cluster, Gone: true})
		}
	}
	return changes
}
