package terminal

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"
)

// DeclinedError says what a person did not confirm.
type DeclinedError string

func (e DeclinedError) Error() string { return string(e) + " was not confirmed; nothing was changed" }

// CanAsk reports whether there is a person to ask: input and messages are a terminal.
func (t *Terminal) CanAsk() bool { return is(t.In) && is(t.Err) }

// Confirm asks a person. The error is a DeclinedError about what is asked for unless the
// answer is yes; the end of the input is no.
func (t *Terminal) Confirm(ctx context.Context, question, what string) error {
	if _, err := fmt.Fprintf(t.Err, "%s [y/N] ", question); err != nil {
		return fmt.Errorf("asking whether to continue: %w; nothing was changed", err)
	}
	answers := make(chan string, 1)
	go func() {
		answer, _ := bufio.NewReader(t.In).ReadString('\n')
		answers <- answer
	}()
	select {
	case answer := <-answers:
		if slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer))) {
			return nil
		}
		return DeclinedError(what)
	case <-ctx.Done():
		return fmt.Errorf("nothing was changed: %w", context.Cause(ctx))
	}
}
