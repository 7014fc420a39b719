// Package plan shows what a command, or a change of a ClusterClass, would do.
package plan

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/failure"
	"github.com/clusterctl-x/clusterctl-x/pkg/files"
	"github.com/clusterctl-x/clusterctl-x/pkg/input"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/output"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// New returns the command plan.
func New(a *cli.App) *cobra.Command {
	return commandline.Group("plan", "Show what a command, or a change of a ClusterClass, would do", upgrade(a), clusterClass(a), managementUpgrade(a))
}

// Of plans the upgrade that flags or a saved plan mean: from the file of --from, without a service,
// or of a live cluster.
func Of(ctx context.Context, a *cli.App, flags input.Upgrade, saved *plan.Plan) (*lifecycle.Service, lifecycle.Upgrade, error) {
	if flags.From != "" {
		u, err := Between(ctx, a, flags)
		return nil, u, err
	}
	wanted, err := a.ReadUpgrade(flags, saved)
	if err != nil {
		return nil, lifecycle.Upgrade{}, err
	}
	if wanted.Change != nil {
		service, err := a.ServiceWithBundles(ctx)
		if err != nil {
			return nil, lifecycle.Upgrade{}, err
		}
		u, err := service.PlanVersionChange(ctx, service.Key(wanted.Name, ""), *wanted.Change, wanted.UpgradeOptions)
		return service, u, err
	}
	// What the file alone proves wrong is said before a management cluster is asked.
	warnings, err := wanted.Spec.CheckUpgrade(wanted.UpgradeOptions)
	service, err := a.ServiceOnceChecked(ctx, warnings, err)
	if err != nil {
		return nil, lifecycle.Upgrade{}, err
	}
	u, err := service.PlanUpgrade(ctx, wanted.Spec, wanted.UpgradeOptions)
	return service, u, err
}

// Between plans the upgrade from the cluster that one file describes to that of another.
func Between(ctx context.Context, a *cli.App, flags input.Upgrade) (lifecycle.Upgrade, error) {
	before, after, err := a.ReadBetween(flags)
	if err != nil {
		return lifecycle.Upgrade{}, err
	}
	return lifecycle.PlanBetween(ctx, before, after, flags.UpgradeOptions, lifecycle.Options{Namespace: a.NamespaceOffline(), Warn: a.WarnText})
}

type upgradeOptions struct {
	*cli.App
	input.Upgrade
	fleet            input.Fleet
	files            []string
	detailedExitCode bool
}

func upgrade(a *cli.App) *cobra.Command {
	o := upgradeOptions{App: a}
	cmd := commandline.New("upgrade -f FILE | NAME --kubernetes-version VERSION | --all --kubernetes-version VERSION", "Show what 'upgrade cluster' would do, step by step; nothing is changed", a.Within(0, func(ctx context.Context, args []string) error {
		changes, err := o.run(ctx, args)
		if o.detailedExitCode {
			return failure.Differs(changes, err, 2, 1) // as terraform's -detailed-exitcode
		}
		return err
	}))
	cli.AddFiles(cmd, &o.files)
	a.AddOutput(cmd.Flags(), output.Formats{output.Text, output.JSON, output.YAML, output.Markdown}, "; markdown is for the comment on a pull request", "")
	a.AddUpgrade(cmd, &o.Upgrade)
	o.fleet.AddTo(cmd.Flags())
	commandline.AddFrom(cmd, &o.From, "file that describes the current cluster, instead of a live one; no management cluster is contacted")
	a.AddExtensionCertificate(cmd)
	cmd.Flags().StringVar(&o.PlanFile, "out", "", "file to write the plan to, for 'upgrade cluster --plan'")
	cmd.Flags().BoolVar(&o.detailedExitCode, "detailed-exitcode", false, "exit with 0 if there is nothing to do, 1 on any error, and 2 if there is something to do")
	return cmd
}

// run shows the plans, and reports whether there is anything to do.
func (o *upgradeOptions) run(ctx context.Context, args []string) (changes bool, err error) {
	if err := o.fleet.Check(o.Upgrade, args, o.files); err != nil {
		return false, err
	}
	if o.fleet.All {
		return o.runFleet(ctx)
	}
	if err := o.Take(args, o.files); err != nil {
		return false, err
	}
	if o.Name != "" {
		return o.one(ctx, 0)
	}
	files, err := input.Files(o.files)
	if err != nil {
		return false, err
	}
	if len(files) > 1 && (o.PlanFile != "" || o.From != "") {
		return false, usage.Errorf("--out and --from take one file, and -f names %d", len(files))
	}
	var errs []error
	for i, file := range files {
		o.File = file
		changing, err := o.one(ctx, i)
		changes, errs = changes || changing, append(errs, err)
	}
	return changes, errors.Join(errs...)
}

// runFleet shows the plans for several clusters. Those that cannot be planned for are
// errors, after the others.
func (o *upgradeOptions) runFleet(ctx context.Context) (changes bool, err error) {
	change, err := o.ReadVersionChange(o.Versions)
	if err != nil {
		return false, err
	}
	of, err := o.fleet.Selection.Read("plan upgrade", nil)
	if err != nil {
		return false, err
	}
	service, err := o.ServiceWithBundles(ctx)
	if err != nil {
		return false, err
	}
	planned, err := service.PlanVersionChanges(ctx, of, change)
	errs, plans := []error{err}, []plan.Plan{}
	for _, p := range planned {
		if errs = append(errs, p.Err); p.Err == nil {
			plans, changes = append(plans, p.Plan), changes || !p.Plan.Empty()
		}
	}
	errs = append(errs, o.Print(output.Document("UpgradePlanList", plans), func() error { return view.Plans(o.Out, plans) }))
	return changes, errors.Join(errs...)
}

// one shows one of several plans.
func (o *upgradeOptions) one(ctx context.Context, i int) (changes bool, err error) {
	u, err := o.plan(ctx)
	if err == nil && i > 0 && o.Format == output.YAML {
		err = o.Write("---\n")
	}
	if err != nil {
		return false, err
	}
	return !u.Plan.Empty(), o.show(u)
}

// show writes the plan to --out and prints it.
func (o *upgradeOptions) show(u lifecycle.Upgrade) error {
	if o.PlanFile != "" {
		saved, reading := u.Saved(), ""
		if o.From != "" { // all that a plan is good for that was made without a cluster
			saved, reading = u.Plan, ", for reading: 'upgrade cluster --plan' takes plans of the cluster itself, made without --from"
		}
		data, err := plan.Encode(saved)
		if err == nil {
			err = files.Save(o.PlanFile, data)
		}
		if err != nil {
			return fmt.Errorf("writing the plan to %s: %w", o.PlanFile, err)
		}
		o.Say("plan written to %s%s", o.PlanFile, reading)
	}
	if o.Format == output.Markdown {
		return view.Markdown(o.Out, u.Plan)
	}
	return o.Print(u.Plan, func() error { return o.Style(o.Out).Plan(o.Out, u.Plan) })
}

func (o *upgradeOptions) plan(ctx context.Context) (lifecycle.Upgrade, error) {
	service, u, err := Of(ctx, o.App, o.Upgrade, nil)
	if err != nil || service == nil {
		return u, err
	}
	return service.Review(ctx, u)
}

func clusterClass(a *cli.App) *cobra.Command {
	var file string
	cmd := commandline.New("clusterclass -f FILE", "Show what applying a ClusterClass would do to the clusters that use it; nothing is changed", a.Within(0, func(ctx context.Context, _ []string) error {
		p, err := planClass(ctx, a, file)
		if err != nil {
			return err
		}
		return a.Print(p, func() error { return a.Style(a.Out).ClassPlan(a.Out, p) })
	}))
	commandline.AddFile(cmd, &file, "file with the ClusterClass and its new templates; - is standard input")
	return cmd
}

// planClass asks the management cluster what a class would make of its
// clusters.
func planClass(ctx context.Context, a *cli.App, file string) (plan.ClassPlan, error) {
	f, err := a.ReadClass(file)
	if err != nil {
		return plan.ClassPlan{}, err
	}
	service, err := a.Service(ctx)
	if err != nil {
		return plan.ClassPlan{}, err
	}
	return service.PlanClusterClass(ctx, f)
}
