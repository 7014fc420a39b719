package management

import (
	"context"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestWatchTimesOutWhileReading: the request that was under way when time ran out says
// nothing about what was waited for.
func TestWatchTimesOutWhileReading(t *testing.T) {
	t.Parallel()
	c := clientOf(interceptor.Funcs{Get: func(ctx context.Context, _ client.WithWatch, _ client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
		<-ctx.Done()
		return ctx.Err()
	}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	err := c.Watch(ctx, client.ObjectKey{Namespace: "ns", Name: "c"}, func(state.Cluster, bool) (bool, error) { return true, nil })
	if err != ErrTimeout { //nolint:errorlint // nothing is added to it
		t.Errorf("error is %v, want %v", err, ErrTimeout)
	}
}
