package management

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A run holds a Lease for lockDuration and renews it every lockRenewal, or every
// lockPoll while that fails. It gives up lockMargin before the Lease runs out, so
// that the last thing that it sent arrives before another run begins. Whoever
// wants the Lease meanwhile looks every lockPoll.
const (
	lockDuration = 15 * time.Second
	lockRenewal  = 5 * time.Second
	lockPoll     = time.Second
	lockMargin   = 3 * time.Second
)

// LockedError says that another run works on the cluster.
type LockedError struct {
	Cluster string
	Holder  string
	Until   time.Time
	// Lost is true where this run had the lock before.
	Lost bool
}

func (e *LockedError) Error() string {
	if e.Lost {
		return fmt.Sprintf("%s works on cluster %s now, so this run wrote nothing more; what it began goes on", e.Holder, e.Cluster)
	}
	return fmt.Sprintf("%s works on cluster %s, at least until %s; wait until it is done, or end its turn with --take-over", e.Holder, e.Cluster, e.Until.Format(time.TimeOnly))
}

// Lock makes this the one run that works on a cluster, until the returned
// function is called. The returned context ends, with a *LockedError as its
// cause, when somebody else takes over. A lock that nobody renews is waited
// for until it runs out; waiting is told of that. One that is renewed is a
// *LockedError, unless this run takes over.
func (c *Client) Lock(ctx context.Context, key client.ObjectKey, takeOver bool, waiting func(holder string)) (context.Context, func(), error) {
	owner, err := c.owner(ctx, key)
	if err != nil {
		return nil, nil, err
	}
	l := &lock{c: c, key: key, owner: owner, identity: identity()}
	if err := l.acquire(ctx, takeOver, waiting); err != nil {
		return nil, nil, c.explain(ctx, err)
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

type lock struct {
	c        *Client
	key      client.ObjectKey
	owner    metav1.OwnerReference
	identity string
	lease    coordinationv1.Lease
	// renewed is when the last renewal that was answered was sent.
	renewed time.Time
}

// identity names this run, to people and among all runs.
func identity() string {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	return fmt.Sprintf("process %d on %s, begun %s", os.Getpid(), host, time.Now().UTC().Format("15:04:05.000"))
}

func (l *lock) acquire(ctx context.Context, takeOver bool, waiting func(holder string)) error {
	var seen coordinationv1.LeaseSpec
	var since time.Time
	ticker := time.NewTicker(lockPoll)
	defer ticker.Stop()
	for {
		err := l.read(ctx)
		switch {
		case apierrors.IsNotFound(err):
			err = l.create(ctx)
		case err != nil:
		case takeOver || holder(l.lease.Spec) == "":
			err = l.update(ctx)
		case since.IsZero():
			seen, since = l.lease.Spec, time.Now()
			waiting(holder(seen))
			err = errHeld
		case !equalTime(seen.RenewTime, l.lease.Spec.RenewTime) || holder(seen) != holder(l.lease.Spec):
			return &LockedError{Cluster: l.key.String(), Holder: holder(l.lease.Spec), Until: until(l.lease.Spec)}
		case time.Since(since) > lockDuration:
			err = l.update(ctx)
		default:
			err = errHeld
		}
		if err == nil {
			return nil
		}
		if !errors.Is(err, errHeld) && !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("locking cluster %s: %w", l.key, err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return timedOut(ctx)
		}
	}
}

// errHeld says that somebody has the lock.
var errHeld = errors.New("held")

func holder(spec coordinationv1.LeaseSpec) string {
	if spec.HolderIdentity == nil {
		return ""
	}
	return *spec.HolderIdentity
}

// until is when a lock runs out, by the clock of its holder.
func until(spec coordinationv1.LeaseSpec) time.Time {
	if spec.RenewTime == nil {
		return time.Now()
	}
	return spec.RenewTime.Add(lockDuration)
}

func equalTime(a, b *metav1.MicroTime) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Equal(b)
}

func leaseName(cluster string) string { return cluster + "-clusterctl-x" }

func (l *lock) create(ctx context.Context) error {
	l.lease = coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: l.key.Namespace, Name: leaseName(l.key.Name),
		Labels: map[string]string{ClusterLabel: l.key.Name}, OwnerReferences: []metav1.OwnerReference{l.owner},
	}}
	return l.hold(func() error { return l.c.Create(ctx, &l.lease, FieldOwner) })
}

func (l *lock) update(ctx context.Context) error {
	return l.hold(func() error { return l.c.Update(ctx, &l.lease, FieldOwner) })
}

// hold makes the Lease this run's for another lockDuration.
func (l *lock) hold(write func() error) error {
	now := metav1.NowMicro()
	l.lease.Spec.HolderIdentity = new(l.identity)
	l.lease.Spec.LeaseDurationSeconds = new(int32(lockDuration / time.Second))
	l.lease.Spec.RenewTime = &now
	sent := time.Now()
	if err := write(); err != nil {
		return err
	}
	l.renewed = sent
	return nil
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
	mine := &lock{c: l.c, key: l.key, identity: l.identity} // the renewal has its own
	if err := mine.read(ctx); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if holder(mine.lease.Spec) != l.identity {
		return &LockedError{Cluster: l.key.String(), Holder: cmp.Or(holder(mine.lease.Spec), "nobody"), Lost: true}
	}
	return nil
}

// left is how long this run may go on without another renewal.
func (l *lock) left() time.Duration { return time.Until(l.renewed.Add(lockDuration - lockMargin)) }

// renew renews the lock until ctx ends or it is lost: to somebody else, or
// because it could not be renewed before it ran out.
func (l *lock) renew(ctx context.Context, lose context.CancelCauseFunc) {
	pause := min(lockRenewal, l.left())
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		lost, err := l.renewOnce(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case lost != nil:
			lose(lost)
			return
		case err == nil:
			pause = lockRenewal
		case l.left() <= 0:
			lose(l.unrenewed(ctx, err))
			return
		default:
			pause = min(lockPoll, l.left())
		}
	}
}

// unrenewed is why this run stops although nobody told it to: somebody else has
// the lock meanwhile, as after a sleep, or nobody answers. What the latter ended
// with is no timeout of the command.
func (l *lock) unrenewed(ctx context.Context, err error) error {
	ctx, cancel := context.WithTimeout(ctx, lockPoll)
	defer cancel()
	if lost := l.taken(ctx); lost != nil {
		return lost
	}
	return fmt.Errorf("the lock of cluster %s could not be renewed, so this run stops writing; run the same command again to go on: %v", l.key, l.c.explain(ctx, err)) //nolint:errorlint // see above
}

// renewOnce renews the lock, with no more time than is left. It returns also
// whether it was lost to somebody else.
func (l *lock) renewOnce(ctx context.Context) (lost, err error) {
	ctx, cancel := context.WithTimeout(ctx, min(lockRenewal, l.left()))
	defer cancel()
	err = l.update(ctx)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		lost = l.taken(ctx)
	}
	return lost, err
}

// read reads the Lease anew.
func (l *lock) read(ctx context.Context) error {
	var lease coordinationv1.Lease
	if err := l.c.Get(ctx, client.ObjectKey{Namespace: l.key.Namespace, Name: leaseName(l.key.Name)}, &lease); err != nil {
		return err
	}
	l.lease = lease
	return nil
}

// taken reads the lock anew, and returns an error where it is another's.
func (l *lock) taken(ctx context.Context) error {
	err := l.read(ctx)
	if apierrors.IsNotFound(err) {
		return &LockedError{Cluster: l.key.String(), Holder: "nobody", Lost: true}
	}
	if err == nil && holder(l.lease.Spec) != l.identity {
		return &LockedError{Cluster: l.key.String(), Holder: cmp.Or(holder(l.lease.Spec), "nobody"), Lost: true}
	}
	return nil
}

// release gives the lock back. Where that fails it runs out by itself.
func (l *lock) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lockPoll)
	defer cancel()
	if l.taken(ctx) != nil {
		return
	}
	l.lease.Spec.HolderIdentity = new("")
	_ = l.c.Update(ctx, &l.lease, FieldOwner)
}

// whileHeld writes something patiently, and only where the lock of the context
// is still this run's.
func whileHeld(ctx context.Context, write func() error) error {
	return patiently(ctx, func() error {
		if err := stillHeld(ctx); err != nil {
			return err
		}
		return write()
	})
}

// LockHolder names the run that works on a cluster now; it is empty where none
// does. It compares with this machine's clock, which is good enough to tell, and
// for nothing else.
func (c *Client) LockHolder(ctx context.Context, key client.ObjectKey) (string, error) {
	var lease coordinationv1.Lease
	err := c.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: leaseName(key.Name)}, &lease)
	switch {
	case apierrors.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", c.explain(ctx, fmt.Errorf("looking who works on cluster %s: %w", key, err))
	case lease.Spec.RenewTime == nil || time.Since(lease.Spec.RenewTime.Time) > lockDuration:
		return "", nil
	}
	return holder(lease.Spec), nil
}
