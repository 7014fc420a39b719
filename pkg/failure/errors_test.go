package failure

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/output"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// TestReport: exit code and message of commands, and of those that say with their exit code
// what they found.
func TestReport(t *testing.T) {
	t.Parallel()
	failed := usage.Errorf("no such file")
	type report struct {
		Code    int
		Message string
	}
	for name, test := range map[string]struct {
		err  error
		want report
	}{
		"done":                          {nil, report{Done, ""}},
		"failed":                        {failed, report{Invalid, "error: no such file"}},
		"no differences":                {Differs(false, nil, 1, 2), report{Done, ""}},
		"differences":                   {Differs(true, nil, 1, 2), report{1, ""}},
		"differences unknown":           {Differs(false, failed, 3, 4), report{4, "error: no such file"}},
		"differences unknown, as ended": {Differs(true, fmt.Errorf("asking: %w", context.Canceled), 3, 4), report{Interrupted, "error: asking: context canceled"}},
		"an exit code in other words":   {fmt.Errorf("comparing: %w", ExitError{Code: 7, Err: errors.New("x")}), report{7, "error: x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, message := Report(output.Text, test.err)
			if diff := cmp.Diff(test.want, report{code, message}); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEnded: the error of a wait says after a timeout what was waited for, and after an interrupt
// what goes on.
func TestEnded(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"asking: timed out before it began": fmt.Errorf("asking: %w", management.ErrTimeout),
		"interrupted; it goes on":           fmt.Errorf("asking: %w", context.Canceled),
		"unsupported operation":             errors.ErrUnsupported,
		"<nil>":                             nil,
	} {
		if got := fmt.Sprint(Ended(err, " before it began", "it goes on")); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}

// TestEndedOnce: what is left is said by the innermost part of a command.
func TestEndedOnce(t *testing.T) {
	t.Parallel()
	for _, err := range []error{management.ErrTimeout, context.Canceled} {
		once := Ended(err, " before it began", "it goes on")
		if twice := Stopped(once, "", "run it again"); twice.Error() != once.Error() || !errors.Is(twice, err) {
			t.Errorf("%q after %q", twice, once)
		}
	}
}

// TestStopped: the error of a run that ended before its work says what was under way, unless
// it says so itself, and what is left.
func TestStopped(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err     error
		message string
		is      error
	}{
		"timeout":                 {management.ErrTimeout, "timed out waiting for x; run it again", management.ErrTimeout},
		"timeout in other words":  {fmt.Errorf("asking: %w", management.ErrTimeout), "asking: timed out; run it again", management.ErrTimeout},
		"interrupt":               {fmt.Errorf("asking: %w", context.Canceled), "interrupted; run it again", context.Canceled},
		"something else happened": {fmt.Errorf("asking: %w", errors.ErrUnsupported), "asking: unsupported operation", errors.ErrUnsupported},
	} {
		err := Stopped(test.err, " waiting for x", "run it again")
		if err.Error() != test.message || !errors.Is(err, test.is) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
