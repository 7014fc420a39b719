package management

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestRetrying: what is asked again, how often, and for how long.
func TestRetrying(t *testing.T) {
	t.Parallel()
	clusters := schema.GroupResource{Group: "cluster.x-k8s.io", Resource: "clusters"}
	tests := map[string]struct {
		err   error
		again bool
	}{
		"connection refused":                 {refusedConnection(), true},
		"connection refused, said by others": {fmt.Errorf("applying: %w", refusedConnection()), true},
		"connection reset":                   {&url.Error{Op: "Patch", URL: "https://host", Err: syscall.ECONNRESET}, true},
		"connection closed":                  {&url.Error{Op: "Patch", URL: "https://host", Err: io.EOF}, true},
		"half an answer":                     {fmt.Errorf("reading the answer: %w", io.ErrUnexpectedEOF), true},
		"no answer":                          {&url.Error{Op: "Patch", URL: "https://host", Err: os.ErrDeadlineExceeded}, true},
		"no webhook":                         {apierrors.NewInternalError(errors.New("failed calling webhook")), true},
		"no leader of etcd":                  {apierrors.NewGenericServerResponse(http.StatusInternalServerError, "patch", clusters, "c", "etcdserver: leader changed", 0, true), true},
		"etcd is slow":                       {apierrors.NewTimeoutError("request did not complete", 0), true},
		"the server is not ready":            {apierrors.NewServiceUnavailable("not yet"), true},
		"the server asks for patience":       {apierrors.NewServerTimeout(clusters, "patch", 1), true},
		"too many requests":                  {apierrors.NewTooManyRequests("later", 1), true},
		"conflict":                           {apierrors.NewConflict(clusters, "c", errors.New("owned")), false},
		"invalid":                            {apierrors.NewInvalid(schema.GroupKind{Kind: "Cluster"}, "c", nil), false},
		"refused by a webhook":               {&apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden}}, false},
		"not found":                          {apierrors.NewNotFound(clusters, "c"), false},
		"unauthorized":                       {apierrors.NewUnauthorized("who?"), false},
		"stopped":                            {&url.Error{Op: "Patch", URL: "https://host", Err: context.Canceled}, false},
		"something else":                     {errors.New("other"), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var asked []time.Duration
				err := clientOf(interceptor.Funcs{}).retrying(t.Context(), func() error {
					asked = append(asked, time.Since(began))
					return test.err
				})
				want := []time.Duration{0}
				if test.again {
					const ms = time.Millisecond
					want = []time.Duration{0, 50 * ms, 150 * ms, 350 * ms, 750 * ms, 1550 * ms, 3150 * ms, 5150 * ms, 7150 * ms, 9150 * ms}
				}
				if diff := cmp.Diff(want, asked); diff != "" || err != test.err { //nolint:errorlint // unchanged
					t.Errorf("error is %v; asked (-want +got):\n%s", err, diff)
				}
				if took := time.Since(began); took != want[len(want)-1] {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

// TestRetryingEnds: once ctx has ended nothing is asked, and the error says why
// it ended.
func TestRetryingEnds(t *testing.T) {
	t.Parallel()
	lost := &LockedError{Lost: true}
	tests := map[string]struct {
		end  func(ctx context.Context) context.Context
		want error
	}{
		"the lock is lost": {func(ctx context.Context) context.Context {
			held, lose := context.WithCancelCause(ctx)
			time.AfterFunc(time.Second, func() { lose(lost) })
			return held
		}, lost},
		"the time is over": {func(ctx context.Context) context.Context {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			time.AfterFunc(time.Hour, cancel)
			return ctx
		}, ErrTimeout},
		"interrupted": {func(ctx context.Context) context.Context {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx
		}, context.Canceled},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, asked := test.end(t.Context()), 0
				began := time.Now()
				err := clientOf(interceptor.Funcs{}).retrying(ctx, func() error { asked++; return refusedConnection() })
				if took := time.Since(began); err != test.want || asked != 5 || took != time.Second { //nolint:errorlint // unchanged
					t.Errorf("asked %d times in %s: %v", asked, took, err)
				}
				err = clientOf(interceptor.Funcs{}).retrying(ctx, func() error { asked++; return nil })
				if err != test.want || asked != 5 { //nolint:errorlint // unchanged
					t.Errorf("asked %d times: %v", asked, err)
				}
			})
		})
	}
}
