package commandline

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Complete offers values of an argument or a flag to the shell. It starts nothing, writes
// nothing, and reads no standard input.
type Complete = cobra.CompletionFunc

// AddCompletions adds what is offered for the flags of a command and of those below it, by
// the names of the flags. A flag has the same values in each command that has it; those that
// differ are registered already.
func AddCompletions(cmd *cobra.Command, byFlag map[string]Complete) {
	for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
		flags.VisitAll(func(flag *pflag.Flag) {
			if complete, known := byFlag[flag.Name]; known {
				_ = cmd.RegisterFlagCompletionFunc(flag.Name, complete)
			}
		})
	}
	if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 && !cmd.HasSubCommands() {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, child := range cmd.Commands() {
		AddCompletions(child, byFlag)
	}
}

// OneOf offers names that are read only where they are asked for.
func OneOf(names func(cmd *cobra.Command) ([]string, error)) Complete {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		all, err := names(cmd)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// Fixed offers these values.
func Fixed(values ...string) Complete {
	return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
}

// CommaSeparated offers values for the end of a list, but for those that are in it.
func CommaSeparated(values func(*cobra.Command) []string) Complete {
	return func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndex(typed, ",")+1]
		var lists []string
		for _, value := range values(cmd) {
			if !slices.Contains(strings.Split(before, ","), value) {
				lists = append(lists, before+value)
			}
		}
		return lists, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// Begun offers what continues a value as it was typed. One that ends in "=" is not complete.
func Begun(values func(cmd *cobra.Command, typed string) []string) Complete {
	return func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		all := values(cmd, typed)
		if len(all) == 1 && strings.HasSuffix(all[0], "=") {
			return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// FilesOf returns the files that a command line names with -f, but for standard input, which
// is not there to be read yet.
func FilesOf(cmd *cobra.Command) []string {
	flag := cmd.Flag(Filename)
	if flag == nil {
		return nil
	}
	files := []string{flag.Value.String()}
	if several, ok := flag.Value.(pflag.SliceValue); ok {
		files = several.GetSlice()
	}
	return slices.DeleteFunc(slices.Clone(files), func(file string) bool { return file == "" || file == "-" })
}

// FilesWith offers files with these extensions.
func FilesWith(extensions ...string) Complete {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}

// Directories offers directories.
func Directories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}
