// Package commandline has the rules of the command line that hold for any command: commands
// that only hold others, what is unknown, help, flags that many commands have, TYPE/NAME, and how
// values are offered to the shell. It knows nothing of what the commands do.
package commandline

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// NoArgs refuses all arguments.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage.Errorf("'%s' takes no arguments but got %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// New returns a command without arguments.
func New(use, short string, run func(*cobra.Command, []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: NoArgs, RunE: run}
}

// Group returns a command that only holds others.
func Group(use, short string, commands ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{Use: use, Short: short}
	group.AddCommand(commands...)
	HoldOthers(group)
	return group
}

// HoldOthers makes cmd a command that only holds others.
func HoldOthers(cmd *cobra.Command) {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > 0:
			return unknownCommand(cmd, args[0])
		case !cmd.HasParent():
			return cmd.Help()
		default:
			return usage.Errorf("'%s' needs one of: %s; see '%s --help'", cmd.CommandPath(), strings.Join(names(cmd), ", "), cmd.CommandPath())
		}
	}
}

// unknownCommand says that cmd holds no command of that name, and which it holds.
func unknownCommand(cmd *cobra.Command, name string) error {
	if name == "scale" && !cmd.HasParent() {
		return usage.Errorf("'%s scale' does not exist: the numbers of machines are in the file of the cluster; change count there, and run '%s apply -f FILE'", cmd.CommandPath(), cmd.CommandPath())
	}
	cmd.SuggestionsMinimumDistance = 2
	if similar := cmd.SuggestionsFor(name); len(similar) > 0 {
		return usage.Errorf("'%s %s' does not exist; did you mean %s?", cmd.CommandPath(), name, strings.Join(similar, " or "))
	}
	return usage.Errorf("'%s %s' does not exist; there are: %s", cmd.CommandPath(), name, strings.Join(names(cmd), ", "))
}

func names(cmd *cobra.Command) []string {
	var all []string
	for _, child := range cmd.Commands() {
		all = append(all, child.Name())
	}
	slices.Sort(all)
	return all
}

// FlagError says what is wrong with a flag of a command.
func FlagError(cmd *cobra.Command, err error) error {
	if cmd.HasSubCommands() && cmd.Flags().NArg() > 0 {
		return unknownCommand(cmd, cmd.Flags().Arg(0)) // and so is its flag
	}
	return usage.Errorf("%w; see '%s --help'", err, cmd.CommandPath())
}

// ReadFlag reads a flag of a command line in which another flag may be wrong.
func ReadFlag(args []string, name, shorthand string, value *string) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.SetOutput(io.Discard)
	flags.StringVarP(value, name, shorthand, *value, "")
	_ = flags.Parse(args) // what is wrong is known
}

// AddHelp adds cobra's commands help and completion below a root, which run before first.
// Cobra's own answer to a wrong argument of them is another one than ours, or none.
func AddHelp(root *cobra.Command, before func(*cobra.Command, []string) error) {
	// Cobra's template has a line that a command which only holds others can be called by itself.
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), "{{if .Runnable}}", "{{if or (not .HasAvailableSubCommands) .Annotations}}", 1))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			HoldOthers(cmd)
			for _, shell := range cmd.Commands() {
				shell.Args, shell.PersistentPreRunE = NoArgs, before
			}
		case "help":
			cmd.Run, cmd.RunE, cmd.PersistentPreRunE = nil, help(root), before
		}
	}
}

// help returns what shows the help of the command that the arguments name.
func help(root *cobra.Command) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		about, rest, err := root.Find(args)
		if err != nil {
			return usage.Wrap(err)
		}
		if len(rest) > 0 {
			return unknownCommand(about, rest[0])
		}
		about.InitDefaultHelpFlag()
		return about.Help()
	}
}
