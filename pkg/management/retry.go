package management

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// retrying asks something of the API server, again while it is not to be had. It asks
// nothing once ctx has ended.
func (c *Client) retrying(ctx context.Context, ask func() error) error {
	o := c.opts()
	if held, is := ctx.Value(lockKey{}).(*lock); is {
		o = held.c.opts()
	}
	began := o.Clock.Now()
	for next := o.RetryBackoff.DelayFunc(); ; {
		if ctx.Err() != nil {
			return timedOut(ctx)
		}
		err := ask()
		pause := next()
		if err == nil || !isUnreachable(err) || o.Clock.Since(began)+pause > o.RetryTimeout {
			return err
		}
		select {
		case <-o.Clock.After(pause):
		case <-ctx.Done():
		}
	}
}

// isUnreachable reports whether the API server, or a server that it calls, does not
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
