package backup

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
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
