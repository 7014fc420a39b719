// Package cmd is the command line of clusterctl-x: the root of the commands, one package
// for each verb, and their exit codes.
package cmd

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/apply"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/create"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/delete"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/describe"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/diff"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/explain"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/generate"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/get"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/help"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/history"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/hold"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/rollout"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/serve"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/upgrade"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/validate"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/version"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/watch"
	"github.com/clusterctl-x/clusterctl-x/pkg/failure"
	"github.com/clusterctl-x/clusterctl-x/pkg/terminal"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// Run runs a command line of the clusterctl-x of a version, and returns the exit code.
func Run(ctx context.Context, version string, args []string, s terminal.Streams) int {
	a := cli.New(s)
	root := rootCommand(a, version)
	root.SetArgs(cli.SplitTypes(root, args))
	root.SetOut(a.Lossy)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		readOutput(&a.Format, args)
		return flagError(cmd, err)
	})
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = a.Lossy.Unwritten()
	}
	code, message := failure.Report(a.Format, err)
	if message != "" {
		a.Tell(message)
	}
	return code
}

func rootCommand(a *cli.App, ofVersion string) *cobra.Command {
	root := &cobra.Command{
		Use:   "clusterctl-x",
		Short: "One file describes a Kubernetes cluster; one command creates it, one upgrades it",
		Long: `clusterctl-x creates and upgrades Kubernetes clusters from one file each, on
Cluster API.

It works on a management cluster: the one in your kubeconfig, or an embedded one
that it starts on this machine.

These flags can also be set in the environment (CLUSTERCTL_X_MANAGEMENT and so
on) or in clusterctl-x/config.yaml in your configuration directory (~/.config on
Linux): ` + strings.Join(cli.ConfigurableOfAll(), ", ") + `,
and those for the certificate for runtime extensions.

Exit codes: 0 done or nothing to do, 1 failed, 2 invalid input, 3 refused,
4 conflict, 5 timed out (the cluster continues), 130 interrupted.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(a.In)
	root.SetErr(a.Err)
	root.SetUsageTemplate(usageTemplate(root))
	a.AddFlags(root.PersistentFlags())
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := cli.CheckFile(cmd); err != nil {
			return err
		}
		return a.Complete(cmd)
	}
	root.AddCommand(
		apply.New(a), create.New(a), upgrade.New(a), diff.New(a), plan.New(a), delete.New(a), describe.New(a), watch.New(a), history.New(a), get.New(a), generate.New(a),
		hold.New(a), hold.NewRelease(a), rollout.New(a), serve.New(a), explain.New(a), validate.New(a), management.New(a), version.New(a, ofVersion),
	)
	help.AddTo(root)
	cli.HoldOthers(root)
	addHelpers(a, root)
	a.AddCompletions(root)
	return root
}

// readOutput reads -o where another flag before it is wrong, so that the error has the
// format that was asked for.
func readOutput(output *string, args []string) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.SetOutput(io.Discard)
	flags.StringVarP(output, "output", "o", *output, "")
	_ = flags.Parse(args) // what is wrong is known
}

// flagError says what is wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	if cmd.HasSubCommands() && cmd.Flags().NArg() > 0 {
		return cli.UnknownCommand(cmd, cmd.Flags().Arg(0)) // and so is its flag
	}
	return usage.Errorf("%w; see '%s --help'", err, cmd.CommandPath())
}

// usageTemplate is cobra's, without the line that a command which only holds
// others can be called by itself.
func usageTemplate(root *cobra.Command) string {
	return strings.Replace(root.UsageTemplate(), "{{if .Runnable}}", "{{if or (not .HasAvailableSubCommands) .Annotations}}", 1)
}

// addHelpers adds cobra's commands help and completion. Cobra's own answer to
// a wrong argument of them is another one than ours, or none.
func addHelpers(a *cli.App, root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			cli.HoldOthers(cmd)
			for _, shell := range cmd.Commands() {
				shell.Args = cli.NoArgs
				shell.PersistentPreRunE = a.WithoutSettings
			}
		case "help":
			cmd.Run = nil
			cmd.PersistentPreRunE = a.WithoutSettings
			cmd.RunE = func(_ *cobra.Command, args []string) error {
				about, rest, err := root.Find(args)
				if err != nil {
					return usage.Wrap(err)
				}
				if len(rest) > 0 {
					return cli.UnknownCommand(about, rest[0])
				}
				about.InitDefaultHelpFlag()
				return about.Help()
			}
		}
	}
}
