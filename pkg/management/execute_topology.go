package management

import (
	"context"
	"errors"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/observe"
)

// errPostponed says that Cluster API takes no other version yet.
var errPostponed = errors.New("Cluster API has not finished the previous upgrade")

// maxEnding is how long Cluster API has time to end an upgrade all of whose parts are
// there.
const maxEnding = 10 * time.Second

// applyTopology writes a Cluster. The error is errPostponed while Cluster API takes no
// other version, because it has not quite ended the upgrade before. The end of it is a
// change of the Cluster.
func (x *execution) applyTopology(ctx context.Context, object *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	written, err := x.apply(ctx, object)
	if !apierrors.IsInvalid(err) {
		return written, err
	}
	live, unread := x.c.LiveCluster(ctx, x.key)
	if unread != nil {
		return nil, err
	}
	if observe.UpgradePending(live) {
		return nil, errPostponed
	}
	// It may have ended since, or be about to: the webhooks look at more than is seen.
	written, err = x.apply(ctx, object)
	o := x.c.opts()
	for began, next := o.Clock.Now(), o.RetryBackoff.DelayFunc(); versionRefused(err) && o.Clock.Since(began) < maxEnding; {
		select {
		case <-o.Clock.After(next()):
		case <-ctx.Done():
			return nil, timedOut(ctx)
		}
		written, err = x.apply(ctx, object)
	}
	if versionRefused(err) {
		if live, unread := x.c.LiveCluster(ctx, x.key); unread == nil && observe.UpgradePending(live) {
			return nil, errPostponed // the hook was not pending yet when it was looked at first
		}
	}
	return written, err
}

// versionRefused reports whether Cluster API does not take the version of a topology.
func versionRefused(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(cause metav1.StatusCause) bool { return cause.Field == "spec.topology.version" })
}
