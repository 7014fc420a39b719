package management

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/management/observe"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Watch calls seen with the state of a cluster, first as it is and then after
// each change, until seen returns true or an error, or ctx ends. exists is
// false while the cluster is not there. When the deadline of ctx passes, the
// error is ErrTimeout.
func (c *Client) Watch(ctx context.Context, key client.ObjectKey, seen func(cluster state.Cluster, exists bool) (done bool, err error)) error {
	return c.watch(ctx, key, func(cluster state.Cluster, exists bool) (verdict, error) {
		done, err := seen(cluster, exists)
		return verdict{done: done}, err
	})
}

// verdict is a watcher's decision about a cluster.
type verdict struct {
	done bool
	// again is when to look at the cluster though nothing changed; zero for never.
	again time.Time
}

// watch is Watch that looks again when seen says so.
func (c *Client) watch(ctx context.Context, key client.ObjectKey, seen func(cluster state.Cluster, exists bool) (verdict, error)) error {
	// What a cache is not allowed to list it would ask for until the end of time.
	if _, _, err := c.Observe(ctx, key); err != nil {
		return unlessEnded(ctx, err)
	}
	watchCtx, stop := context.WithCancel(ctx)
	defer stop()
	informers, changed, err := c.inform(watchCtx, key)
	if err != nil {
		return unlessEnded(ctx, c.explain(ctx, fmt.Errorf("watching cluster %s: %w", key, err)))
	}
	ended := make(chan error, 1)
	go func() { ended <- informers.Start(watchCtx) }()
	if !informers.WaitForCacheSync(watchCtx) {
		return timedOut(ctx)
	}
	for {
		now, exists, unwatched, err := c.look(watchCtx, informers, key)
		if err != nil {
			return unlessEnded(ctx, err)
		}
		v, err := seen(now, exists)
		if v.done || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-unwatched:
		case <-v.wake(c.opts().Clock):
		case <-ctx.Done():
			return timedOut(ctx)
		case err := <-ended:
			return unlessEnded(ctx, fmt.Errorf("watching cluster %s ended: %w", key, err))
		}
	}
}

// wake signals when to look again.
func (v verdict) wake(of clock.Clock) <-chan time.Time {
	if v.again.IsZero() {
		return nil
	}
	return of.After(v.again.Sub(of.Now()))
}

// look returns the cluster as it is now, and when to look again at what is not watched.
func (c *Client) look(ctx context.Context, informers client.Reader, key client.ObjectKey) (state.Cluster, bool, <-chan time.Time, error) {
	now, unwatched, err := observe.Cluster(ctx, informers, c.Client, key)
	if apierrors.IsNotFound(err) {
		return state.Cluster{}, false, nil, nil
	}
	if err != nil {
		return state.Cluster{}, true, nil, c.explain(ctx, fmt.Errorf("watching cluster %s: %w", key, err))
	}
	var again <-chan time.Time
	if unwatched {
		again = c.opts().Clock.After(otherInterval)
	}
	if now.Topology != nil && now.Done() {
		// The kinds are watched apart, and Cluster API changes one after the other: what
		// looks done may be what was before.
		now, exists, err := c.Observe(ctx, key)
		return now, exists, again, err
	}
	return now, true, again, nil
}

// inform returns a cache of what a cluster is read from, and signals of its changes.
func (c *Client) inform(ctx context.Context, key client.ObjectKey) (cache.Cache, <-chan struct{}, error) {
	options := c.cacheOptions(key)
	options.NewInformer = loggingTo(klog.FromContext(ctx))
	informers, err := cache.New(c.config, options)
	if err != nil {
		return nil, nil, err
	}
	changed := make(chan struct{}, 1)
	for _, kind := range []client.Object{
		&clusterv1.Cluster{}, &controlplanev1.KubeadmControlPlane{}, &clusterv1.MachineDeployment{}, &clusterv1.MachineSet{}, &clusterv1.Machine{}, &clusterv1.MachinePool{}, &addonsv1.ClusterResourceSet{},
	} {
		informer, err := informers.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, nil, err
		}
		if _, err := informer.AddEventHandler(signalOn(changed)); err != nil {
			return nil, nil, err
		}
	}
	return informers, changed, nil
}

// informer logs to a logger of its own. A cache has its informers log to
// controller-runtime's global logger, which writes a stack trace to stderr in programs that
// never set it.
type informer struct {
	toolscache.SharedIndexInformer
	logger klog.Logger
}

func (i informer) RunWithContext(ctx context.Context) {
	i.SharedIndexInformer.RunWithContext(klog.NewContext(ctx, i.logger))
}

// loggingTo returns what makes informers that log to a logger.
func loggingTo(logger klog.Logger) func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer {
	return func(source toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
		return informer{toolscache.NewSharedIndexInformer(source, object, resync, indexers), logger}
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

// unlessEnded is the error of a read, or of the end of ctx: what was being read then says
// nothing about what was waited for.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return timedOut(ctx)
	}
	return err
}

// timedOut is the error for a context that ended.
func timedOut(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ErrTimeout
	}
	return context.Cause(ctx)
}
