package management

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// patience is for how long an API server that is not to be had is asked again:
// less than a lock lasts. The pauses between double, up to a longest one.
const (
	patience     = 10 * time.Second
	firstPause   = 50 * time.Millisecond
	longestPause = 2 * time.Second
)

// patiently asks something of the API server, again while it is not to be had.
// It asks nothing once ctx has ended.
func patiently(ctx context.Context, ask func() error) error {
	began := time.Now()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		if ctx.Err() != nil {
			return timedOut(ctx)
		}
		err := ask()
		if err == nil || !isUnreachable(err) || time.Since(began)+pause > patience {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// isUnreachable tells whether the API server, or what it asks itself, does not
// answer.
func isUnreachable(err error) bool {
	var dial *net.OpError
	var transport *url.Error
	var status apierrors.APIStatus
	switch {
	case errors.Is(err, context.Canceled):
		return false
	case errors.As(err, &status):
		code := int(status.Status().Code)
		return code == http.StatusTooManyRequests || code >= http.StatusInternalServerError
	default:
		return errors.As(err, &dial) || errors.As(err, &transport) || errors.Is(err, io.ErrUnexpectedEOF)
	}
}
