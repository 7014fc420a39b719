package upgrade

import (
	"context"
	"encoding/json"
	"time"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/watch"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/failure"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/output"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// Run shows a planned upgrade, checks it and carries it out.
func Run(ctx context.Context, a *cli.App, service *lifecycle.Service, u lifecycle.Upgrade, o Options) error {
	dryRun := o.DryRun == commandline.DryRunServer
	if u.Plan.Empty() {
		return settle(ctx, a, service, u, o)
	}
	if a.ShowsPlans(o.Interactive) {
		if err := a.Style(a.Err).Plan(a.Err, u.Plan); err != nil {
			return err
		}
	}
	if err := service.Preflight(ctx, u, lifecycle.PreflightOptions{Skip: o.Skip, ForceConflicts: o.ForceConflicts, DryRun: dryRun}); err != nil {
		return err
	}
	if dryRun {
		if removal := u.Removal(); removal != nil && !o.Yes && !o.Approved {
			a.Warning("%v", removal)
		}
		return a.Result("cluster %s: the upgrade can start (server dry run)", u.Key)
	}
	allowRemovals, err := o.confirm(ctx, a, u)
	if err != nil {
		return err
	}
	return carryOut(ctx, a, service, u, lifecycle.RunOptions{
		Skip: o.Skip, ForceConflicts: o.ForceConflicts, TakeOver: o.TakeOver, AllowRemovals: allowRemovals, NoWait: !o.Wait,
	})
}

// settle waits, where nothing is to be done, until what was begun before is done.
func settle(ctx context.Context, a *cli.App, service *lifecycle.Service, u lifecycle.Upgrade, o Options) error {
	dryRun := o.DryRun == commandline.DryRunServer
	if !dryRun {
		if err := service.Upgrade(ctx, u, lifecycle.RunOptions{TakeOver: o.TakeOver}); err != nil {
			return err
		}
	}
	if u.Settled() || dryRun {
		return a.Result("cluster %s %s; nothing to do", u.Key, u.Plan.Reached())
	}
	if !o.Wait {
		return a.Result("cluster %s %s, and its machines are not ready yet; 'clusterctl-x watch cluster %s -n %s' shows its progress", u.Key, u.Plan.Reached(), u.Key.Name, u.Key.Namespace)
	}
	return watch.UntilReady(ctx, a, service, u.Key, watch.Waiting{GoesOn: "upgrading"})
}

// carryOut takes a cluster through the steps, and says what becomes of them.
func carryOut(ctx context.Context, a *cli.App, service *lifecycle.Service, u lifecycle.Upgrade, run lifecycle.RunOptions) error {
	var began time.Time
	var progress *view.Progress // nil until the cluster is locked
	last := engine.Status{Plan: u.Plan}
	run.Locked = func() error {
		if a.Format == output.JSON { // the first event
			if err := json.NewEncoder(a.Out).Encode(u.Plan); err != nil {
				return err
			}
		}
		began, progress = time.Now(), a.Progress()
		return nil
	}
	run.Show = func(now engine.Status) {
		last = now
		progress.ShowUpgrade(now.Plan, now.Current(), now.Cluster)
	}
	err := service.Upgrade(ctx, u, run)
	if progress == nil {
		return err
	}
	progress.Close()
	if err != nil {
		return failure.Stopped(err, view.WaitingFor(last), view.Left(last))
	}
	return a.Result("cluster %s%s", u.Key, view.EndOfUpgrade(u.Plan, last, u.Whole(), time.Since(began).Round(time.Second)))
}
