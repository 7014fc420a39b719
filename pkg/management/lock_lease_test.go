package management

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// leases is a management cluster with room for one Lease. Like an API server it
// takes no update of a version that is not the last one, and like a client it
// reads an answer into the object that is there.
type leases struct {
	mu      sync.Mutex
	lease   *coordinationv1.Lease // nil where there is none
	version int
	// before is asked before each request but for the Cluster; its error is the answer.
	before func(ctx context.Context, verb string) error
}

func (l *leases) client() *Client {
	leaseResource := schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	request := func(ctx context.Context, verb string, o client.Object, then func(sent *coordinationv1.Lease) error) error {
		if l.before != nil {
			if err := l.before(ctx, verb); err != nil {
				return err
			}
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if err := then(o.(*coordinationv1.Lease).DeepCopy()); err != nil {
			return err
		}
		data, err := json.Marshal(l.lease)
		if err != nil {
			return err
		}
		return json.Unmarshal(data, o)
	}
	return clientOf(interceptor.Funcs{
		Get: func(ctx context.Context, _ client.WithWatch, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
			if _, ok := o.(*coordinationv1.Lease); !ok {
				o.SetUID("uid")
				return nil
			}
			return request(ctx, "get", o, func(*coordinationv1.Lease) error {
				if l.lease == nil || client.ObjectKeyFromObject(l.lease) != key {
					return apierrors.NewNotFound(leaseResource, key.Name)
				}
				return nil
			})
		},
		Create: func(ctx context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			return request(ctx, "create", o, func(sent *coordinationv1.Lease) error {
				if l.lease != nil {
					return apierrors.NewAlreadyExists(leaseResource, sent.Name)
				}
				l.store(sent)
				return nil
			})
		},
		Update: func(ctx context.Context, _ client.WithWatch, o client.Object, _ ...client.UpdateOption) error {
			return request(ctx, "update", o, func(sent *coordinationv1.Lease) error {
				switch {
				case l.lease == nil:
					return apierrors.NewNotFound(leaseResource, sent.Name)
				case sent.ResourceVersion != l.lease.ResourceVersion:
					return apierrors.NewConflict(leaseResource, sent.Name, errors.New("it has changed"))
				}
				l.store(sent)
				return nil
			})
		},
	})
}

func (l *leases) store(lease *coordinationv1.Lease) {
	l.version++
	lease.ResourceVersion = strconv.Itoa(l.version)
	l.lease = lease
}

// change is what somebody else does to the Lease.
func (l *leases) change(change func(*coordinationv1.Lease)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lease := l.lease.DeepCopy()
	change(lease)
	l.store(lease)
}

// heldBy is a Lease of somebody, renewed now.
func (l *leases) heldBy(who string) {
	l.store(&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c-clusterctl-x"}})
	l.change(func(lease *coordinationv1.Lease) {
		lease.Spec.HolderIdentity, lease.Spec.RenewTime = &who, new(metav1.NowMicro())
	})
}

func (l *leases) renewedBy(who string) {
	l.change(func(lease *coordinationv1.Lease) {
		lease.Spec.HolderIdentity, lease.Spec.RenewTime = &who, new(metav1.NowMicro())
	})
}

func (l *leases) holder() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return holder(l.lease.Spec)
}
