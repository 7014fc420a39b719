package commandline

import (
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
