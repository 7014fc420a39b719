package management

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
)

// maxRetry is for how long an API server that is not to be had is asked again: less than
// a lock lasts.
const maxRetry = 10 * time.Second

// pauses returns the pauses between requests: they double, up to a longest one.
func pauses() wait.DelayFunc {
	return wait.Backoff{Duration: 50 * time.Millisecond, Factor: 2, Cap: 2 * time.Second, Steps: math.MaxInt}.DelayFunc()
}

// retrying asks something of the API server, again while it is not to be had. It asks
// nothing once ctx has ended.
func retrying(ctx context.Context, ask func() error) error {
	began := time.Now()
	for next := pauses(); ; {
		if ctx.Err() != nil {
			return timedOut(ctx)
		}
		err := ask()
		pause := next()
		if err == nil || !isUnreachable(err) || time.Since(began)+pause > maxRetry {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// isUnreachable reports whether the API server, or what it asks itself, does not
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
