package backup

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/cluster"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// proxy is how clusterctl's library reaches a management cluster. The mover asks it for
// clients and for nothing else.
type proxy struct {
	cluster.Proxy
	client client.Client
}

// NewClient returns the client.
func (p proxy) NewClient(context.Context) (client.Client, error) { return p.client, nil }

// mover returns clusterctl's library for a management cluster. It reads no file of the user,
// and reaches nothing else.
func mover(c client.Client) cluster.Client {
	return cluster.New(cluster.Kubeconfig{}, nil, cluster.InjectProxy(proxy{client: withoutInventory{c}}))
}

// withoutInventory is a client for management clusters that clusterctl did not install, and
// that have no list of providers: the embedded ones, and those of the Cluster API operator or
// of GitOps tools.
type withoutInventory struct{ client.Client }

// List returns no providers where there is no such list.
func (c withoutInventory) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := c.Client.List(ctx, list, options...)
	if _, inventory := list.(*clusterctlv1.ProviderList); inventory && (meta.IsNoMatchError(err) || apierrors.IsNotFound(err)) {
		return nil
	}
	return err
}

// restoreOwner is the field manager of objects as they are created. It does not stay: it
// would own the fields together with their owners, who could no longer remove them.
const restoreOwner = client.FieldOwner("clusterctl-x-restore")

// creator is the client that objects are restored with.
type creator struct {
	pauser
	// giveUp ends the restore: clusterctl would try for minutes what is refused for good.
	giveUp context.CancelCauseFunc

	mu      sync.Mutex
	created int
}

// Create creates an object with the field managers that it had.
func (c *creator) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	managers := object.GetManagedFields()
	err := c.Client.Create(ctx, object, append(options, restoreOwner)...)
	if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) {
		c.giveUp(fmt.Errorf("creating %s %s: %w", object.GetObjectKind().GroupVersionKind().Kind, client.ObjectKeyFromObject(object), err))
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.created++
	c.mu.Unlock()
	if restored, is := object.(*unstructured.Unstructured); is {
		if err := giveBack(ctx, c.Client, restored, managers); err != nil {
			c.giveUp(err) // the next run does it
			return err
		}
	}
	return nil
}
