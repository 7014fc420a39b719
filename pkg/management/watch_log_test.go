package management

import (
	"context"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// loggingInformer logs when it is run.
type loggingInformer struct{ toolscache.SharedIndexInformer }

func (loggingInformer) RunWithContext(ctx context.Context) { klog.FromContext(ctx).Info("running") }

// TestInformersLogToTheirLogger: whatever logger a cache gives them.
func TestInformersLogToTheirLogger(t *testing.T) {
	t.Parallel()
	said := map[string][]string{}
	logger := func(name string) klog.Logger {
		return funcr.New(func(_, text string) { said[name] = append(said[name], text) }, funcr.Options{})
	}
	informer{loggingInformer{}, logger("own")}.RunWithContext(klog.NewContext(t.Context(), logger("cache's")))
	if diff := cmp.Diff(map[string][]string{"own": {`"level"=0 "msg"="running"`}}, said); diff != "" {
		t.Errorf("logs (-want +got):\n%s", diff)
	}
}
