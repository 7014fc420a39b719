package commandline

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// SplitTypes returns a command line in which a type and a name are two arguments where
// they were given as kubectl takes them too, as TYPE/NAME: 'describe cluster/prod' is
// 'describe cluster prod'.
func SplitTypes(root *cobra.Command, args []string) []string {
	group, _, err := root.Find(args)
	if err != nil || !group.HasParent() || !group.HasSubCommands() {
		return args
	}
	verb := slices.IndexFunc(args, func(arg string) bool { return arg == group.Name() })
	if verb < 0 {
		return args
	}
	var of *cobra.Command
	split := slices.Clone(args)
	for i := verb + 1; i < len(args) && args[i] != "--"; i++ {
		word, name, both := strings.Cut(args[i], "/")
		if !both {
			continue
		}
		child := childOf(group, word)
		if child == nil || of != nil && child != of || takesValue(child, args[i-1]) {
			continue
		}
		of, split[i] = child, name
	}
	if of == nil {
		return args
	}
	return slices.Insert(split, verb+1, of.Name())
}

func childOf(group *cobra.Command, name string) *cobra.Command {
	for _, child := range group.Commands() {
		if child.Name() == name || child.HasAlias(name) {
			return child
		}
	}
	return nil
}

// takesValue reports whether an argument is a flag of a command whose value is the next
// argument.
func takesValue(cmd *cobra.Command, arg string) bool {
	var flag *pflag.Flag
	switch name, long := strings.CutPrefix(arg, "--"); {
	case long:
		flag = cmd.Flag(name)
	case len(arg) == 2 && arg[0] == '-':
		if flag = cmd.Flags().ShorthandLookup(arg[1:]); flag == nil {
			flag = cmd.InheritedFlags().ShorthandLookup(arg[1:])
		}
	}
	return flag != nil && flag.NoOptDefVal == ""
}
