package topology

import (
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/klog/v2"
)

// TestLogged: Cluster API finds a logger, and that of the caller where there is one.
func TestLogged(t *testing.T) {
	t.Parallel()
	if _, err := logr.FromContext(logged(t.Context())); err != nil {
		t.Error(err)
	}
	var said []string
	logger := funcr.New(func(_, text string) { said = append(said, text) }, funcr.Options{})
	got, err := logr.FromContext(logged(klog.NewContext(t.Context(), logger)))
	if err != nil {
		t.Fatal(err)
	}
	got.Info("generating")
	if diff := cmp.Diff([]string{`"level"=0 "msg"="generating"`}, said); diff != "" {
		t.Errorf("the log (-want +got):\n%s", diff)
	}
}
