package logs_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/klog/v2"

	"github.com/clusterctl-x/clusterctl-x/pkg/logs"
	"github.com/clusterctl-x/clusterctl-x/pkg/output"
)

// TestStructured: each event is a line, and what libraries do is for who asks.
func TestStructured(t *testing.T) {
	times := regexp.MustCompile(`\d{4}-\d\d-\d\dT[^ "]+`)
	for name, test := range map[string]struct {
		format    string
		verbosity int
		want      string
	}{
		"text":         {output.Text, 0, "time=NOW level=INFO msg=answering port=1\n"},
		"JSON":         {output.JSON, 0, `{"time":"NOW","level":"INFO","msg":"answering","port":1}` + "\n"},
		"of libraries": {output.Text, 1, "time=NOW level=INFO msg=answering port=1\ntime=NOW level=DEBUG+3 msg=asking\n"},
	} {
		var written strings.Builder
		logs.Structured(&written, test.format, test.verbosity).Info("answering", "port", 1)
		klog.Info("asking")
		got := times.ReplaceAllString(written.String(), "NOW")
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
