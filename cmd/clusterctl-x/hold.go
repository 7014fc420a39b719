package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// maxHoldReason is how long the reason of a hold may be, so that it can be read at a
// glance where it is shown.
const maxHoldReason = 200

// holdPlaces are the flags that name the place of a hold.
type holdPlaces struct{ before, after string }

func (p *holdPlaces) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.before, "before", "", "what the upgrade waits before: "+strings.Join(placesOf("before"), ", "))
	cmd.Flags().StringVar(&p.after, "after", "", "what the upgrade waits after: "+strings.Join(placesOf("after"), ", "))
	for _, flag := range []string{"before", "after"} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(placesOf(flag), cobra.ShellCompDirectiveNoFileComp))
	}
}

// placesOf are the values of --before and of --after.
func placesOf(flag string) []string {
	var places []string
	for _, point := range state.HoldPoints() {
		if when, what, _ := strings.Cut(string(point), "-"); when == flag {
			places = append(places, what)
		}
	}
	return places
}

// point is the place that the flags name.
func (p holdPlaces) point(cmd *cobra.Command) (state.HoldPoint, error) {
	if (p.before == "") == (p.after == "") {
		return "", usageError{fmt.Errorf("'%s' needs --before or --after; see '%s --help'", cmd.CommandPath(), cmd.CommandPath())}
	}
	flag, place := "before", p.before
	if p.after != "" {
		flag, place = "after", p.after
	}
	if !slices.Contains(placesOf(flag), place) {
		return "", usageError{fmt.Errorf("--%s must be one of %s, not %q", flag, strings.Join(placesOf(flag), ", "), place)}
	}
	return state.HoldPoint(flag + "-" + place), nil
}

func (a *app) holdClusterCommand() *cobra.Command {
	var places holdPlaces
	var reason string
	cmd := &cobra.Command{
		Use:   "cluster NAME",
		Short: "Hold up the upgrades of a cluster at a place, until it is released",
		Long: `Hold up the upgrades of a cluster at a place, until it is released.

The step under way ends, and the next one waits. The hold is an annotation of the
Cluster and stays until 'clusterctl-x release cluster' takes it away, also for later
upgrades. For a cluster from a ClusterClass Cluster API asks the runtime extension of
clusterctl-x whether it may go on ('clusterctl-x serve runtime-extension'); it keeps
to --before upgrade by itself.

docs/runtime-extension.md says more.`,
		Example:           `  clusterctl-x hold cluster c1 --before workers --reason "database migration until Friday"`,
		Args:              oneName,
		ValidArgsFunction: a.completeClusters,
		RunE: func(cmd *cobra.Command, args []string) error {
			point, err := places.point(cmd)
			if err != nil {
				return err
			}
			reason = strings.Join(strings.Fields(reason), " ")
			switch {
			case reason == "":
				return usageError{fmt.Errorf("'%s' needs --reason: whoever finds the upgrade waiting wants to know", cmd.CommandPath())}
			case len(reason) > maxHoldReason:
				return usageError{fmt.Errorf("--reason has %d bytes, and may have %d", len(reason), maxHoldReason)}
			}
			ctx, cancel := a.withTimeout(cmd.Context(), 0)
			defer cancel()
			return a.holdCluster(ctx, args[0], point, reason)
		},
	}
	places.add(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "why, for whoever finds the upgrade waiting")
	return cmd
}

func (a *app) holdCluster(ctx context.Context, name string, point state.HoldPoint, reason string) error {
	service, err := a.service(ctx)
	if err != nil {
		return err
	}
	key := service.Key(name, "")
	changed, err := service.Hold(ctx, key, point, reason)
	switch {
	case err != nil:
		return err
	case !changed:
		return a.result("cluster %s is held %s for that reason already; nothing to do", key, point)
	}
	return a.result("cluster %s is held %s; 'clusterctl-x release cluster %s -n %s %s' lifts it", key, point, key.Name, key.Namespace, point.Flag())
}

func (a *app) releaseClusterCommand() *cobra.Command {
	var places holdPlaces
	var all bool
	cmd := &cobra.Command{
		Use:   "cluster NAME",
		Short: "Lift the hold of a cluster at a place",
		Example: `  clusterctl-x release cluster c1 --before workers
  clusterctl-x release cluster c1 --all`,
		Args:              oneName,
		ValidArgsFunction: a.completeClusters,
		RunE: func(cmd *cobra.Command, args []string) error {
			points := state.HoldPoints()
			switch {
			case all && places != holdPlaces{}:
				return usageError{fmt.Errorf("'%s' takes either --all or a place", cmd.CommandPath())}
			case !all:
				point, err := places.point(cmd)
				if err != nil {
					return err
				}
				points = []state.HoldPoint{point}
			}
			ctx, cancel := a.withTimeout(cmd.Context(), 0)
			defer cancel()
			return a.releaseCluster(ctx, args[0], points)
		},
	}
	places.add(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "lift all holds of the cluster that clusterctl-x set")
	return cmd
}

func (a *app) releaseCluster(ctx context.Context, name string, points []state.HoldPoint) error {
	service, err := a.service(ctx)
	if err != nil {
		return err
	}
	key := service.Key(name, "")
	lifted, left, err := service.Release(ctx, key, points)
	if err != nil {
		return err
	}
	for _, hold := range left {
		a.warning("cluster %s stays %s", key, hold)
	}
	if len(lifted) == 0 {
		return a.result("cluster %s has no hold of clusterctl-x there; nothing to do", key)
	}
	for _, hold := range lifted {
		if err := a.result("cluster %s is no longer held %s", key, hold.Point); err != nil {
			return err
		}
	}
	return nil
}
