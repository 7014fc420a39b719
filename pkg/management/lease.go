package management

import (
	"context"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// wholeCluster is the name of the cluster as a whole, in the place of a worker node
// group.
const wholeCluster = ""

// leaseName is the name of the Lease of a worker node group, or of the whole cluster.
// Neither a cluster nor a group has a dot in its name, so no two of these names are the
// same.
func leaseName(cluster, group string) string {
	if group == wholeCluster {
		return cluster + "-clusterctl-x"
	}
	return cluster + "-clusterctl-x." + group
}

func holder(spec coordinationv1.LeaseSpec) string {
	if spec.HolderIdentity == nil {
		return ""
	}
	return *spec.HolderIdentity
}

// durationOf is for how long a Lease is held without being renewed.
func (o Options) durationOf(spec coordinationv1.LeaseSpec) time.Duration {
	if spec.LeaseDurationSeconds == nil {
		return o.LeaseDuration
	}
	return time.Duration(*spec.LeaseDurationSeconds) * time.Second
}

// until is when a Lease runs out, by the clock of its holder.
func (o Options) until(spec coordinationv1.LeaseSpec) time.Time {
	if spec.RenewTime == nil {
		return o.Clock.Now()
	}
	return spec.RenewTime.Add(o.durationOf(spec))
}

func equalTime(a, b *metav1.MicroTime) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Equal(b)
}

func (l *lock) holding(lease coordinationv1.Lease) HeldLock {
	return l.c.opts().heldLockOf(l.key, lease)
}

func (o Options) heldLockOf(key client.ObjectKey, lease coordinationv1.Lease) HeldLock {
	group, _ := strings.CutPrefix(lease.Name, leaseName(key.Name, wholeCluster))
	return HeldLock{Holder: holder(lease.Spec), Cluster: key.String(), Group: strings.TrimPrefix(group, "."), Until: o.until(lease.Spec)}
}

// ofAnother reports whether another run holds a Lease.
func (l *lock) ofAnother(lease coordinationv1.Lease) bool {
	return holder(lease.Spec) != "" && holder(lease.Spec) != l.identity
}

// leasesOf are all Leases of a cluster.
func (c *Client) leasesOf(ctx context.Context, key client.ObjectKey) ([]coordinationv1.Lease, error) {
	var list coordinationv1.LeaseList
	err := c.List(ctx, &list, client.InNamespace(key.Namespace), client.MatchingLabels{v1alpha1.ClusterLabel: key.Name})
	return list.Items, err
}

// rivals are the Leases that exclude this run, whoever holds them: those of all groups
// for a run on the whole cluster, and that of the whole cluster for a run on groups.
func (l *lock) rivals(ctx context.Context) ([]coordinationv1.Lease, error) {
	whole := leaseName(l.key.Name, wholeCluster)
	if len(l.claim.Groups) > 0 {
		var lease coordinationv1.Lease
		err := l.c.Get(ctx, client.ObjectKey{Namespace: l.key.Namespace, Name: whole}, &lease)
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return []coordinationv1.Lease{lease}, err
	}
	all, err := l.c.leasesOf(ctx, l.key)
	var rivals []coordinationv1.Lease
	for _, lease := range all {
		if lease.Name != whole {
			rivals = append(rivals, lease)
		}
	}
	return rivals, err
}

// read reads the Leases of this run. One that is not there is empty but for its name.
func (l *lock) read(ctx context.Context) error {
	for i := range l.leases {
		name := client.ObjectKeyFromObject(&l.leases[i])
		var lease coordinationv1.Lease
		err := l.c.Get(ctx, name, &lease)
		if client.IgnoreNotFound(err) != nil {
			return err
		}
		if err != nil {
			lease = coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}
		}
		l.leases[i] = lease
	}
	return nil
}

// write makes the Leases this run's for another LeaseDuration.
func (l *lock) write(ctx context.Context) error {
	o := l.c.opts()
	sent := o.Clock.Now()
	for i := range l.leases {
		lease := &l.leases[i]
		metav1.SetMetaDataLabel(&lease.ObjectMeta, v1alpha1.ClusterLabel, l.key.Name)
		lease.OwnerReferences = l.owners
		lease.Spec.HolderIdentity = new(l.identity)
		lease.Spec.LeaseDurationSeconds = new(int32(o.LeaseDuration / time.Second))
		lease.Spec.RenewTime = new(metav1.NewMicroTime(o.Clock.Now()))
		write := func() error { return l.c.Update(ctx, lease, FieldOwner) }
		if lease.ResourceVersion == "" {
			write = func() error { return l.c.Create(ctx, lease, FieldOwner) }
		}
		if err := write(); err != nil {
			return err
		}
	}
	l.renewed = sent
	return nil
}

// evict ends the turn of a rival. It notices before its next write.
func (l *lock) evict(ctx context.Context, lease *coordinationv1.Lease) error {
	if !l.ofAnother(*lease) {
		return nil
	}
	lease.Spec.HolderIdentity = new("")
	return client.IgnoreNotFound(l.c.Update(ctx, lease, FieldOwner))
}

// release gives back what this run has. Where that fails it runs out by itself.
func (l *lock) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, l.c.opts().RetryTimeout/2)
	defer cancel()
	if l.read(ctx) != nil {
		return
	}
	remains := true
	if l.claim.Unowned {
		owner, err := l.c.owner(ctx, l.key)
		if client.IgnoreNotFound(err) != nil {
			return
		}
		if remains = err == nil; remains {
			l.owners = []metav1.OwnerReference{owner.OwnerReference}
		}
	}
	for i := range l.leases {
		lease := &l.leases[i]
		switch {
		case holder(lease.Spec) != l.identity:
		case remains:
			lease.Spec.HolderIdentity, lease.OwnerReferences = new(""), l.owners
			_ = l.c.Update(ctx, lease, FieldOwner)
		default: // no Cluster takes it along
			_ = l.c.Delete(ctx, lease, client.Preconditions{UID: &lease.UID, ResourceVersion: &lease.ResourceVersion})
		}
	}
}
