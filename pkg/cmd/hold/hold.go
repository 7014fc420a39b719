// Package hold holds the upgrades of clusters, and releases them.
package hold

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/input"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// addPlace adds the flags that name the place of a hold.
func addPlace(cmd *cobra.Command, place *input.HoldPlace) {
	place.AddTo(cmd.Flags())
	for _, flag := range []string{"before", "after"} {
		commandline.CompleteFlag(cmd, flag, state.HoldPlaces(flag))
	}
}

// New returns the command hold.
func New(a *cli.App) *cobra.Command {
	var place input.HoldPlace
	var point state.HoldPoint
	var reason string
	cmd := a.ClusterCommand("Hold the upgrades of a cluster at a hold point until it is released", a.Service, func(ctx context.Context, service *lifecycle.Service, key types.NamespacedName) error {
		changed, err := service.Hold(ctx, key, point, reason)
		switch {
		case err != nil:
			return err
		case !changed:
			return a.Result("cluster %s is held %s for that reason already; nothing to do", key, point)
		}
		return a.Result("cluster %s is held %s; 'clusterctl-x release cluster %s -n %s %s' lifts it", key, point, key.Name, key.Namespace, point.Flag())
	})
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) (err error) {
		if point, err = place.Read(cmd.CommandPath()); err != nil {
			return err
		}
		reason, err = state.ParseHoldReason(reason)
		switch {
		case err != nil:
			return usage.Errorf("--reason %w", err)
		case reason == "":
			return usage.Errorf("'%s' needs --reason: it is shown to everyone who finds the upgrade waiting", cmd.CommandPath())
		}
		return nil
	}
	addPlace(cmd, &place)
	cmd.Flags().StringVar(&reason, "reason", "", "why the upgrade is held; every command that reports the hold shows it")
	return commandline.Group("hold", "Hold the upgrades of a cluster", cli.Starts(cmd))
}

// NewRelease returns the command release.
func NewRelease(a *cli.App) *cobra.Command {
	var place input.HoldPlace
	var all bool
	points := state.HoldPoints()
	cmd := a.ClusterCommand("Lift the hold of a cluster at a hold point", a.Service, func(ctx context.Context, service *lifecycle.Service, key types.NamespacedName) error {
		lifted, left, err := service.Release(ctx, key, points)
		if err != nil {
			return err
		}
		for _, hold := range left {
			a.Warning("cluster %s stays %s", key, hold)
		}
		if len(lifted) == 0 {
			return a.Result("cluster %s has no hold of clusterctl-x there; nothing to do", key)
		}
		for _, hold := range lifted {
			if err := a.Result("cluster %s is no longer held %s", key, hold.Point); err != nil {
				return err
			}
		}
		return nil
	})
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		switch {
		case all && place != input.HoldPlace{}:
			return usage.Errorf("'%s' takes either --all or a hold point", cmd.CommandPath())
		case all:
			return nil
		}
		point, err := place.Read(cmd.CommandPath())
		points = []state.HoldPoint{point}
		return err
	}
	addPlace(cmd, &place)
	cmd.Flags().BoolVar(&all, "all", false, "lift all holds of the cluster that clusterctl-x set")
	return commandline.Group("release", "Let the upgrades of a cluster proceed", cli.Starts(cmd))
}
