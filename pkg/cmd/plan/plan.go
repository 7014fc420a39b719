// Package plan shows what a command, or a change of a ClusterClass, would do.
package plan

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
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
	return cli.Group("plan", "Show what a command, or a change of a ClusterClass, would do", upgrade(a), clusterClass(a), managementUpgrade(a))
}

// Flags say which upgrade is planned.
type Flags struct {
	lifecycle.UpgradeOptions
	// File is that of -f, and From that of --from.
	File, From string
	// Name is the argument, of a cluster whose versions alone change.
	Name     string
	Versions input.Versions
}

// AddTo adds the flags, but for --from.
func (f *Flags) AddTo(cmd *cobra.Command) {
	cli.AddFile(cmd, &f.File, "file that describes the cluster; - is standard input")
	f.addScope(cmd)
}

func (f *Flags) addScope(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.Scope.ControlPlaneOnly, "control-plane-only", false, "upgrade the control plane only; worker node groups stay as they are")
	cmd.Flags().StringSliceVar(&f.Scope.Groups, "worker-node-groups", nil, "upgrade these worker node groups only, comma-separated; everything else stays as it is")
	cmd.Flags().BoolVar(&f.LatestPatches, "latest-patches", false, "take the newest patch of a minor instead of the one already running")
}

// AddVersions adds the flags of an upgrade without a file, of the cluster that an argument
// names.
func (f *Flags) AddVersions(a *cli.App, cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Versions.KubernetesVersion, "kubernetes-version", "", "without a file: version of the control plane, and of all worker node groups that have none of their own")
	cmd.Flags().StringArrayVar(&f.Versions.Groups, "worker-node-group", nil, "without a file: GROUP=VERSION, a version for one worker node group; may be repeated")
	cmd.Flags().StringVar(&f.Versions.Images, "images", "", "without a file: file with what machines of each version are made from, of kind "+input.ImagesKind)
	cmd.Args, cmd.ValidArgsFunction = cobra.MaximumNArgs(1), a.CompleteClusters
}

// Without refuses a file beside the name of a cluster, which is an argument, and flags that
// need a name.
func (f *Flags) Without(files, args []string) error {
	switch {
	case len(args) == 0 && f.Versions.Given():
		return usage.Errorf("--kubernetes-version, --worker-node-group and --images are for upgrades without a file: name the cluster, or set the versions in the file")
	case len(args) > 0 && len(files) > 0:
		return usage.Errorf("a file describes its cluster: leave %q out, or -f", args[0])
	case len(args) > 0:
		f.Name = args[0]
	}
	return f.Check()
}

// Change plans the change of versions of the cluster that the argument names.
func (f *Flags) Change(ctx context.Context, a *cli.App) (*lifecycle.Service, lifecycle.Upgrade, error) {
	change, err := a.ReadVersionChange(f.Versions)
	if err != nil {
		return nil, lifecycle.Upgrade{}, err
	}
	return LiveChange(ctx, a, f.Name, change, f.UpgradeOptions)
}

// LiveChange plans the change of versions of a live cluster.
func LiveChange(ctx context.Context, a *cli.App, name string, change lifecycle.VersionChange, o lifecycle.UpgradeOptions) (*lifecycle.Service, lifecycle.Upgrade, error) {
	service, err := a.ServiceWithBundles(ctx)
	if err != nil {
		return nil, lifecycle.Upgrade{}, err
	}
	u, err := service.PlanVersionChange(ctx, service.Key(name, ""), change, o)
	return service, u, err
}

// Check refuses parts of a cluster that exclude each other.
func (f *Flags) Check() error {
	if f.Scope.ControlPlaneOnly && len(f.Scope.Groups) > 0 {
		return usage.Errorf("--control-plane-only and --worker-node-groups exclude each other: leave both out for the control plane and all groups")
	}
	return nil
}

// Live plans the upgrade of a live cluster to a spec.
func Live(ctx context.Context, a *cli.App, spec lifecycle.Spec, o lifecycle.UpgradeOptions) (*lifecycle.Service, lifecycle.Upgrade, error) {
	// What the file alone proves wrong is said before a management cluster is asked.
	warnings, err := spec.CheckUpgrade(o)
	service, err := a.ServiceOnceChecked(ctx, warnings, err)
	if err != nil {
		return nil, lifecycle.Upgrade{}, err
	}
	u, err := service.PlanUpgrade(ctx, spec, o)
	return service, u, err
}

// Between plans the upgrade from the cluster that one file describes to that of another.
func (f *Flags) Between(ctx context.Context, a *cli.App) (lifecycle.Upgrade, error) {
	if f.From == "-" && f.File == "-" {
		return lifecycle.Upgrade{}, usage.Errorf("-f and --from cannot both be standard input; give one of them a file")
	}
	before, err := a.ReadSpecOf("--from names the file that describes the current cluster, and - is standard input", f.From)
	if err != nil {
		return lifecycle.Upgrade{}, err
	}
	after, err := a.ReadSpec(f.File)
	if err != nil {
		return lifecycle.Upgrade{}, err
	}
	return lifecycle.PlanBetween(ctx, before, after, f.UpgradeOptions, lifecycle.Options{Namespace: a.NamespaceOffline(), Warn: a.WarnText})
}

type upgradeOptions struct {
	*cli.App
	Flags
	fleet
	files            []string
	out              string
	detailedExitCode bool
}

func upgrade(a *cli.App) *cobra.Command {
	o := upgradeOptions{App: a}
	cmd := cli.Command("upgrade -f FILE | NAME --kubernetes-version VERSION | --all --kubernetes-version VERSION", "Show what 'upgrade cluster' would do, step by step; nothing is changed", a.Within(0, func(ctx context.Context, args []string) error {
		changes, err := o.run(ctx, args)
		if o.detailedExitCode {
			return failure.Differs(changes, err, 2, 1) // as terraform's -detailed-exitcode
		}
		return err
	}))
	cli.AddFiles(cmd, &o.files)
	a.AddOutput(cmd.Flags(), output.Formats{output.Text, output.JSON, output.YAML, output.Markdown}, "; markdown is for the comment on a pull request", "")
	o.addScope(cmd)
	o.AddVersions(a, cmd)
	o.addTo(cmd)
	cmd.Flags().StringVar(&o.From, "from", "", "file that describes the current cluster, instead of a live one; no management cluster is contacted")
	a.AddExtensionCertificate(cmd)
	cmd.Flags().StringVar(&o.out, "out", "", "file to write the plan to, for 'upgrade cluster --plan'")
	cmd.Flags().BoolVar(&o.detailedExitCode, "detailed-exitcode", false, "exit with 0 if there is nothing to do, 1 on any error, and 2 if there is something to do")
	return cmd
}

// run shows the plans, and reports whether there is anything to do.
func (o *upgradeOptions) run(ctx context.Context, args []string) (changes bool, err error) {
	if err := o.checkFleet(args); err != nil {
		return false, err
	}
	if o.all {
		return o.runFleet(ctx)
	}
	if err := o.Without(o.files, args); err != nil {
		return false, err
	}
	if o.Name != "" {
		return o.one(ctx, 0)
	}
	files, err := input.Files(o.files)
	if err != nil {
		return false, err
	}
	if len(files) > 1 && (o.out != "" || o.From != "") {
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
	if o.out != "" {
		saved, reading := u.Saved(), ""
		if o.From != "" { // all that a plan is good for that was made without a cluster
			saved, reading = u.Plan, ", for reading: 'upgrade cluster --plan' takes plans of the cluster itself, made without --from"
		}
		data, err := plan.Encode(saved)
		if err == nil {
			err = files.Save(o.out, data)
		}
		if err != nil {
			return fmt.Errorf("writing the plan to %s: %w", o.out, err)
		}
		o.Say("plan written to %s%s", o.out, reading)
	}
	if o.Format == output.Markdown {
		return view.Markdown(o.Out, u.Plan)
	}
	return o.Print(u.Plan, func() error { return o.Style(o.Out).Plan(o.Out, u.Plan) })
}

func (o *upgradeOptions) plan(ctx context.Context) (lifecycle.Upgrade, error) {
	if o.From != "" {
		return o.Between(ctx, o.App)
	}
	service, u, err := o.live(ctx)
	if err != nil {
		return u, err
	}
	return service.Review(ctx, u)
}

func (o *upgradeOptions) live(ctx context.Context) (*lifecycle.Service, lifecycle.Upgrade, error) {
	if o.Name != "" {
		return o.Change(ctx, o.App)
	}
	spec, err := o.ReadSpec(o.File)
	if err != nil {
		return nil, lifecycle.Upgrade{}, err
	}
	return Live(ctx, o.App, spec, o.UpgradeOptions)
}

func clusterClass(a *cli.App) *cobra.Command {
	var file string
	cmd := cli.Command("clusterclass -f FILE", "Show what applying a ClusterClass would do to the clusters that use it; nothing is changed", a.Within(0, func(ctx context.Context, _ []string) error {
		p, err := planClass(ctx, a, file)
		if err != nil {
			return err
		}
		return a.Print(p, func() error { return a.Style(a.Out).ClassPlan(a.Out, p) })
	}))
	cli.AddFile(cmd, &file, "file with the ClusterClass and its new templates; - is standard input")
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
