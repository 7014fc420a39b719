package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

func (a *app) watchClusterCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "cluster NAME",
		Short:             "Show what happens to a cluster until it is as its spec asks for, with the steps that are left and what holds them up",
		Args:              oneName,
		ValidArgsFunction: a.completeClusters,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := a.withTimeout(cmd.Context(), 0)
			defer cancel()
			return a.watchCluster(ctx, args[0])
		},
	}
}

func (a *app) watchCluster(ctx context.Context, name string) error {
	service, err := a.serviceWithBundles(ctx)
	if err != nil {
		return err
	}
	key := service.Key(name, "")
	began := time.Now()
	var progress *view.Progress // nil until anything was seen
	seen, err := service.Watch(ctx, key, func(seen lifecycle.Watched) {
		if progress == nil {
			progress = a.progress()
		}
		progress.ShowLeft(seen.Left, seen.Cluster)
	})
	if progress != nil {
		progress.Close()
	}
	switch {
	case errors.Is(err, management.ErrTimeout) && seen.Cluster.Name == "":
		return fmt.Errorf("%w; nothing was seen of cluster %s yet", err, key)
	case errors.Is(err, management.ErrTimeout):
		return fmt.Errorf("%w watching; cluster %s waits for %s", err, key, seen.Cluster.Waiting())
	case errors.Is(err, context.Canceled):
		return interruptedError("watching changes nothing, and nothing stops with it")
	case err != nil:
		return err
	}
	return a.result("%s", watched(seen, key, time.Since(began).Round(time.Second)))
}

// watched says what was seen of a cluster in the end.
func watched(w lifecycle.Watched, key types.NamespacedName, after time.Duration) string {
	switch {
	case w.Gone:
		return fmt.Sprintf("cluster %s is gone", key)
	case w.Unknown != nil:
		return fmt.Sprintf("cluster %s is at %s after %s; whether that is all that was asked for cannot be told: %v", key, w.Cluster.ControlPlane.Version, after, w.Unknown)
	case !w.Left.Empty():
		return fmt.Sprintf("cluster %s is at %s after %s, and nobody takes the next step (%s): 'clusterctl-x upgrade cluster' does", key, w.Cluster.ControlPlane.Version, after, w.Left.Steps[0])
	default:
		return fmt.Sprintf("cluster %s is at %s and as its spec asks for, after %s", key, w.Cluster.ControlPlane.Version, after)
	}
}
