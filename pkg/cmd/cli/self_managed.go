package cli

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/backup"
	"github.com/clusterctl-x/clusterctl-x/pkg/connection"
	"github.com/clusterctl-x/clusterctl-x/pkg/selfmanaged"
)

// SelfManaged returns a cluster that manages itself, or is to, and whose own management cluster
// itself is. TakeOver says whether its locks are taken over.
func (a *App) SelfManaged(cluster v1alpha1.Meta, itself connection.Choice, takeOver bool) selfmanaged.Cluster {
	first := bootstrap{a, a.Management.Bootstrap(cluster.Name)}
	return selfmanaged.Cluster{
		Key:       types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name},
		Bootstrap: first,
		Itself: func(ctx context.Context) (selfmanaged.ManagementCluster, error) {
			if begun, err := first.Exists(); err == nil && begun {
				itself.Starts = false // the cluster is not on another embedded management cluster
			}
			return a.managementCluster(ctx, &itself)
		},
		Moves: backup.Options{TakeOver: takeOver, Waiting: a.SayWaiting},
		Say:   a.Say,
	}
}

func (a *App) managementCluster(ctx context.Context, choice *connection.Choice) (selfmanaged.ManagementCluster, error) {
	c, service, err := a.serviceOn(ctx, choice, nil)
	if err != nil {
		return selfmanaged.ManagementCluster{}, err
	}
	return selfmanaged.ManagementCluster{Client: c.Client, Clusters: service}, nil
}

// bootstrap is the embedded management cluster that a cluster which manages itself begins and ends
// on.
type bootstrap struct {
	app *App
	*connection.Choice
}

func (b bootstrap) Exists() (bool, error) {
	_, created, err := b.Created()
	return created, err
}

func (b bootstrap) Connect(ctx context.Context) (selfmanaged.ManagementCluster, error) {
	return b.app.managementCluster(ctx, b.Choice)
}
