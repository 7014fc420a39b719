package management

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// leases is a management cluster with a cluster and its Leases. Like an API server it
// takes no update of a version that is not the last one, and like a client it
// reads an answer into the object that is there.
type leases struct {
	mu      sync.Mutex
	all     map[string]*coordinationv1.Lease // by name
	version int
	// gone is true where there is no Cluster.
	gone bool
	// managesItself is true where the Cluster says that it manages itself.
	managesItself bool
	// options of those who ask it.
	options Options
	// before is asked before each request but for the Cluster; its error is the answer.
	before func(ctx context.Context, verb string) error
}

func leaseResource() schema.GroupResource {
	return schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
}

func (l *leases) client() *Client {
	ask := func(ctx context.Context, verb string) error {
		l.mu.Lock()
		before := l.before
		l.mu.Unlock()
		if before == nil {
			return nil
		}
		return before(ctx, verb)
	}
	request := func(ctx context.Context, verb string, o client.Object, then func(live *coordinationv1.Lease, sent *coordinationv1.Lease) error) error {
		if err := ask(ctx, verb); err != nil {
			return err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if err := then(l.all[o.GetName()], o.(*coordinationv1.Lease).DeepCopy()); err != nil {
			return err
		}
		data, err := json.Marshal(l.all[o.GetName()])
		if err != nil {
			return err
		}
		return json.Unmarshal(data, o)
	}
	missing := func(name string) error { return apierrors.NewNotFound(leaseResource(), name) }
	c := clientOf(interceptor.Funcs{
		Get: func(ctx context.Context, _ client.WithWatch, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
			if _, ok := o.(*coordinationv1.Lease); !ok {
				l.mu.Lock()
				defer l.mu.Unlock()
				if l.gone {
					return apierrors.NewNotFound(schema.GroupResource{Resource: "clusters"}, key.Name)
				}
				o.SetUID("uid")
				if l.managesItself {
					o.SetLabels(map[string]string{v1alpha1.ManagementClusterLabel: key.Name})
				}
				return nil
			}
			o.SetName(key.Name)
			return request(ctx, "get", o, func(live, _ *coordinationv1.Lease) error {
				if live == nil {
					return missing(key.Name)
				}
				return nil
			})
		},
		List: func(ctx context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
			if err := ask(ctx, "list"); err != nil {
				return err
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			for _, name := range slices.Sorted(maps.Keys(l.all)) {
				list.(*coordinationv1.LeaseList).Items = append(list.(*coordinationv1.LeaseList).Items, *l.all[name].DeepCopy())
			}
			return nil
		},
		Create: func(ctx context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			return request(ctx, "create", o, func(live, sent *coordinationv1.Lease) error {
				if live != nil {
					return apierrors.NewAlreadyExists(leaseResource(), sent.Name)
				}
				l.store(sent)
				return nil
			})
		},
		Update: func(ctx context.Context, _ client.WithWatch, o client.Object, _ ...client.UpdateOption) error {
			return request(ctx, "update", o, func(live, sent *coordinationv1.Lease) error {
				switch {
				case live == nil:
					return missing(sent.Name)
				case sent.ResourceVersion != live.ResourceVersion:
					return apierrors.NewConflict(leaseResource(), sent.Name, errors.New("it has changed"))
				}
				l.store(sent)
				return nil
			})
		},
		Delete: func(_ context.Context, _ client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			l.mu.Lock()
			defer l.mu.Unlock()
			var all client.DeleteOptions
			all.ApplyOptions(options)
			live := l.all[o.GetName()]
			if live == nil || all.Preconditions == nil || *all.Preconditions.ResourceVersion != live.ResourceVersion {
				return fmt.Errorf("deleting Lease %s as %+v", o.GetName(), all.Preconditions)
			}
			delete(l.all, o.GetName())
			return nil
		},
	})
	c.options = l.options
	return c
}

// lease is a copy of the Lease of a name, nil where there is none.
func (l *leases) lease(name string) *coordinationv1.Lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all[name].DeepCopy()
}

// answer has each request answered by before.
func (l *leases) answer(before func(ctx context.Context, verb string) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.before = before
}

func (l *leases) setGone(gone bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone = gone
}

func (l *leases) store(lease *coordinationv1.Lease) {
	l.version++
	lease.ResourceVersion = strconv.Itoa(l.version)
	if l.all == nil {
		l.all = map[string]*coordinationv1.Lease{}
	}
	l.all[lease.Name] = lease
}

// change is what somebody else does to the Lease of a group, or of the whole cluster.
func (l *leases) change(group string, change func(*coordinationv1.Lease)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lease := l.all[leaseName("c", group)].DeepCopy()
	change(lease)
	l.store(lease)
}

// heldBy is the Lease of the whole cluster, made and renewed by somebody now.
func (l *leases) heldBy(who string) { l.groupHeldBy(wholeCluster, who) }

func (l *leases) groupHeldBy(group, who string) {
	l.mu.Lock()
	l.store(&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: leaseName("c", group)}})
	l.mu.Unlock()
	l.groupRenewedBy(group, who)
}

func (l *leases) renewedBy(who string) { l.groupRenewedBy(wholeCluster, who) }

func (l *leases) groupRenewedBy(group, who string) {
	l.change(group, func(lease *coordinationv1.Lease) {
		lease.Spec.HolderIdentity, lease.Spec.RenewTime = &who, new(metav1.NowMicro())
	})
}

// holder of the Lease of the whole cluster.
func (l *leases) holder() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return holder(l.all[leaseName("c", wholeCluster)].Spec)
}

// holders are those of all Leases, by group; this run is "mine".
func (l *leases) holders() map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	holders := map[string]string{}
	for _, lease := range l.all {
		turn := l.options.withDefaults().heldLockOf(clusterKey(), *lease)
		if strings.HasPrefix(turn.Holder, "process ") {
			turn.Holder = "mine"
		}
		holders[turn.Group] = turn.Holder
	}
	return holders
}

// lose deletes the Lease of the whole cluster.
func (l *leases) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, leaseName("c", wholeCluster))
}
