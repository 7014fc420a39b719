// Package hold holds the upgrades of clusters, and releases them.
package hold

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// placeFlags are the flags that name the place of a hold.
type placeFlags struct{ before, after string }

func (p *placeFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.before, "before", "", "what the upgrade waits before: "+strings.Join(state.HoldPlaces("before"), ", "))
	cmd.Flags().StringVar(&p.after, "after", "", "what the upgrade waits after: "+strings.Join(state.HoldPlaces("after"), ", "))
	for _, flag := range []string{"before", "after"} {
		cli.CompleteFlag(cmd, flag, state.HoldPlaces(flag))
	}
}

// point is the place that the flags name.
func (p placeFlags) point(cmd *cobra.Command) (state.HoldPoint, error) {
	if (p.before == "") == (p.after == "") {
		return "", usage.Errorf("'%s' needs --before or --after; see '%s --help'", cmd.CommandPath(), cmd.CommandPath())
	}
	flag, place := "before", p.before
	if p.after != "" {
		flag, place = "after", p.after
	}
	return state.HoldPoint(flag + "-" + place), usage.CheckChoice(flag, place, state.HoldPlaces(flag))
}

// New returns the command hold.
func New(a *cli.App) *cobra.Command {
	var places placeFlags
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
		if point, err = places.point(cmd); err != nil {
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
	places.add(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "why the upgrade is held; every command that reports the hold shows it")
	return cli.Group("hold", "Hold the upgrades of a cluster", cli.Starts(cmd))
}

// NewRelease returns the command release.
func NewRelease(a *cli.App) *cobra.Command {
	var places placeFlags
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
		case all && places != placeFlags{}:
			return usage.Errorf("'%s' takes either --all or a hold point", cmd.CommandPath())
		case all:
			return nil
		}
		point, err := places.point(cmd)
		points = []state.HoldPoint{point}
		return err
	}
	places.add(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "lift all holds of the cluster that clusterctl-x set")
	return cli.Group("release", "Let the upgrades of a cluster proceed", cli.Starts(cmd))
}
