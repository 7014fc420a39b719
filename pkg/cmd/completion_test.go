package cmd

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/terminal"
)

// namesOfFiles are flags that take any file.
func namesOfFiles() []string {
	return []string{"client-ca", "identity", "kubeconfig", "runtime-extension-client-cert-file", "runtime-extension-client-key-file", "to", "write-kubeconfig"}
}

// TestEveryFlagIsCompleted fails on a flag with a value for which the shell offers whatever
// files there are.
func TestEveryFlagIsCompleted(t *testing.T) {
	t.Parallel()
	root := rootCommand(cli.New(terminal.Streams{In: strings.NewReader(""), Out: &strings.Builder{}, Err: &strings.Builder{}}), "")
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
			flags.VisitAll(func(flag *pflag.Flag) {
				_, completed := cmd.GetFlagCompletionFunc(flag.Name)
				isBool := strings.HasPrefix(flag.Value.Type(), "bool") // with boolfunc
				if !completed && !isBool && !slices.Contains(namesOfFiles(), flag.Name) {
					t.Errorf("'%s' --%s: nothing is known of its values: add it to pkg/cmd/cli/completion.go", cmd.CommandPath(), flag.Name)
				}
			})
		}
		if !cmd.HasSubCommands() && cmd.ValidArgsFunction == nil {
			t.Errorf("'%s' completes its arguments with files", cmd.CommandPath())
		}
		for _, child := range cmd.Commands() {
			if child.Name() != "help" {
				walk(child)
			}
		}
	}
	walk(root)
}
