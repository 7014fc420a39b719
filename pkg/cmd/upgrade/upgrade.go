// Package upgrade upgrades clusters.
package upgrade

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	plancmd "github.com/clusterctl-x/clusterctl-x/pkg/cmd/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/watch"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

type options struct {
	*cli.App
	plancmd.Flags
	plan                                  string
	interactive, forceConflicts, takeOver bool
	skip                                  []string
	dryRun                                string
}

// New returns the command upgrade.
func New(a *cli.App) *cobra.Command {
	o := options{App: a}
	cmd := &cobra.Command{
		Use:   "cluster -f FILE",
		Short: "Upgrade a cluster to what its file describes, step by step, and wait until it is done",
		Long: `Upgrade a cluster to what its file describes: the control plane one minor at a
time, each worker node group with as few rollouts as the version skew policy
allows. The plan is shown first. If it is stopped at any moment, run the same
command again: it continues from where the cluster is.`,
		Example: `  clusterctl-x upgrade cluster -f cluster.yaml
  clusterctl-x plan upgrade -f cluster.yaml --out plan.json && clusterctl-x upgrade cluster -f cluster.yaml --plan plan.json`,
		Args: cli.NoArgs,
		RunE: a.Within(0, o.run),
	}
	o.AddTo(cmd)
	cmd.Flags().StringVar(&o.plan, "plan", "", "file with the plan to follow, from 'plan upgrade --out'; refused when the cluster has changed since")
	cmd.Flags().BoolVar(&o.interactive, "interactive", false, "ask before the first step")
	cmd.Flags().BoolVar(&o.forceConflicts, "force-conflicts", false, "take over fields that other field managers own")
	cli.AddTakeOver(cmd, &o.takeOver)
	a.AddExtensionCertificate(cmd)
	cmd.Flags().StringSliceVar(&o.skip, "skip-preflight", nil, "skip these checks: "+strings.Join(lifecycle.Preflights(), ", "))
	cmd.Flags().StringVar(&o.dryRun, "dry-run", cli.DryRunNone, "none, or server: plan, check, and let the management cluster check every object; nothing is changed")
	return cli.Group("upgrade", "Upgrade a cluster", cmd)
}

// check refuses what the command line alone proves wrong.
func (o *options) check() error {
	if err := o.Check(); err != nil {
		return err
	}
	if modes := []string{cli.DryRunNone, cli.DryRunServer}; !slices.Contains(modes, o.dryRun) {
		return cli.Usagef("--dry-run must be one of %s here, not %q; 'plan upgrade --from' plans without a management cluster", strings.Join(modes, ", "), o.dryRun)
	}
	if o.interactive && o.File == "-" {
		return cli.Usagef("--interactive reads your answer from standard input, so the file cannot come from there: name it with -f FILE")
	}
	for _, name := range o.skip {
		if !slices.Contains(lifecycle.Preflights(), name) {
			return cli.Usagef("--skip-preflight: there is no check %q; the checks are %s", name, strings.Join(lifecycle.Preflights(), ", "))
		}
	}
	return nil
}

func (o *options) run(ctx context.Context, _ []string) error {
	if err := o.check(); err != nil {
		return err
	}
	err := o.upgrade(ctx)
	if stale := (*rollout.StalePlanError)(nil); errors.As(err, &stale) {
		stale.Saved = o.plan != ""
	}
	return err
}

func (o *options) upgrade(ctx context.Context) error {
	saved, err := readPlan(o.plan)
	if err != nil {
		return err
	}
	service, u, err := o.Live(ctx, o.App)
	if err != nil {
		return err
	}
	if err := u.CheckFollows(saved); err != nil {
		return err
	}
	if u.Plan.Empty() {
		return o.settle(ctx, service, u)
	}
	// A person is shown what is going to happen, and who is asked is in any case.
	if o.interactive || !o.Options.Quiet && o.Options.Output != cli.OutputJSON {
		if err := o.Style(o.Err).Plan(o.Err, u.Plan); err != nil {
			return err
		}
	}
	dryRun := o.dryRun == cli.DryRunServer
	if err := service.Preflight(ctx, u, lifecycle.PreflightOptions{Skip: o.skip, ForceConflicts: o.forceConflicts, DryRun: dryRun}); err != nil {
		return err
	}
	if dryRun {
		return o.Result("cluster %s: the upgrade can start (server dry run)", u.Key)
	}
	if o.interactive {
		yes, err := o.confirm(ctx)
		if err != nil {
			return err
		}
		if !yes {
			return o.Result("cluster %s: nothing was changed", u.Key)
		}
	}
	return o.carryOut(ctx, service, u)
}

// settle waits, where nothing is to be done, until what was begun before is done.
func (o *options) settle(ctx context.Context, service *lifecycle.Service, u lifecycle.Upgrade) error {
	dryRun := o.dryRun == cli.DryRunServer
	if !dryRun {
		if err := service.Upgrade(ctx, u, lifecycle.RunOptions{TakeOver: o.takeOver}); err != nil {
			return err
		}
	}
	if u.Settled() || dryRun {
		return o.Result("cluster %s matches the file; nothing to do", u.Key)
	}
	return watch.UntilReady(ctx, o.App, service, u.Key, watch.Waiting{GoesOn: "upgrading"})
}

// carryOut takes a cluster through the steps, and says what becomes of them.
func (o *options) carryOut(ctx context.Context, service *lifecycle.Service, u lifecycle.Upgrade) error {
	var began time.Time
	var progress *view.Progress // nil until the cluster is locked
	last := rollout.Status{Plan: u.Plan}
	err := service.Upgrade(ctx, u, lifecycle.RunOptions{
		Skip: o.skip, ForceConflicts: o.forceConflicts, TakeOver: o.takeOver,
		Locked: func() error {
			if o.Options.Output == cli.OutputJSON { // the first event
				if err := json.NewEncoder(o.Out).Encode(u.Plan); err != nil {
					return err
				}
			}
			began, progress = time.Now(), o.Progress()
			return nil
		},
		Show: func(now rollout.Status) {
			last = now
			progress.ShowUpgrade(now.Plan, now.Current(), now.Cluster)
		},
	})
	if progress == nil {
		return err
	}
	progress.Close()
	switch {
	case err == nil && !o.Scope.Whole():
		return o.Result("cluster %s: done after %s: %s", u.Key, time.Since(began).Round(time.Second), view.Steps(u.Plan.Steps))
	case err == nil:
		return o.Result("cluster %s is at %s after %s", u.Key, u.Plan.To.ControlPlane, time.Since(began).Round(time.Second))
	case errors.Is(err, management.ErrTimeout):
		if err == management.ErrTimeout { //nolint:errorlint // others say themselves what was under way
			err = fmt.Errorf("%w%s", err, view.WaitingFor(last))
		}
		return fmt.Errorf("%w; %s", err, view.Left(last))
	case errors.Is(err, context.Canceled):
		return cli.InterruptedError(view.Left(last))
	default:
		return err
	}
}

// readPlan reads a plan that 'plan upgrade --out' wrote; it is nil without a file.
func readPlan(file string) (*plan.Plan, error) {
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, cli.Usagef("reading the plan: %w; %s", err, plan.Remedy)
	}
	saved, err := plan.Decode(file, data)
	if err != nil {
		return nil, cli.Usage(err)
	}
	return &saved, nil
}

// confirm asks a person.
func (o *options) confirm(ctx context.Context) (bool, error) {
	if _, err := fmt.Fprint(o.Err, "continue? [y/N] "); err != nil {
		return false, fmt.Errorf("asking whether to continue: %w; nothing was changed", err)
	}
	answers := make(chan string, 1)
	go func() {
		answer, _ := bufio.NewReader(o.In).ReadString('\n') // the end of the input is no yes
		answers <- answer
	}()
	select {
	case answer := <-answers:
		return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer))), nil
	case <-ctx.Done():
		return false, fmt.Errorf("nothing was changed: %w", context.Cause(ctx))
	}
}
