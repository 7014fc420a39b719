package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/clusterctl-x/clusterctl-x/pkg/failure"
)

// CanAsk reports whether there is a person to ask: input and messages are a terminal.
func (a *App) CanAsk() bool { return readsTerminal(a.In) && isTerminal(a.Err) }

func readsTerminal(r io.Reader) bool {
	file, ok := r.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Confirm asks a person. The error is a DeclinedError about what is asked for unless the
// answer is yes; the end of the input is no.
func (a *App) Confirm(ctx context.Context, question, what string) error {
	if _, err := fmt.Fprintf(a.Err, "%s [y/N] ", question); err != nil {
		return fmt.Errorf("asking whether to continue: %w; nothing was changed", err)
	}
	answers := make(chan string, 1)
	go func() {
		answer, _ := bufio.NewReader(a.In).ReadString('\n')
		answers <- answer
	}()
	select {
	case answer := <-answers:
		if slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer))) {
			return nil
		}
		return failure.DeclinedError(what)
	case <-ctx.Done():
		return fmt.Errorf("nothing was changed: %w", context.Cause(ctx))
	}
}
