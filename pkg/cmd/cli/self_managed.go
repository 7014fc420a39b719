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
	return selfmanaged.Cluster{
		Key:       types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name},
		Bootstrap: a.Management.Bootstrap(cluster.Name), Itself: &itself,
		Connect: func(ctx context.Context, choice *connection.Choice) (selfmanaged.ManagementCluster, error) {
			return a.serviceOn(ctx, choice, nil)
		},
		Moves: backup.Options{TakeOver: takeOver, Waiting: a.SayWaiting}, Say: a.Say,
	}
}
