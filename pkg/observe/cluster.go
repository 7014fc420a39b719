// Package observe reads the state of clusters on a management cluster, with the reason
// of each wait, drain and failure on one line.
package observe

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Cluster returns the state of a cluster, and whether it has a control plane that watched
// does not cover: one of another provider than kubeadm's. What Cluster API has a kind for
// is read from watched, which may be a cache, and the rest from live: control planes of other
// kinds, and which machines show one of the failures. Where there is no such cluster the
// error is a NotFound.
func Cluster(ctx context.Context, watched client.Reader, live client.Client, key client.ObjectKey, failures ...state.BootstrapFailure) (cluster state.Cluster, unwatched bool, err error) {
	snapshot, err := read(ctx, watched, key)
	if err != nil {
		return state.Cluster{}, false, err
	}
	if err := snapshot.readRest(ctx, live, failures); err != nil {
		return state.Cluster{}, false, err
	}
	return snapshot.state(), snapshot.other != nil, nil
}

// Filter chooses clusters.
type Filter struct {
	// Namespace is empty for all namespaces.
	Namespace string
	// Selector is nil for clusters of whatever labels.
	Selector labels.Selector
}

func (f Filter) options() []client.ListOption {
	options := []client.ListOption{client.InNamespace(f.Namespace)}
	if f.Selector != nil {
		options = append(options, client.MatchingLabelsSelector{Selector: f.Selector})
	}
	return options
}

// Clusters returns the states of the clusters that a filter chooses, sorted by namespace
// and name, and whether one of them has a control plane that watched does not cover.
// watched, live and failures are those of Cluster.
func Clusters(ctx context.Context, watched client.Reader, live client.Client, filter Filter, failures ...state.BootstrapFailure) (clusters []state.Cluster, unwatched bool, err error) {
	snapshots, err := readAll(ctx, watched, filter)
	if err != nil {
		return nil, false, err
	}
	clusters = make([]state.Cluster, len(snapshots))
	for i, snapshot := range snapshots {
		if err := snapshot.readRest(ctx, live, failures); err != nil {
			return nil, false, err
		}
		clusters[i] = snapshot.state()
		unwatched = unwatched || snapshot.other != nil
	}
	return clusters, unwatched, nil
}

// snapshot holds the objects that the state of a cluster is read from.
type snapshot struct {
	cluster      clusterv1.Cluster
	controlPlane *controlplanev1.KubeadmControlPlane
	// other is a control plane of another kind.
	other *unstructured.Unstructured
	// otherUnread is why it could not be read.
	otherUnread  error
	deployments  []clusterv1.MachineDeployment
	sets         []clusterv1.MachineSet
	machines     []clusterv1.Machine
	pools        []clusterv1.MachinePool
	resourceSets []addonsv1.ClusterResourceSet
	// failed are the machines whose bootstrap failed for good.
	failed map[string]state.Failure
}

// readRest reads what the kinds of Cluster API do not say.
func (s *snapshot) readRest(ctx context.Context, live client.Client, failures []state.BootstrapFailure) error {
	return errors.Join(s.readOther(ctx, live), s.readFailed(ctx, live, failures))
}

// read reads the objects of one cluster. The error is NotFound if there is none.
func read(ctx context.Context, reader client.Reader, key client.ObjectKey) (snapshot, error) {
	var cluster clusterv1.Cluster
	if err := reader.Get(ctx, key, &cluster); err != nil {
		return snapshot{}, err
	}
	snapshots, err := readOthers(ctx, reader, []clusterv1.Cluster{cluster}, client.InNamespace(key.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: key.Name})
	if err != nil {
		return snapshot{}, err
	}
	return snapshots[0], nil
}

// readAll reads the objects of the clusters that a filter chooses, with one request for
// each kind.
func readAll(ctx context.Context, reader client.Reader, filter Filter) ([]snapshot, error) {
	var clusters clusterv1.ClusterList
	if err := reader.List(ctx, &clusters, filter.options()...); err != nil {
		return nil, err
	}
	slices.SortFunc(clusters.Items, func(a, b clusterv1.Cluster) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return readOthers(ctx, reader, clusters.Items, client.InNamespace(filter.Namespace), client.HasLabels{clusterv1.ClusterNameLabel})
}

// readOthers reads everything but the Clusters, and gives each its own.
func readOthers(ctx context.Context, reader client.Reader, clusters []clusterv1.Cluster, options ...client.ListOption) ([]snapshot, error) {
	var controlPlanes controlplanev1.KubeadmControlPlaneList
	var deployments clusterv1.MachineDeploymentList
	var sets clusterv1.MachineSetList
	var machines clusterv1.MachineList
	var pools clusterv1.MachinePoolList
	var resourceSets addonsv1.ClusterResourceSetList
	for _, list := range []client.ObjectList{&controlPlanes, &deployments, &sets, &machines, &pools, &resourceSets} {
		if err := reader.List(ctx, list, options...); err != nil {
			return nil, err
		}
	}
	snapshots := make([]snapshot, len(clusters))
	byKey := map[client.ObjectKey]*snapshot{}
	for i, cluster := range clusters {
		snapshots[i].cluster = cluster
		byKey[client.ObjectKeyFromObject(&cluster)] = &snapshots[i]
	}
	of := func(object client.Object) (*snapshot, bool) {
		s, ok := byKey[client.ObjectKey{Namespace: object.GetNamespace(), Name: object.GetLabels()[clusterv1.ClusterNameLabel]}]
		return s, ok
	}
	for i := range controlPlanes.Items {
		ref := controlPlanes.Items[i].Name
		if s, ok := of(&controlPlanes.Items[i]); ok && s.cluster.Spec.ControlPlaneRef.Name == ref {
			s.controlPlane = &controlPlanes.Items[i]
		}
	}
	share(deployments.Items, of, func(s *snapshot) *[]clusterv1.MachineDeployment { return &s.deployments })
	share(sets.Items, of, func(s *snapshot) *[]clusterv1.MachineSet { return &s.sets })
	share(machines.Items, of, func(s *snapshot) *[]clusterv1.Machine { return &s.machines })
	share(pools.Items, of, func(s *snapshot) *[]clusterv1.MachinePool { return &s.pools })
	share(resourceSets.Items, of, func(s *snapshot) *[]addonsv1.ClusterResourceSet { return &s.resourceSets })
	return snapshots, nil
}

// share gives each cluster its own of the objects of a kind, sorted by name.
func share[T any, P interface {
	*T
	client.Object
}](objects []T, of func(client.Object) (*snapshot, bool), list func(*snapshot) *[]T) {
	slices.SortFunc(objects, func(a, b T) int { return cmp.Compare(P(&a).GetName(), P(&b).GetName()) })
	for i := range objects {
		if s, ok := of(P(&objects[i])); ok {
			into := list(s)
			*into = append(*into, objects[i])
		}
	}
}
