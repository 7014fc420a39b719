package management

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// TestExplain looks at the kind of error, which the exit code depends on.
func TestExplain(t *testing.T) {
	t.Parallel()
	c := &Client{config: &rest.Config{Host: "https://host"}}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	told, tell := context.WithCancelCause(t.Context())
	tell(signalError{})
	over, cancel := context.WithDeadlineCause(t.Context(), time.Now(), ErrTimeout)
	defer cancel()
	clusters := schema.GroupResource{Group: "cluster.x-k8s.io", Resource: "clusters"}
	refused := &url.Error{Op: "Get", URL: "https://host", Err: &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}}
	other := errors.New("other")
	lost := error(&LockedError{Lost: true})

	check := func(name string) func(err error) bool {
		return func(err error) bool {
			var r *RefusedError
			return errors.As(err, &r) && r.Check == name
		}
	}
	is := func(want error) func(err error) bool { return func(err error) bool { return errors.Is(err, want) } }
	tests := map[string]struct {
		ctx  context.Context
		err  error
		want func(err error) bool
	}{
		"nothing":      {t.Context(), nil, func(err error) bool { return err == nil }},
		"forbidden":    {t.Context(), fmt.Errorf("reading: %w", apierrors.NewForbidden(clusters, "a", other)), check("privileges")},
		"unauthorized": {t.Context(), apierrors.NewUnauthorized("who?"), check("credentials")},
		"interrupted":  {canceled, other, is(context.Canceled)},
		"interrupted, waiting": {told, context.Cause(told), func(err error) bool {
			return errors.Is(err, context.Canceled) && err.Error() == "interrupted; run the same command again to continue"
		}},
		"deadline": {t.Context(), fmt.Errorf("reading: %w", context.DeadlineExceeded), is(ErrTimeout)},
		"time is over": {over, fmt.Errorf("reading: %w", context.DeadlineExceeded), func(err error) bool {
			return errors.Is(err, ErrTimeout) && err.Error() == "timed out while reading: context deadline exceeded"
		}},
		"time is over, waiting": {over, ErrTimeout, func(err error) bool { return err == ErrTimeout }}, //nolint:errorlint // unchanged
		"time is over, said before": {over, fmt.Errorf("%w while reading: %w", ErrTimeout, context.DeadlineExceeded), func(err error) bool {
			return errors.Is(err, ErrTimeout) && err.Error() == "timed out while reading: context deadline exceeded"
		}},
		"timeout of network": {t.Context(), &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, is(ErrTimeout)},
		"connection refused": {t.Context(), refused, func(err error) bool {
			return errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, ErrTimeout)
		}},
		"lock lost": {t.Context(), fmt.Errorf("applying a: %w", lost), func(err error) bool { return err == lost }}, //nolint:errorlint // unwrapped
		"other":     {t.Context(), other, func(err error) bool { return err == other }},                             //nolint:errorlint // unchanged
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.explain(test.ctx, test.err); !test.want(got) {
				t.Errorf("explain gives %#v: %v", got, got)
			}
		})
	}
}

// signalError is the cause of a context that a signal ended, as os/signal has it.
type signalError struct{}

func (signalError) Error() string { return "terminated signal received" }

func (signalError) Is(target error) bool { return target == context.Canceled }
