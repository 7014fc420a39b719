package management

import (
	"context"
	"errors"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// LockAll waits until every cluster is as it is specified and no run works on any, and locks them
// all until the returned function is called. The returned context ends as that of Lock. Clusters
// whose upgrades are held are as specified. Waiting is called, after each change, with the first
// cluster that is not, and what it waits for.
func (c *Client) LockAll(ctx context.Context, waiting func(cluster, what string)) (context.Context, func(), error) {
	for {
		if err := c.waitUntilDone(ctx, waiting); err != nil {
			return nil, nil, err
		}
		held, release, err := c.lockDone(ctx)
		if locked := (*LockedError)(nil); errors.As(err, &locked) {
			waiting(locked.Cluster, "the run that works on it: "+locked.Holder)
		} else if err != nil || held != nil {
			return held, release, err
		}
		select {
		case <-ctx.Done():
			return nil, nil, timedOut(ctx)
		case <-c.opts().Clock.After(c.opts().RetryPeriod):
		}
	}
}

// waitUntilDone waits until every cluster is as it is specified.
func (c *Client) waitUntilDone(ctx context.Context, waiting func(cluster, what string)) error {
	return c.WatchClusters(ctx, Filter{}, func(clusters []state.Cluster) (bool, error) {
		i := slices.IndexFunc(clusters, func(c state.Cluster) bool { return !c.Done() })
		if i < 0 {
			return true, nil
		}
		waiting(clusters[i].Namespace+"/"+clusters[i].Name, clusters[i].Waiting())
		return false, nil
	})
}

// lockDone locks all clusters. The context is nil where one of them is not done any more.
func (c *Client) lockDone(ctx context.Context) (context.Context, func(), error) {
	var releases []func()
	release := func() {
		for _, one := range releases {
			one()
		}
	}
	clusters, err := c.Clusters(ctx, Filter{})
	if err != nil {
		return nil, nil, err
	}
	held := ctx
	for _, cluster := range clusters {
		locked, unlock, err := c.Lock(held, client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Name}, Claim{})
		if err != nil {
			release()
			if errors.Is(err, ErrNotFound) { // it went in between
				err = nil
			}
			return nil, nil, err
		}
		held, releases = locked, append(releases, unlock)
	}
	if clusters, err = c.Clusters(ctx, Filter{}); err != nil {
		release()
		return nil, nil, err
	}
	if slices.ContainsFunc(clusters, func(c state.Cluster) bool { return !c.Done() }) {
		release()
		return nil, nil, nil
	}
	return held, release, nil
}
