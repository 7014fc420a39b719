// Package upgrade upgrades clusters.
package upgrade

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/input"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/owners"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

type command struct {
	*cli.App
	input.Upgrade
	Options
	plan string
}

// New returns the command upgrade.
func New(a *cli.App) *cobra.Command {
	c := command{App: a}
	cmd := commandline.New("cluster -f FILE | --plan FILE | NAME --kubernetes-version VERSION", "Upgrade a cluster to what its file describes, step by step, and wait until it is done", a.Within(0, c.run))
	commandline.AddFile(cmd, &c.File, "file that describes the cluster; - is standard input")
	a.AddUpgrade(cmd, &c.Upgrade)
	cmd.Flags().StringVar(&c.plan, "plan", "", "file with the plan to follow, from 'plan upgrade --out'; refused when the cluster has changed since")
	c.Options.AddTo(a, cmd)
	return commandline.Group("upgrade", "Upgrade a cluster", cli.Starts(cmd))
}

func (c *command) run(ctx context.Context, args []string) error {
	given := slices.DeleteFunc([]string{c.File, c.plan}, func(file string) bool { return file == "" })
	if err := c.Take(args, given); err != nil {
		return err
	}
	if err := c.Options.Check(c.File); err != nil {
		return err
	}
	saved, err := input.ReadPlan(c.plan)
	if err != nil {
		return err
	}
	service, u, err := plan.Of(ctx, c.App, c.Upgrade, saved)
	if err == nil {
		err = u.CheckFollows(saved)
	}
	if err == nil {
		c.Approved = saved != nil
		err = Run(ctx, c.App, service, u, c.Options)
	}
	if stale := (*engine.StalePlanError)(nil); errors.As(err, &stale) {
		stale.Saved = saved != nil
	}
	return err
}

// Options are the options of carrying out an upgrade.
type Options struct {
	Interactive, Yes, TakeOver, Wait bool
	ForceConflicts                   owners.Takeover
	// Skip are the names of checks to be left out.
	Skip   []string
	DryRun string
	// Approved is true for a plan that was saved before, which needs no confirmation.
	Approved bool
}

// AddTo adds the flags.
func (o *Options) AddTo(a *cli.App, cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.Interactive, "interactive", false, "ask before the first step")
	cmd.Flags().BoolVarP(&o.Yes, "yes", "y", false, "confirm that worker node groups are removed")
	cmd.Flags().VarPF(&o.ForceConflicts, "force-conflicts", "", "take over fields that other field managers own: of all, or with =MANAGER,... of these").NoOptDefVal = "true"
	commandline.AddWait(cmd, &o.Wait, "wait until the cluster matches its file; otherwise start the steps that can start now, and end")
	cli.AddTakeOver(cmd, &o.TakeOver)
	a.AddExtensionCertificate(cmd)
	cmd.Flags().StringSliceVar(&o.Skip, "skip-preflight", nil, "skip these checks: "+strings.Join(lifecycle.Preflights(), ", "))
	commandline.AddDryRun(cmd, &o.DryRun, dryRunModes(), "none, or server: plan, check, and let the management cluster check every object; nothing is changed")
}

func dryRunModes() []string { return []string{commandline.DryRunNone, commandline.DryRunServer} }

// Check refuses what the command line alone proves wrong; files are those of -f.
func (o *Options) Check(files ...string) error {
	if !slices.Contains(dryRunModes(), o.DryRun) {
		return usage.Errorf("--dry-run must be one of %s here, not %q; 'plan upgrade --from' plans without a management cluster", strings.Join(dryRunModes(), ", "), o.DryRun)
	}
	if o.Interactive && slices.Contains(files, "-") {
		return usage.Errorf("--interactive reads your answer from standard input, so the file cannot come from there: name it with -f FILE")
	}
	if err := lifecycle.CheckPreflights(o.Skip); err != nil {
		return usage.Errorf("--skip-preflight: %w", err)
	}
	return nil
}

// confirm asks a person where that is wanted, or where worker node groups are removed. It
// reports whether they may be.
func (o *Options) confirm(ctx context.Context, a *cli.App, u lifecycle.Upgrade) (allowRemovals bool, err error) {
	removal := u.Removal()
	switch {
	case o.Interactive:
		return true, a.Confirm(ctx, "continue?", fmt.Sprintf("the upgrade of cluster %s", u.Key))
	case o.Yes || o.Approved:
		return true, nil
	case removal != nil && a.CanAsk():
		return true, a.Confirm(ctx, fmt.Sprintf("remove %s?", removal.What()), "removing "+removal.What())
	default:
		return false, nil
	}
}
