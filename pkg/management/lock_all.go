package management

import (
	"context"
	"errors"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// LockEach locks clusters, all at the same time, until the returned function is called. The
// claim is that of Lock, for each of them. The returned context ends when one of the locks is
// lost.
func (c *Client) LockEach(ctx context.Context, keys []client.ObjectKey, claim Claim) (context.Context, func(), error) {
	held, lose := context.WithCancelCause(ctx)
	var mu sync.Mutex
	var releases []func()
	release := func() {
		for _, one := range releases {
			one()
		}
		lose(nil)
	}
	var tasks errgroup.Group
	for _, key := range keys {
		tasks.Go(func() error {
			one, unlock, err := c.Lock(held, key, claim)
			if err != nil {
				return err
			}
			context.AfterFunc(one, func() { lose(context.Cause(one)) })
			mu.Lock()
			defer mu.Unlock()
			releases = append(releases, unlock)
			return nil
		})
	}
	if err := tasks.Wait(); err != nil {
		release()
		return nil, nil, err
	}
	return held, release, nil
}

// LockAll waits until every cluster is as it is specified and no run works on any, and locks them
// all as LockEach does. Clusters whose upgrades are held are as specified. Waiting is called with
// the first cluster that is not, and what it waits for, whenever that changes.
func (c *Client) LockAll(ctx context.Context, waiting func(what string)) (context.Context, func(), error) {
	var mu sync.Mutex // locks are waited for at the same time
	last := ""
	say := func(cluster, what string) {
		mu.Lock()
		defer mu.Unlock()
		if now := "cluster " + cluster + ": " + what; now != last {
			waiting(now)
			last = now
		}
	}
	busy := func(by HeldLock) { say(by.Cluster, "the run that works on it: "+by.Holder) }
	for {
		if err := c.waitUntilDone(ctx, say); err != nil {
			return nil, nil, err
		}
		held, release, err := c.lockDone(ctx, busy)
		if locked := (*LockedError)(nil); errors.As(err, &locked) {
			busy(locked.HeldLock)
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
func (c *Client) waitUntilDone(ctx context.Context, say func(cluster, what string)) error {
	return c.WatchClusters(ctx, Filter{}, func(clusters []state.Cluster) (bool, error) {
		i := slices.IndexFunc(clusters, unfinished)
		if i < 0 {
			return true, nil
		}
		say(clusters[i].Namespace+"/"+clusters[i].Name, clusters[i].Waiting())
		return false, nil
	})
}

func unfinished(c state.Cluster) bool { return !c.Done() }

// lockDone locks all clusters. The context is nil where one of them is not done any more, or gone.
func (c *Client) lockDone(ctx context.Context, busy func(HeldLock)) (context.Context, func(), error) {
	clusters, err := c.Clusters(ctx, Filter{})
	if err != nil {
		return nil, nil, err
	}
	keys := make([]client.ObjectKey, len(clusters))
	for i, cluster := range clusters {
		keys[i] = client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Name}
	}
	held, release, err := c.LockEach(ctx, keys, Claim{Waiting: busy})
	if errors.Is(err, ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	clusters, err = c.Clusters(ctx, Filter{})
	if err != nil || slices.ContainsFunc(clusters, unfinished) {
		release()
		return nil, nil, err
	}
	return held, release, nil
}

// UnlessLost returns why the lock was lost that ended ctx, and otherwise err, the error of what
// was done while it was held: what a lost lock stops says only that it was stopped.
func UnlessLost(ctx context.Context, err error) error {
	if lost := stopped(ctx); err != nil && lost != nil && !errors.Is(lost, ErrTimeout) {
		return lost
	}
	return err
}
