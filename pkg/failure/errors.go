package failure

import (
	"context"
	"errors"
	"fmt"

	"github.com/clusterctl-x/clusterctl-x/pkg/management"
)

// InterruptedError says what goes on after an interrupt. What the interrupt cut
// off, down to the signal itself, is no use to people.
type InterruptedError string

func (e InterruptedError) Error() string { return "interrupted; " + string(e) }

// Is makes it the error that the exit code depends on.
func (InterruptedError) Is(target error) bool { return target == context.Canceled }

// Stopped returns the error of a run that a timeout or an interrupt stopped, with what the run
// waited for, after a blank, and what is left of it. Other errors stay as they are.
func Stopped(err error, waitingFor, left string) error {
	if err != management.ErrTimeout { //nolint:errorlint // others say themselves what was under way
		waitingFor = ""
	}
	return Ended(err, waitingFor+"; "+left, left)
}

// timedOut is the error of a timeout that says what is left.
type timedOut struct{ error }

func (t timedOut) Unwrap() error { return t.error }

// Ended returns the error of a command that a timeout or an interrupt ended: with what follows
// the words of the timeout, or with what goes on after the interrupt. Other errors stay as they
// are, and so do those that Ended returned.
func Ended(err error, late, goesOn string) error {
	switch {
	case errors.As(err, new(timedOut)), errors.As(err, new(InterruptedError)):
		return err
	case errors.Is(err, management.ErrTimeout):
		return timedOut{fmt.Errorf("%w%s", err, late)}
	case errors.Is(err, context.Canceled):
		return InterruptedError(goesOn)
	default:
		return err
	}
}

// ExitError ends a command with an exit code of its own, and prints Err unless it is nil.
type ExitError struct {
	Code int
	Err  error
}

func (e ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e ExitError) Unwrap() error { return e.Err }

// Differs returns the result of a command that says with its exit code whether there are
// differences, and that ends with another one where it failed.
func Differs(found bool, err error, differs, failed int) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case err != nil:
		return ExitError{Code: failed, Err: err}
	case found:
		return ExitError{Code: differs}
	default:
		return nil
	}
}
