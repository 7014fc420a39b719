package topology

import (
	"context"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// logged returns a context with the logger that ctx has, or else that of klog. Without one
// Cluster API logs to controller-runtime's global logger, which writes a stack trace to
// stderr in programs that never set it.
func logged(ctx context.Context) context.Context {
	return logr.NewContext(ctx, klog.FromContext(ctx))
}
