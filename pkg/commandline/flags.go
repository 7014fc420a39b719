package commandline

import (
	"errors"
	"strconv"

	"github.com/spf13/cobra"
)

// AddWait adds the flags --wait and --no-wait to a command.
func AddWait(cmd *cobra.Command, wait *bool, usage string) {
	cmd.Flags().BoolVar(wait, "wait", true, usage)
	cmd.Flags().BoolFunc("no-wait", "short for --wait=false", func(value string) error {
		no, err := strconv.ParseBool(value)
		*wait = !no
		return err
	})
}

// Values of --dry-run.
const (
	DryRunNone   = "none"
	DryRunClient = "client"
	DryRunServer = "server"
)

// AddDryRun adds the flag --dry-run with these values to a command.
func AddDryRun(cmd *cobra.Command, dryRun *string, modes []string, help string) {
	cmd.Flags().StringVar(dryRun, "dry-run", DryRunNone, help)
	CompleteFlag(cmd, "dry-run", modes)
}

// CompleteDirectory offers directories for a flag of one command, where others of its name take
// files.
func CompleteDirectory(cmd *cobra.Command, flag string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, Directories)
}

// CompleteFlag offers these values for a flag of one command, which others of its name do not have.
func CompleteFlag(cmd *cobra.Command, flag string, values []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, Fixed(values...))
}

// AddFrom adds the flag --from to a command, the file of a cluster as it is now. An empty one, as
// of a shell variable that is not set, is an error: the command would do something else without.
func AddFrom(cmd *cobra.Command, from *string, help string) {
	cmd.Flags().Var((*named)(from), "from", help)
}

// named is the value of a flag that must not be empty.
type named string

func (n *named) String() string { return string(*n) }

func (n *named) Set(value string) error {
	if value == "" {
		return errors.New("it is empty: name a file, or leave the flag out")
	}
	*n = named(value)
	return nil
}

func (*named) Type() string { return "string" }
