package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/clusterctl-x/clusterctl-x/pkg/embedded"
	"github.com/clusterctl-x/clusterctl-x/pkg/output"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
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
	return interactive || !a.Options.Quiet && a.Format != output.JSON
}

// Lossy keeps the error of what cobra writes, helps and completions, and of events:
// cobra and view.Progress drop it.
type Lossy struct {
	io.Writer
	err error
}

func (l *Lossy) Write(data []byte) (int, error) {
	if _, err := l.Writer.Write(data); l.err == nil && err != nil {
		l.err = err
	}
	return len(data), nil
}

// Unwritten is the first error of writing.
func (l *Lossy) Unwritten() error {
	if l.err == nil {
		return nil
	}
	return fmt.Errorf("writing the output: %w", l.err)
}

// WriteSecret writes credentials to standard output, or to a file that only
// its owner may read.
func (a *App) WriteSecret(file string, data []byte) error {
	if file == "" {
		return a.Write(string(data))
	}
	if err := embedded.WriteFile(file, data); err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	a.Say("kubeconfig written to %s", file)
	return nil
}

// Warning tells a person that the result is not all that was asked for, which
// is more than progress: --quiet does not hide it.
func (a *App) Warning(format string, args ...any) { a.Tell(fmt.Sprintf("warning: "+format, args...)) }

// WarnText is Warning for a text that is complete.
func (a *App) WarnText(text string) { a.Warning("%s", text) }

// WarnAll prints the warnings about a spec.
func (a *App) WarnAll(warnings []strictyaml.Warning) {
	for _, warning := range warnings {
		a.Warning("%s", warning)
	}
}

// Say tells a person how far things are, on stderr.
func (a *App) Say(format string, args ...any) {
	if !a.Options.Quiet {
		a.Tell(fmt.Sprintf(format, args...))
	}
}

// Tell writes to stderr. Where that fails, there is nowhere left to say so.
func (a *App) Tell(text string) { _, _ = fmt.Fprintln(a.Err, text) }
