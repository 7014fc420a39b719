package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/clusterctl-x/clusterctl-x/pkg/files"
	"github.com/clusterctl-x/clusterctl-x/pkg/output"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// outputFlag is the flag that names the format of a result.
const outputFlag = "output"

// Annotations of the flag: the formats of the command, and what an error about another
// format says in addition.
const (
	formatsAnnotation = "clusterctl-x.io/formats"
	remedyAnnotation  = "clusterctl-x.io/remedy"
)

// AddListOutput gives a command the output formats of lists.
func (a *App) AddListOutput(cmd *cobra.Command, more ...string) {
	a.AddOutput(cmd.Flags(), output.ListFormats(more...), "", "")
}

// AddOutput adds the flag for a command with output formats of its own. More follows them in
// the help, and the remedy is what an error about another format says in addition.
func (a *App) AddOutput(flags *pflag.FlagSet, formats output.Formats, more, remedy string) {
	flags.StringVarP(&a.Format, outputFlag, "o", output.Text, "output: "+formats.String()+more)
	flags.Lookup(outputFlag).DefValue = formats[0] // for the help; all commands share the value
	_ = flags.SetAnnotation(outputFlag, formatsAnnotation, formats)
	_ = flags.SetAnnotation(outputFlag, remedyAnnotation, []string{remedy})
}

// checkOutput checks the format against those of the command.
func (a *App) checkOutput(cmd *cobra.Command) error {
	flag := cmd.Flag(outputFlag)
	if !flag.Changed {
		return nil
	}
	return a.Use(flag.Annotations[formatsAnnotation], flag.Annotations[remedyAnnotation][0])
}

// Columns returns how many columns a table has.
func (a *App) Columns() view.Columns {
	if a.Format == output.Wide {
		return view.AllColumns
	}
	return view.FewColumns
}

// ShowsPlans reports whether a person is shown what is going to happen; who is asked, is in
// any case.
func (a *App) ShowsPlans(interactive bool) bool {
	return interactive || !a.Quiet && a.Format != output.JSON
}

// WriteKubeconfig makes a command write a kubeconfig, to the file of its flag --to.
func (a *App) WriteKubeconfig(cmd *cobra.Command, read func(ctx context.Context, args []string) ([]byte, error)) *cobra.Command {
	var file string
	cmd.Flags().StringVar(&file, "to", "", "file to write to, readable by its owner only; default: standard output")
	cmd.RunE = a.Within(0, func(ctx context.Context, args []string) error {
		kubeconfig, err := read(ctx, args)
		if err != nil {
			return err
		}
		return a.writeSecret(file, kubeconfig)
	})
	return cmd
}

// writeSecret writes credentials to standard output, or to a file that only
// its owner may read.
func (a *App) writeSecret(file string, data []byte) error {
	if file == "" {
		return a.Write(string(data))
	}
	if err := files.Save(file, data); err != nil {
		return fmt.Errorf("writing the kubeconfig to %s: %w", file, err)
	}
	a.Say("kubeconfig written to %s", file)
	return nil
}
