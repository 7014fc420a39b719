// Package terminal is where a program and a person meet: its streams, whether they are a
// terminal, what is said on them, and what is asked.
package terminal

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// Streams are where a program reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Values of Color.
const (
	Auto   = "auto"
	Always = "always"
	Never  = "never"
)

// Colors returns the values of Color.
func Colors() []string { return []string{Auto, Always, Never} }

// Terminal is the messages and questions to a person, on the streams.
type Terminal struct {
	Streams
	// Color says whether text has colours; with Auto it has on a terminal.
	Color string
	// Quiet leaves out how far things are.
	Quiet bool
}

// Style is how text is written to w.
func (t *Terminal) Style(w io.Writer) view.Style {
	switch t.Color {
	case Always:
		return view.Style{Color: true}
	case Never:
		return view.Style{}
	default:
		return view.Style{Color: is(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
	}
}

// Progress shows on stderr what happens to a cluster.
func (t *Terminal) Progress() *view.Progress {
	switch {
	case t.Quiet:
		return view.NewProgress(t.Err, view.Quiet, view.Style{})
	case is(t.Err) && os.Getenv("TERM") != "dumb":
		style := t.Style(t.Err)
		style.Width = func() int { return width(t.Err) }
		return view.NewProgress(t.Err, view.Terminal, style)
	default:
		return view.NewProgress(t.Err, view.Lines, view.Style{})
	}
}

// Warning tells a person that the result is not all that was asked for, which
// is more than progress: Quiet does not hide it.
func (t *Terminal) Warning(format string, args ...any) {
	t.Tell(fmt.Sprintf("warning: "+format, args...))
}

// WarnText is Warning for a text that is complete.
func (t *Terminal) WarnText(text string) { t.Warning("%s", text) }

// WarnAll prints the warnings about a spec.
func (t *Terminal) WarnAll(warnings []strictyaml.Warning) {
	for _, warning := range warnings {
		t.Warning("%s", warning)
	}
}

// Say tells a person how far things are, on stderr.
func (t *Terminal) Say(format string, args ...any) {
	if !t.Quiet {
		t.Tell(fmt.Sprintf(format, args...))
	}
}

// Tell writes to stderr. Where that fails, there is nowhere left to say so.
func (t *Terminal) Tell(text string) { _, _ = fmt.Fprintln(t.Err, text) }

// is reports whether a stream is a terminal.
func is(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// width returns how many columns a terminal has; 0 where that is not known.
func width(w io.Writer) int {
	file, ok := w.(*os.File)
	if !ok {
		return 0
	}
	columns, _, _ := term.GetSize(int(file.Fd()))
	return max(columns, 0)
}
