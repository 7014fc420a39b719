package main

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
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// upgradeOptions are the flags of 'upgrade cluster' and 'plan upgrade'.
type upgradeOptions struct {
	file string
	lifecycle.UpgradeOptions
	// of 'upgrade cluster'
	plan           string
	interactive    bool
	forceConflicts bool
	takeOver       bool
	skip           []string
	dryRun         string
	// of 'plan upgrade'
	from, out string
}

func (o *upgradeOptions) addTo(cmd *cobra.Command) {
	addFile(cmd, &o.file, "file that describes the cluster; - is standard input")
	cmd.Flags().BoolVar(&o.Scope.ControlPlaneOnly, "control-plane-only", false, "the control plane alone; worker node groups stay as they are")
	cmd.Flags().StringSliceVar(&o.Scope.Groups, "worker-node-groups", nil, "these worker node groups alone, with commas; everything else stays as it is")
	cmd.Flags().BoolVar(&o.LatestPatches, "latest-patches", false, "take the newest patch of a minor, instead of the one that runs already")
}

func (a *app) upgradeClusterCommand() *cobra.Command {
	var o upgradeOptions
	cmd := &cobra.Command{
		Use:   "cluster -f FILE",
		Short: "Take a cluster to what its file describes, step by step, and wait until it is there",
		Long: `Take a cluster to what its file describes: the control plane one minor at a
time, each worker node group with as few rollouts as the version skew policy
allows. The plan is shown first. Stopped at any moment, the same command again
goes on from where the cluster is.`,
		Example: `  clusterctl-x upgrade cluster -f cluster.yaml
  clusterctl-x plan upgrade -f cluster.yaml --out plan.json && clusterctl-x upgrade cluster -f cluster.yaml --plan plan.json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			ctx, cancel := a.withTimeout(cmd.Context(), 0)
			defer cancel()
			err := a.upgradeCluster(ctx, o)
			if moved := (*rollout.StalePlanError)(nil); errors.As(err, &moved) {
				moved.Saved = o.plan != ""
			}
			return err
		},
	}
	o.addTo(cmd)
	cmd.Flags().StringVar(&o.plan, "plan", "", "file with the plan to follow, from 'plan upgrade --out'; refused when the cluster has changed since")
	cmd.Flags().BoolVar(&o.interactive, "interactive", false, "ask before the first step")
	cmd.Flags().BoolVar(&o.forceConflicts, "force-conflicts", false, "take over fields that others own")
	addTakeOver(cmd, &o.takeOver)
	a.addExtensionCertificate(cmd)
	cmd.Flags().StringSliceVar(&o.skip, "skip-preflight", nil, "leave these checks out: "+strings.Join(lifecycle.Preflights(), ", "))
	cmd.Flags().StringVar(&o.dryRun, "dry-run", dryRunNone, "none, or server: plan, check, and let the management cluster check every object; nothing is changed")
	return cmd
}

func addTakeOver(cmd *cobra.Command, takeOver *bool) {
	cmd.Flags().BoolVar(takeOver, "take-over", false, "end the turn of another run that works on the cluster")
}

// sayWaiting says which run is waited for.
func (a *app) sayWaiting(turn management.Turn) {
	a.say("%s holds %s; waiting to see whether it is still at work", turn.Holder, turn.What())
}

// checkScope refuses parts of a cluster that exclude each other.
func (o *upgradeOptions) checkScope() error {
	if o.Scope.ControlPlaneOnly && len(o.Scope.Groups) > 0 {
		return usageError{errors.New("--control-plane-only and --worker-node-groups exclude each other: leave both out for the control plane and all groups")}
	}
	return nil
}

// whole reports whether the upgrade is about all of the cluster.
func (o *upgradeOptions) whole() bool { return !o.Scope.ControlPlaneOnly && len(o.Scope.Groups) == 0 }

// check refuses what the command line of 'upgrade cluster' alone proves wrong.
func (o *upgradeOptions) check() error {
	if err := o.checkScope(); err != nil {
		return err
	}
	if modes := []string{dryRunNone, dryRunServer}; !slices.Contains(modes, o.dryRun) {
		return usageError{fmt.Errorf("--dry-run must be one of %s here, not %q; 'plan upgrade --from' plans without a management cluster", strings.Join(modes, ", "), o.dryRun)}
	}
	if o.interactive && o.file == "-" {
		return usageError{errors.New("--interactive reads your answer from standard input, so the file cannot come from there: name it with -f FILE")}
	}
	for _, name := range o.skip {
		if !slices.Contains(lifecycle.Preflights(), name) {
			return usageError{fmt.Errorf("--skip-preflight: there is no check %q; the checks are %s", name, strings.Join(lifecycle.Preflights(), ", "))}
		}
	}
	return nil
}

// planLive plans the upgrade of a live cluster.
func (a *app) planLive(ctx context.Context, o upgradeOptions) (*lifecycle.Service, lifecycle.Upgrade, error) {
	spec, err := a.readSpec(o.file)
	if err != nil {
		return nil, lifecycle.Upgrade{}, err
	}
	// What the file alone proves wrong is said before a management cluster is asked.
	warnings, err := spec.CheckUpgrade(o.UpgradeOptions)
	if err != nil {
		a.warn(warnings)
		return nil, lifecycle.Upgrade{}, err
	}
	service, err := a.service(ctx)
	if err != nil {
		return nil, lifecycle.Upgrade{}, err
	}
	a.warn(warnings)
	u, err := service.PlanUpgrade(ctx, spec, o.UpgradeOptions)
	return service, u, err
}

func (a *app) upgradeCluster(ctx context.Context, o upgradeOptions) error {
	saved, err := readPlan(o.plan)
	if err != nil {
		return err
	}
	service, u, err := a.planLive(ctx, o)
	if err != nil {
		return err
	}
	if saved != nil {
		if reasons := saved.Stale(u.Plan); len(reasons) > 0 {
			return &rollout.StalePlanError{Cluster: u.Key.String(), Reasons: reasons}
		}
	}
	if u.Plan.Empty() {
		return a.settle(ctx, service, u, o)
	}
	if err := a.showPlan(u.Plan, o); err != nil {
		return err
	}
	dryRun := o.dryRun == dryRunServer
	if err := service.Preflight(ctx, u, lifecycle.PreflightOptions{Skip: o.skip, ForceConflicts: o.forceConflicts, DryRun: dryRun}); err != nil {
		return err
	}
	if dryRun {
		return a.result("cluster %s: the upgrade can begin (server dry run)", u.Key)
	}
	if o.interactive {
		yes, err := a.confirm(ctx)
		if err != nil {
			return err
		}
		if !yes {
			return a.result("cluster %s: nothing was changed", u.Key)
		}
	}
	return a.carryOut(ctx, service, u, o)
}

// settle waits, where nothing is to be done, until what was begun before is done.
func (a *app) settle(ctx context.Context, service *lifecycle.Service, u lifecycle.Upgrade, o upgradeOptions) error {
	dryRun := o.dryRun == dryRunServer
	if !dryRun {
		if err := service.Upgrade(ctx, u, lifecycle.RunOptions{TakeOver: o.takeOver}); err != nil {
			return err
		}
	}
	if u.Settled() || dryRun {
		return a.result("cluster %s is as the file describes it; nothing to do", u.Key)
	}
	return a.waitReady(ctx, service, u.Key, waiting{goesOn: "upgrading"})
}

// carryOut takes a cluster through the steps, and says what becomes of them.
func (a *app) carryOut(ctx context.Context, service *lifecycle.Service, u lifecycle.Upgrade, o upgradeOptions) error {
	var began time.Time
	var progress *view.Progress // nil until the cluster is locked
	last := rollout.Status{Plan: u.Plan}
	err := service.Upgrade(ctx, u, lifecycle.RunOptions{
		Skip: o.skip, ForceConflicts: o.forceConflicts, TakeOver: o.takeOver,
		Locked: func() error {
			if a.options.Output == outputJSON { // the first event
				if err := json.NewEncoder(a.out).Encode(u.Plan); err != nil {
					return err
				}
			}
			began, progress = time.Now(), a.progress()
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
	case err == nil && !o.whole():
		return a.result("cluster %s: done after %s: %s", u.Key, time.Since(began).Round(time.Second), strings.Join(texts(u.Plan.Steps), "; "))
	case err == nil:
		return a.result("cluster %s is at %s after %s", u.Key, u.Plan.To.ControlPlane, time.Since(began).Round(time.Second))
	case errors.Is(err, management.ErrTimeout):
		if err == management.ErrTimeout { //nolint:errorlint // others say themselves what was under way
			err = fmt.Errorf("%w%s", err, waitingFor(last))
		}
		return fmt.Errorf("%w; %s", err, left(last))
	case errors.Is(err, context.Canceled):
		return interruptedError(left(last))
	default:
		return err
	}
}

func texts[T fmt.Stringer](things []T) []string {
	all := make([]string, len(things))
	for i, thing := range things {
		all[i] = thing.String()
	}
	return all
}

// readPlan reads a plan that 'plan upgrade --out' wrote; it is nil without a file.
func readPlan(file string) (*plan.Plan, error) {
	const remedy = "'clusterctl-x plan upgrade --out' writes one"
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, usageError{fmt.Errorf("reading the plan: %w; %s", err, remedy)}
	}
	var header struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal(data, &header); err != nil || header.Kind != plan.DocumentKind || header.APIVersion != v1alpha1.APIVersion {
		return nil, usageError{fmt.Errorf("%s is no plan of this version of clusterctl-x, which has apiVersion %s and kind %s; %s", file, v1alpha1.APIVersion, plan.DocumentKind, remedy)}
	}
	var saved plan.Plan
	if err := yaml.UnmarshalStrict(data, &saved); err != nil {
		return nil, usageError{fmt.Errorf("reading the plan %s: %w; %s", file, err, remedy)}
	}
	if saved.Metadata.UID == "" {
		return nil, usageError{fmt.Errorf("%s was made from two files, with --from: it knows no cluster that could follow it; make one of the cluster itself, without --from", file)}
	}
	return &saved, nil
}

// confirm asks a person.
func (a *app) confirm(ctx context.Context) (bool, error) {
	if _, err := fmt.Fprint(a.err, "go on? [y/N] "); err != nil {
		return false, fmt.Errorf("asking whether to go on: %w; nothing was changed", err)
	}
	answers := make(chan string, 1)
	go func() {
		answer, _ := bufio.NewReader(a.in).ReadString('\n') // the end of the input is no yes
		answers <- answer
	}()
	select {
	case answer := <-answers:
		return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer))), nil
	case <-ctx.Done():
		return false, fmt.Errorf("nothing was changed: %w", context.Cause(ctx))
	}
}
