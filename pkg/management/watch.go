package management

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	toolscache "k8s.io/client-go/tools/cache"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Watch calls seen with the state of a cluster, first as it is and then after
// each change, until seen returns true or an error, or ctx ends. exists is
// false while the cluster is not there. When the deadline of ctx passes, the
// error is ErrTimeout.
func (c *Client) Watch(ctx context.Context, key client.ObjectKey, seen func(cluster state.Cluster, exists bool) (done bool, err error)) error {
	return c.watch(ctx, key, nil, seen)
}

// watch is Watch that also calls seen after each signal to look again.
func (c *Client) watch(ctx context.Context, key client.ObjectKey, lookAgain <-chan struct{}, seen func(cluster state.Cluster, exists bool) (done bool, err error)) error {
	// What a cache is not allowed to list it would ask for until the end of time.
	if _, _, err := c.Observe(ctx, key); err != nil {
		return err
	}
	watchCtx, stop := context.WithCancel(ctx)
	defer stop()
	informers, err := cache.New(c.config, c.cacheOptions(key))
	if err != nil {
		return fmt.Errorf("watching cluster %s: %w", key, err)
	}
	changed := make(chan struct{}, 1)
	for _, kind := range []client.Object{
		&clusterv1.Cluster{}, &controlplanev1.KubeadmControlPlane{}, &clusterv1.MachineDeployment{}, &clusterv1.MachineSet{}, &clusterv1.Machine{}, &clusterv1.MachinePool{}, &addonsv1.ClusterResourceSet{},
	} {
		informer, err := informers.GetInformer(watchCtx, kind, cache.BlockUntilSynced(false))
		if err != nil {
			return c.explain(ctx, fmt.Errorf("watching cluster %s: %w", key, err))
		}
		if _, err := informer.AddEventHandler(signalOn(changed)); err != nil {
			return fmt.Errorf("watching cluster %s: %w", key, err)
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- informers.Start(watchCtx) }()
	if !informers.WaitForCacheSync(watchCtx) {
		return timedOut(ctx)
	}
	for {
		snapshot, err := read(watchCtx, informers, key)
		exists := !apierrors.IsNotFound(err)
		if err == nil {
			err = errors.Join(c.readOther(watchCtx, &snapshot), c.readFailed(watchCtx, &snapshot))
		}
		if err != nil && exists {
			return c.explain(ctx, fmt.Errorf("watching cluster %s: %w", key, err))
		}
		now := snapshot.state()
		if now.Topology != nil && now.Done() {
			// The kinds are watched apart, and Cluster API changes one after the
			// other: what looks done may be what was before.
			if now, exists, err = c.Observe(watchCtx, key); err != nil {
				return err
			}
		}
		if done, err := seen(now, exists); done || err != nil {
			return err
		}
		var again <-chan time.Time
		if snapshot.other != nil {
			again = time.After(otherInterval)
		}
		select {
		case <-changed:
		case <-again:
		case <-lookAgain:
		case err := <-ended:
			if ctx.Err() == nil {
				return fmt.Errorf("watching cluster %s ended: %w", key, err)
			}
			return timedOut(ctx)
		case <-ctx.Done():
			return timedOut(ctx)
		}
	}
}

// otherInterval is how often a control plane of another provider is looked at,
// whose kind is not watched.
const otherInterval = 5 * time.Second

func (c *Client) cacheOptions(key client.ObjectKey) cache.Options {
	ofCluster := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{clusterv1.ClusterNameLabel: key.Name})}
	return cache.Options{
		Scheme:            c.scheme,
		Mapper:            c.RESTMapper(),
		DefaultNamespaces: map[string]cache.Config{key.Namespace: {}},
		DefaultTransform:  cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&controlplanev1.KubeadmControlPlane{}: ofCluster,
			&clusterv1.Cluster{}:                  {Field: fields.OneTermEqualSelector("metadata.name", key.Name)},
			&clusterv1.MachineDeployment{}:        ofCluster,
			&clusterv1.MachineSet{}:               ofCluster,
			&clusterv1.Machine{}:                  ofCluster,
			&clusterv1.MachinePool{}:              ofCluster,
			&addonsv1.ClusterResourceSet{}:        ofCluster,
		},
	}
}

// signalOn puts at most one signal into the channel, however much happens.
func signalOn(changed chan<- struct{}) toolscache.ResourceEventHandlerFuncs {
	signal := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { signal() },
		UpdateFunc: func(any, any) { signal() },
		DeleteFunc: func(any) { signal() },
	}
}

// timedOut is the error for a context that ended.
func timedOut(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ErrTimeout
	}
	return context.Cause(ctx)
}
