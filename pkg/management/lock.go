package management

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Claim says what a run wants to lock.
type Claim struct {
	// Groups are the worker node groups that the run may write. No groups mean the
	// whole cluster.
	Groups []string
	// TakeOver ends the turns of the runs that stand in the way.
	TakeOver bool
	// Unowned is true for a run at whose beginning or end there is no Cluster that
	// could own its Leases.
	Unowned bool
	// Waiting is called with each run that Lock waits for.
	Waiting func(HeldLock)
}

// HeldLock is a lock that a run holds on a cluster or a worker node group.
type HeldLock struct {
	// Holder is the run; it is empty where no run holds anything.
	Holder  string
	Cluster string // namespace/name
	Group   string // empty for the whole cluster
	// Until is when the turn ends if it is not renewed, by the clock of the holder.
	Until time.Time
}

// String says who works on what.
func (t HeldLock) String() string { return t.Holder + " works on " + t.What() }

// What is the part of the cluster that the run works on.
func (t HeldLock) What() string {
	if t.Group == "" {
		return "cluster " + t.Cluster
	}
	return "worker node group " + t.Group + " of cluster " + t.Cluster
}

// LockedError says that another run works on a cluster, or on a part of it.
type LockedError struct {
	HeldLock
	// Lost is true where this run had the lock before.
	Lost bool
}

func (e *LockedError) Error() string {
	switch {
	case e.Lost && e.Holder == "":
		return fmt.Sprintf("the lock of %s was taken over, so this run wrote nothing more, and what it started continues", e.What())
	case e.Lost:
		return fmt.Sprintf("%s now, so this run wrote nothing more, and what it started continues", e.HeldLock)
	}
	return fmt.Sprintf("%s, at least until %s; wait until it is done, or take over its lock with --take-over", e.HeldLock, e.Until.Format(time.TimeOnly))
}

// Lock locks the claimed parts of a cluster until the returned function is called. The
// returned context ends, with a *LockedError as its cause, when another run takes the
// lock over. A lock that another run does not renew is waited for until it expires. A
// renewed one is a *LockedError, unless this run takes over.
func (c *Client) Lock(ctx context.Context, key client.ObjectKey, claim Claim) (context.Context, func(), error) {
	l := newLock(c, key, claim, c.identity())
	if !claim.Unowned {
		owner, err := c.owner(ctx, key)
		if err != nil {
			return nil, nil, err
		}
		l.owners = []metav1.OwnerReference{owner.OwnerReference}
		if owner.managesItself {
			own := *c
			own.options = own.options.itself()
			l.c = &own
		}
	}
	if err := l.acquire(ctx); err != nil {
		l.release(context.WithoutCancel(ctx))
		return nil, nil, c.explain(ctx, namespaceMissing(err, key.Namespace))
	}
	held, lose := context.WithCancelCause(context.WithValue(ctx, lockKey{}, l))
	var renewal sync.WaitGroup
	stop, stopped := context.WithCancel(ctx)
	renewal.Go(func() { l.renew(stop, lose) })
	return held, func() {
		stopped()
		renewal.Wait()
		lose(nil)
		l.release(context.WithoutCancel(ctx))
	}, nil
}

// lockedGroups are the groups of the claim, sorted; the empty name is the whole cluster.
func (c Claim) lockedGroups() []string {
	if len(c.Groups) == 0 {
		return []string{wholeCluster}
	}
	return slices.Compact(slices.Sorted(slices.Values(c.Groups)))
}

// lock is a lock that a run holds, or tries to acquire.
type lock struct {
	c        *Client
	key      client.ObjectKey
	claim    Claim
	identity string
	owners   []metav1.OwnerReference
	// leases of this run, sorted by name, as they were read or written last.
	leases []coordinationv1.Lease
	// renewed is when the last renewal that was answered was sent.
	renewed time.Time
}

func newLock(c *Client, key client.ObjectKey, claim Claim, identity string) *lock {
	l := &lock{c: c, key: key, claim: claim, identity: identity}
	for _, group := range claim.lockedGroups() {
		l.leases = append(l.leases, coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: leaseName(key.Name, group)}})
	}
	return l
}

// identity names this run, to people and among all runs.
func (c *Client) identity() string {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	return fmt.Sprintf("process %d on %s, started %s", os.Getpid(), host, c.opts().Clock.Now().UTC().Format("15:04:05.000"))
}

func (l *lock) acquire(ctx context.Context) error {
	seen := map[string]sighting{}
	o := l.c.opts()
	ticker := o.Clock.NewTicker(o.RetryPeriod)
	defer ticker.Stop()
	for {
		acquired, err := l.round(ctx, seen)
		locked := (*LockedError)(nil)
		switch {
		case acquired:
			return nil
		case errors.As(err, &locked):
			return locked
		case err != nil && !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err):
			return fmt.Errorf("locking cluster %s: %w", l.key, err)
		}
		select {
		case <-ticker.C():
		case <-ctx.Done():
			return timedOut(ctx)
		}
	}
}

// sighting is how a Lease of another run was seen first, and when.
type sighting struct {
	spec  coordinationv1.LeaseSpec
	since time.Time
}

// round is one try to acquire the lock, as docs/architecture.md describes it.
func (l *lock) round(ctx context.Context, seen map[string]sighting) (bool, error) {
	if err := l.read(ctx); err != nil {
		return false, err
	}
	rivals, err := l.rivals(ctx)
	if err != nil {
		return false, err
	}
	free := true
	for _, lease := range slices.Concat(l.leases, rivals) {
		ended, err := l.ended(lease, seen)
		if err != nil {
			return false, err
		}
		free = free && ended
	}
	if !free {
		return false, l.keep(ctx)
	}
	for i := range rivals {
		if err := l.evict(ctx, &rivals[i]); err != nil {
			return false, err
		}
	}
	if err := l.write(ctx); err != nil {
		return false, err
	}
	if rivals, err = l.rivals(ctx); err != nil {
		return false, err
	}
	if !slices.ContainsFunc(rivals, l.ofAnother) {
		return true, nil
	}
	if len(l.claim.Groups) > 0 { // of the two, the run on the whole cluster goes on
		l.release(ctx)
	}
	return false, nil
}

// ended reports whether no other run holds a Lease, or this run may take it away. A
// Lease that is renewed is a *LockedError.
func (l *lock) ended(lease coordinationv1.Lease, seen map[string]sighting) (bool, error) {
	if !l.ofAnother(lease) || l.claim.TakeOver {
		return true, nil
	}
	first, known := seen[lease.Name]
	switch {
	case !known:
		seen[lease.Name] = sighting{lease.Spec, l.c.opts().Clock.Now()}
		l.claim.Waiting(l.holding(lease))
		return false, nil
	case !equalTime(first.spec.RenewTime, lease.Spec.RenewTime) || holder(first.spec) != holder(lease.Spec):
		return false, &LockedError{HeldLock: l.holding(lease)}
	}
	o := l.c.opts()
	return o.Clock.Since(first.since) > o.durationOf(lease.Spec), nil
}

// keep renews what a run on the whole cluster has while it waits for a rival.
func (l *lock) keep(ctx context.Context) error {
	o := l.c.opts()
	if l.renewed.IsZero() || o.Clock.Since(l.renewed) < o.RenewInterval || holder(l.leases[0].Spec) != l.identity {
		return nil
	}
	return l.write(ctx)
}

// lockKey is where a context has the lock that it is held by.
type lockKey struct{}

// stillHeld reads, before a write, who has the lock of the context: a turn that
// was ended is noticed by the next renewal only, and a write is not to come
// after it. Without a lock there is nothing to lose.
func stillHeld(ctx context.Context) error {
	l, ok := ctx.Value(lockKey{}).(*lock)
	if !ok {
		return nil
	}
	mine := newLock(l.c, l.key, l.claim, l.identity) // the renewal has its own
	if err := mine.read(ctx); err != nil {
		return err
	}
	return mine.lost(ctx)
}

// left returns how long this run may continue without another renewal.
func (l *lock) left() time.Duration {
	o := l.c.opts()
	return o.RenewDeadline - o.Clock.Since(l.renewed)
}

// renew renews the lock until ctx ends or it is lost: to another run, or because it
// could not be renewed before it ran out.
func (l *lock) renew(ctx context.Context, lose context.CancelCauseFunc) {
	o := l.c.opts()
	pause := min(o.RenewInterval, l.left())
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.Clock.After(pause):
		}
		lost, err := l.renewOnce(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case lost != nil:
			lose(lost)
			return
		case err == nil:
			pause = o.RenewInterval
		case l.left() <= 0:
			lose(l.unrenewed(ctx, err))
			return
		default:
			pause = min(o.RetryPeriod, l.left())
		}
	}
}

// unrenewed is why this run stops although it was not told to: another run has the
// lock meanwhile, as after a sleep, or the API server does not answer. What the latter
// ended with is no timeout of the command.
func (l *lock) unrenewed(ctx context.Context, err error) error {
	ctx, cancel := context.WithTimeout(ctx, l.c.opts().RetryPeriod)
	defer cancel()
	if lost := l.taken(ctx); lost != nil {
		return lost
	}
	return fmt.Errorf("the lock of cluster %s could not be renewed, so this run stops writing; run the same command again to continue: %v", l.key, l.c.explain(ctx, err)) //nolint:errorlint // see above
}

// renewOnce renews the lock, with no more time than is left. It returns also
// whether it was lost to another run.
func (l *lock) renewOnce(ctx context.Context) (lost, err error) {
	ctx, cancel := context.WithTimeout(ctx, min(l.c.opts().RenewInterval, l.left()))
	defer cancel()
	err = l.write(ctx)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		lost = l.taken(ctx)
	}
	return lost, err
}

// taken reads the lock anew, and returns an error where it is another's.
func (l *lock) taken(ctx context.Context) error {
	if err := l.read(ctx); err != nil {
		return nil //nolint:nilerr // without an answer it is not known
	}
	return l.lost(ctx)
}

// lost is the error about the first Lease that is no longer this run's. A run that
// took over from a rival left its Lease without a holder.
func (l *lock) lost(ctx context.Context) error {
	for _, lease := range l.leases {
		if holder(lease.Spec) == l.identity {
			continue
		}
		holding := l.holding(lease)
		if holding.Holder == "" {
			if rivals, err := l.rivals(ctx); err == nil {
				if i := slices.IndexFunc(rivals, l.ofAnother); i >= 0 {
					holding = l.holding(rivals[i])
				}
			}
		}
		return &LockedError{HeldLock: holding, Lost: true}
	}
	return nil
}

// whileHeld writes something, with retries, and only where the lock of the context
// is still this run's.
func (c *Client) whileHeld(ctx context.Context, write func() error) error {
	return c.retrying(ctx, func() error {
		if err := stillHeld(ctx); err != nil {
			return err
		}
		return write()
	})
}

// HeldLocks returns the runs that work on a cluster now, and what each of them works on.
// They are compared with this machine's clock, which is good enough only for showing
// them.
func (c *Client) HeldLocks(ctx context.Context, key client.ObjectKey) ([]HeldLock, error) {
	leases, err := c.leasesOf(ctx, key)
	if err != nil {
		return nil, c.explain(ctx, fmt.Errorf("looking up who works on cluster %s: %w", key, err))
	}
	o := c.opts()
	var held []HeldLock
	for _, lease := range leases {
		if renewed := lease.Spec.RenewTime; holder(lease.Spec) != "" && renewed != nil && o.Clock.Since(renewed.Time) <= o.durationOf(lease.Spec) {
			held = append(held, o.heldLockOf(key, lease))
		}
	}
	return held, nil
}
