// Package selfmanaged creates and deletes clusters that manage themselves. Such a cluster begins
// on a bootstrap, which is an embedded management cluster for it alone: Cluster API is installed
// into the new cluster, which is then moved into itself, and the bootstrap is removed. To be
// deleted it is moved back to a bootstrap.
//
// A call that was stopped anywhere is completed by the same call: where the cluster is, its
// objects say.
package selfmanaged

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/backup"
	"github.com/clusterctl-x/clusterctl-x/pkg/connection"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
)

// ManagementCluster is a connection to a management cluster.
type ManagementCluster struct {
	*management.Client
	Clusters *lifecycle.Service
}

// Cluster is a cluster that manages itself, or is to.
type Cluster struct {
	// Key names the cluster. Without a namespace it is in that of the management cluster in use.
	Key types.NamespacedName
	// Bootstrap is the embedded management cluster that the cluster begins and ends on, and Itself
	// the cluster as a management cluster.
	Bootstrap, Itself *connection.Choice
	// Connect connects to one of them.
	Connect func(context.Context, *connection.Choice) (ManagementCluster, error)
	// Moves are the options of its moves.
	Moves backup.Options
	// Say is called with what happens.
	Say func(format string, args ...any)
}

// begun reports whether there is a bootstrap.
func (c Cluster) begun() (bool, error) {
	_, created, err := c.Bootstrap.Created()
	return created, err
}

// Names of refusals.
const (
	checkKubeconfig = "kubeconfig-exists"
	checkMoving     = "being-moved"
	checkManages    = "manages-clusters"
)

// Commands that complete what was stopped.
const (
	createCommand = "clusterctl-x create cluster"
	deleteCommand = "clusterctl-x delete cluster"
)

// place is a management cluster, and what it has of the cluster.
type place struct {
	ManagementCluster
	key   types.NamespacedName
	moves *backup.Service
	has   backup.Place
}

// look finds out what a management cluster has of the cluster.
func (c Cluster) look(ctx context.Context, choice *connection.Choice) (place, error) {
	connected, err := c.Connect(ctx, choice)
	if err != nil {
		return place{}, err
	}
	p := place{ManagementCluster: connected, key: connected.Clusters.Key(c.Key.Name, c.Key.Namespace)}
	if p.moves, err = backup.New(connected.Client, c.Moves); err != nil {
		return place{}, err
	}
	p.has, err = p.moves.Place(ctx, p.key)
	return p, err
}

// removeBootstrap removes the bootstrap, unless it has other clusters: a user may have created them
// there.
func (c Cluster) removeBootstrap(ctx context.Context, bootstrap place) error {
	others, err := bootstrap.Client.Clusters(ctx, management.Filter{})
	if err == nil && len(others) > 0 {
		c.Say("embedded management cluster %q has other clusters, and stays", c.Bootstrap.InstanceName)
		return nil
	}
	if err == nil {
		err = c.Bootstrap.Remove(ctx)
	}
	if err != nil {
		return fmt.Errorf("removing the bootstrap of cluster %s: %w", c.Key, err)
	}
	return nil
}
