// Package backup saves the clusters of a management cluster in a directory, and restores them
// from it, with the library of clusterctl: 'clusterctl move' to and from a directory. What it
// adds are the checks before the first write, an end to every pause, private files, whole or
// not at all, that can be encrypted, and restores that can be stopped anywhere and continued.
//
// It prints nothing, and reads no flags or environment.
package backup

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/management"
)

// maxRequests is how many requests are under way at the same time.
const maxRequests = 8

// Options are what saving and restoring have in common. The zero value is usable.
type Options struct {
	// Version of the program, which a backup says it was made by.
	Version string
	// TakeOver ends the runs of others that work on the clusters.
	TakeOver bool
	// Waiting is called with each run of another that a lock is waited for.
	Waiting func(management.HeldLock)
}

// Service saves and restores the clusters of one management cluster.
type Service struct {
	management *management.Client
	// objects also knows the kinds that clusterctl looks for.
	objects client.Client
	options Options
}

// New returns a Service for a management cluster.
func New(c *management.Client, options Options) (*Service, error) {
	if options.Waiting == nil {
		options.Waiting = func(management.HeldLock) {}
	}
	objects, err := c.Knowing(apiextensionsv1.AddToScheme, clusterctlv1.AddToScheme)
	if err != nil {
		return nil, err
	}
	return &Service{management: c, objects: objects, options: options}, nil
}

// lock locks clusters until the returned function is called. unowned is that of a
// management.Claim.
func (s *Service) lock(ctx context.Context, keys []client.ObjectKey, unowned bool) (context.Context, func(), error) {
	return s.management.LockEach(ctx, keys, management.Claim{Unowned: unowned, TakeOver: s.options.TakeOver, Waiting: s.options.Waiting})
}

// refusals are what stands in the way of a command.
type refusals []*management.RefusedError

func (r *refusals) add(refused *management.RefusedError) { *r = append(*r, refused) }

// err returns all refusals as one error, or nil.
func (r *refusals) err() error {
	errs := make([]error, len(*r))
	for i, refused := range *r {
		errs[i] = refused
	}
	return errors.Join(errs...)
}

// Names of refusals.
const (
	checkNoClusters = "no-clusters"
	checkPaused     = "paused"
	checkUnready    = "not-provisioned"
	checkUnderWay   = "upgrade-under-way"
	checkUnlabelled = "crd-label-missing"
	checkPrivileges = "privileges"
	checkKinds      = "kinds-missing"
	checkExists     = "already-there"
	checkOthers     = "other-clusters"
	checkIncomplete = "incomplete-move"
)

// inParallel calls a function for each item, a few at the same time.
func inParallel[T any](ctx context.Context, items []T, do func(context.Context, int, T) error) error {
	tasks, ctx := errgroup.WithContext(ctx)
	tasks.SetLimit(maxRequests)
	for i, item := range items {
		tasks.Go(func() error { return do(ctx, i, item) })
	}
	return tasks.Wait()
}

// sorted returns the keys of clusters as people read them, in order.
func sorted(keys []client.ObjectKey) []string {
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = key.String()
	}
	slices.Sort(names)
	return names
}
