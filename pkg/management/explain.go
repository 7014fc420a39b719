package management

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
)

// explain adds the remedy to errors that have one, and the kind of error that
// the exit code depends on.
func (c *Client) explain(ctx context.Context, err error) error {
	var network net.Error
	var dial *net.OpError
	var transport *url.Error
	var locked *LockedError
	var unknown *meta.NoKindMatchError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &locked) && locked.Lost: // which object was to be written then does not matter
		return locked
	case errors.Is(err, ErrTimeout): // it was waiting, or says itself what was under way
		return err
	case errors.Is(context.Cause(ctx), ErrTimeout):
		return fmt.Errorf("%w while %w", context.Cause(ctx), err)
	case stopped(ctx) != nil:
		return stopped(ctx)
	case errors.Is(ctx.Err(), context.Canceled) && err == context.Cause(ctx): //nolint:errorlint // it was waiting, and was doing nothing
		return interrupted{}
	case errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("interrupted while %w (%w); run the same command again to continue", err, context.Canceled)
	case errors.As(err, &unknown):
		return &RefusedError{Check: checkMissingKind, Reason: c.missingKind(unknown)}
	case apierrors.IsForbidden(err):
		return &RefusedError{Check: "privileges", Reason: fmt.Sprintf("%v; give the user of this kubeconfig the privileges of 'clusterctl-x generate rbac', or use another kubeconfig", err)}
	case apierrors.IsUnauthorized(err):
		return &RefusedError{Check: "credentials", Reason: fmt.Sprintf("%v; the management cluster %s does not know the user of this kubeconfig: log in again or use another kubeconfig", err, c.config.Host)}
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return fmt.Errorf("%w: the management cluster %s does not answer: %w", ErrTimeout, c.config.Host, err)
	case errors.As(err, &dial), errors.As(err, &transport):
		return fmt.Errorf("the management cluster %s cannot be reached: %w; check that it runs and that the kubeconfig is right", c.config.Host, err)
	default:
		return err
	}
}

// interrupted is the error of a command that was told to end while it waited. What
// told it to, down to the signal, is no use to people.
type interrupted struct{}

func (interrupted) Error() string { return "interrupted; run the same command again to continue" }

// Is makes it the error that the exit code depends on.
func (interrupted) Is(target error) bool { return target == context.Canceled }

// stopped returns the cause of the end of a context, if it has one.
func stopped(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}
