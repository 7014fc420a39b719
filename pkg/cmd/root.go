// Package cmd is the command line of clusterctl-x: the root of the commands, one package
// for each verb, and their exit codes.
package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/apply"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/backup"
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
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/imports"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/rollout"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/serve"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/upgrade"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/validate"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/version"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/watch"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/failure"
	"github.com/clusterctl-x/clusterctl-x/pkg/terminal"
)

// Run runs a command line of the clusterctl-x of a version, and returns the exit code.
func Run(ctx context.Context, version string, args []string, s terminal.Streams) int {
	a := cli.New(s)
	root := rootCommand(a, version)
	root.SetArgs(commandline.SplitTypes(root, args))
	root.SetOut(a.Lossy)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		commandline.ReadFlag(args, "output", "o", &a.Format) // the error has the format that was asked for
		return commandline.FlagError(cmd, err)
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
		Use:           "clusterctl-x",
		Short:         "One file describes a Kubernetes cluster; one command creates it, one upgrades it",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(a.In)
	root.SetErr(a.Err)
	a.AddFlags(root.PersistentFlags())
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := commandline.CheckFile(cmd); err != nil {
			return err
		}
		return a.Complete(cmd)
	}
	root.AddCommand(
		apply.New(a), create.New(a), upgrade.New(a), diff.New(a), plan.New(a), delete.New(a), describe.New(a), watch.New(a), history.New(a), get.New(a), generate.New(a), imports.New(a),
		hold.New(a), hold.NewRelease(a), rollout.New(a), serve.New(a), explain.New(a), validate.New(a), management.New(a), backup.New(a, ofVersion), backup.NewRestore(a, ofVersion), version.New(a, ofVersion),
	)
	commandline.AddHelpTexts(root, help.Texts, "text")
	commandline.HoldOthers(root)
	commandline.AddHelp(root, a.WithoutSettings)
	a.AddCompletions(root)
	return root
}
