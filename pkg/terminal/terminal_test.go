package terminal_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/terminal"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// TestConfirm: yes is yes, and everything else, down to the end of the input, is no.
func TestConfirm(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"y\n":    "<nil>",
		" YES\n": "<nil>",
		"yes":    "<nil>",
		"n\n":    "the upgrade was not confirmed; nothing was changed",
		"yep\n":  "the upgrade was not confirmed; nothing was changed",
		"\n":     "the upgrade was not confirmed; nothing was changed",
		"":       "the upgrade was not confirmed; nothing was changed",
	} {
		var asked strings.Builder
		person := terminal.Terminal{Streams: terminal.Streams{In: strings.NewReader(answer), Err: &asked}}
		got := fmt.Sprint(person.Confirm(t.Context(), "continue?", "the upgrade"))
		if diff := cmp.Diff([]string{want, "continue? [y/N] "}, []string{got, asked.String()}); diff != "" {
			t.Errorf("%q: error, and question (-want +got):\n%s", answer, diff)
		}
	}
}

// TestConfirmEnds with the context, since the person may have left.
func TestConfirmEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	silent, closed := io.Pipe()
	defer func() { _ = closed.Close() }()
	person := terminal.Terminal{Streams: terminal.Streams{In: silent, Err: io.Discard}}
	if got := fmt.Sprint(person.Confirm(ctx, "continue?", "the upgrade")); got != "nothing was changed: context canceled" {
		t.Errorf("got %s", got)
	}
	if person.CanAsk() {
		t.Error("a pipe is taken for a person")
	}
}

// TestSay: Quiet leaves out how far things are, and no warning.
func TestSay(t *testing.T) {
	t.Parallel()
	for quiet, want := range map[bool]string{
		false: "3 objects created\nwarning: a.yaml:3: spec.a: is old\nwarning: 100%\nerror\n",
		true:  "warning: a.yaml:3: spec.a: is old\nwarning: 100%\nerror\n",
	} {
		var said strings.Builder
		person := terminal.Terminal{Streams: terminal.Streams{Err: &said}, Quiet: quiet}
		person.Say("%d objects created", 3)
		person.WarnAll([]strictyaml.Warning{{File: "a.yaml", Line: 3, Path: "spec.a", Text: "is old"}})
		person.WarnText("100%")
		person.Tell("error")
		if diff := cmp.Diff(want, said.String()); diff != "" {
			t.Errorf("quiet %t (-want +got):\n%s", quiet, diff)
		}
	}
}

// TestStyle: what is no terminal has colours only when they are asked for.
func TestStyle(t *testing.T) {
	t.Parallel()
	for color, want := range map[string]view.Style{terminal.Auto: {}, terminal.Always: {Color: true}, terminal.Never: {}} {
		person := terminal.Terminal{Color: color}
		if diff := cmp.Diff(want, person.Style(io.Discard)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", color, diff)
		}
	}
}
