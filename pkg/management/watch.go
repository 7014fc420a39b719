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

	"github.com/clusterctl-x/clusterctl-x/pkg/observe"
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
	return c.follow(ctx, fmt.Sprintf("cluster %s", key), c.cacheOptions(key), func(ctx context.Context, informers client.Reader) (glance, error) {
		now, exists, unwatched, err := c.look(ctx, informers, key)
		if err != nil {
			return glance{}, err
		}
		v, err := seen(now, exists)
		if err != nil {
			return glance{}, seenError{err}
		}
		return glance{done: v.done, unwatched: unwatched, again: v.wake(c.opts().Clock)}, nil
	})
}

// WatchClusters calls seen with the states of the clusters that a filter chooses, first as
// they are and then after each change, until seen reports that it is done or returns an error, or
// ctx ends. When the deadline of ctx passes, the error is ErrTimeout.
func (c *Client) WatchClusters(ctx context.Context, filter Filter, seen func([]state.Cluster) (done bool, err error)) error {
	if _, err := c.Clusters(ctx, filter); err != nil {
		return unlessEnded(ctx, err)
	}
	return c.follow(ctx, "clusters", c.cacheOptionsOf(filter), func(ctx context.Context, informers client.Reader) (glance, error) {
		clusters, unwatched, err := observe.Clusters(ctx, informers, c.Client, filter, c.options.BootstrapFailures...)
		if err != nil {
			return glance{}, c.explain(ctx, fmt.Errorf("watching clusters: %w", err))
		}
		done, err := seen(clusters)
		if err != nil {
			return glance{}, seenError{err}
		}
		return glance{done: done, unwatched: c.lookAgain(unwatched)}, nil
	})
}

// glance is what one look at the management cluster gives.
type glance struct {
	done bool
	// unwatched and again signal when to look again though nothing that is watched changed;
	// nil for never.
	unwatched, again <-chan time.Time
}

// seenError is an error of the function that clusters are shown to.
type seenError struct{ error }

// follow calls look with a cache of what the options choose, at once and after each
// change, until look is done or fails, or ctx ends. What is watched is for messages.
func (c *Client) follow(ctx context.Context, what string, options cache.Options, look func(context.Context, client.Reader) (glance, error)) error {
	watchCtx, stop := context.WithCancel(ctx)
	defer stop()
	informers, changed, err := c.inform(watchCtx, options)
	if err != nil {
		return unlessEnded(ctx, c.explain(ctx, fmt.Errorf("watching %s: %w", what, err)))
	}
	ended := make(chan error, 1)
	go func() { ended <- informers.Start(watchCtx) }()
	if !informers.WaitForCacheSync(watchCtx) {
		return timedOut(ctx)
	}
	for {
		g, err := look(watchCtx, informers)
		if seen := (seenError{}); errors.As(err, &seen) {
			return seen.error
		}
		if err != nil {
			return unlessEnded(ctx, err)
		}
		if g.done {
			return nil
		}
		select {
		case <-changed:
		case <-g.unwatched:
		case <-g.again:
		case <-ctx.Done():
			return timedOut(ctx)
		case err := <-ended:
			return unlessEnded(ctx, fmt.Errorf("watching %s ended: %w", what, err))
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
	now, unwatched, err := observe.Cluster(ctx, informers, c.Client, key, c.options.BootstrapFailures...)
	if apierrors.IsNotFound(err) {
		return state.Cluster{}, false, nil, nil
	}
	if err != nil {
		return state.Cluster{}, true, nil, c.explain(ctx, fmt.Errorf("watching cluster %s: %w", key, err))
	}
	again := c.lookAgain(unwatched)
	if now.Topology != nil && now.Done() {
		// The kinds are watched apart, and Cluster API changes one after the other: what
		// looks done may be what was before.
		now, exists, err := c.Observe(ctx, key)
		return now, exists, again, err
	}
	return now, true, again, nil
}

// lookAgain signals when to look again, if something is not watched.
func (c *Client) lookAgain(unwatched bool) <-chan time.Time { //nolint:revive // a channel that is nil never signals
	if !unwatched {
		return nil
	}
	return c.opts().Clock.After(otherInterval)
}

// inform returns a cache of what clusters are read from, and signals of its changes.
func (c *Client) inform(ctx context.Context, options cache.Options) (cache.Cache, <-chan struct{}, error) {
	options.NewInformer = loggingTo(klog.FromContext(ctx))
	options.HTTPClient = c.http
	informers, err := cache.New(c.config, options)
	if err != nil {
		return nil, nil, err
	}
	changed := make(chan struct{}, 1)
	for _, kind := range append(objectKinds(), &clusterv1.Cluster{}) {
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

// objectKinds are the kinds that the state of a cluster is read from, besides the Cluster.
func objectKinds() []client.Object {
	return []client.Object{
		&controlplanev1.KubeadmControlPlane{}, &clusterv1.MachineDeployment{}, &clusterv1.MachineSet{}, &clusterv1.Machine{}, &clusterv1.MachinePool{}, &addonsv1.ClusterResourceSet{},
	}
}

// cacheOptions are those of a cache of one cluster.
func (c *Client) cacheOptions(key client.ObjectKey) cache.Options {
	ofCluster := labels.SelectorFromSet(labels.Set{clusterv1.ClusterNameLabel: key.Name})
	return c.cacheOf(key.Namespace, cache.ByObject{Field: fields.OneTermEqualSelector("metadata.name", key.Name)}, ofCluster)
}

// cacheOptionsOf are those of a cache of the clusters that a filter chooses. The objects of
// a cluster do not have its labels, so that those of other clusters are in it too.
func (c *Client) cacheOptionsOf(filter Filter) cache.Options {
	return c.cacheOf(filter.Namespace, cache.ByObject{Label: filter.Selector}, nil)
}

// cacheOf returns the options of a cache of Clusters, and of other objects by their labels,
// in a namespace or in all of them where it is empty.
func (c *Client) cacheOf(namespace string, clusters cache.ByObject, others labels.Selector) cache.Options {
	clusters.Transform = func(cluster any) (any, error) { return cluster, nil } // its field managers say who its owner is
	byObject := map[client.Object]cache.ByObject{&clusterv1.Cluster{}: clusters}
	for _, kind := range objectKinds() {
		byObject[kind] = cache.ByObject{Label: others}
	}
	return cache.Options{
		Scheme:            c.scheme,
		Mapper:            c.RESTMapper(),
		DefaultNamespaces: map[string]cache.Config{namespace: {}},
		DefaultTransform:  cache.TransformStripManagedFields(),
		ByObject:          byObject,
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
