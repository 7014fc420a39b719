package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// holdOthers makes cmd a command that only holds others.
func holdOthers(cmd *cobra.Command) {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > 0:
			return unknownCommand(cmd, args[0])
		case !cmd.HasParent():
			return cmd.Help()
		default:
			return usageError{fmt.Errorf("'%s' needs one of: %s; see '%s --help'", cmd.CommandPath(), strings.Join(names(cmd), ", "), cmd.CommandPath())}
		}
	}
}

func unknownCommand(cmd *cobra.Command, name string) error {
	cmd.SuggestionsMinimumDistance = 2
	if similar := cmd.SuggestionsFor(name); len(similar) > 0 {
		return usageError{fmt.Errorf("'%s %s' does not exist; did you mean %s?", cmd.CommandPath(), name, strings.Join(similar, " or "))}
	}
	return usageError{fmt.Errorf("'%s %s' does not exist; there are: %s", cmd.CommandPath(), name, strings.Join(names(cmd), ", "))}
}

func flagError(cmd *cobra.Command, err error) error {
	if cmd.HasSubCommands() && cmd.Flags().NArg() > 0 {
		return unknownCommand(cmd, cmd.Flags().Arg(0)) // and so is its flag
	}
	return usageError{fmt.Errorf("%w; see '%s --help'", err, cmd.CommandPath())}
}

func names(cmd *cobra.Command) []string {
	var all []string
	for _, child := range cmd.Commands() {
		all = append(all, child.Name())
	}
	slices.Sort(all)
	return all
}

// usageTemplate is cobra's, without the line that a command which only holds
// others can be called by itself.
func usageTemplate(root *cobra.Command) string {
	return strings.Replace(root.UsageTemplate(), "{{if .Runnable}}", "{{if or (not .HasAvailableSubCommands) .Annotations}}", 1)
}

// callable marks a command that holds others, and does something by itself.
func callable() map[string]string { return map[string]string{"callable": ""} }

// addHelpers adds cobra's commands help and completion. Cobra's own answer to
// a wrong argument of them is another one than ours, or none.
func (a *app) addHelpers(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			holdOthers(cmd)
			for _, shell := range cmd.Commands() {
				shell.Args = noArgs
				shell.PersistentPreRunE = a.withoutSettings
			}
		case "help":
			cmd.Run = nil
			cmd.PersistentPreRunE = a.withoutSettings
			cmd.RunE = func(_ *cobra.Command, args []string) error {
				about, rest, err := root.Find(args)
				if err != nil {
					return usageError{err}
				}
				if len(rest) > 0 {
					return unknownCommand(about, rest[0])
				}
				about.InitDefaultHelpFlag()
				return about.Help()
			}
		}
	}
}
