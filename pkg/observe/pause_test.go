package observe

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestPauseOf: the mark of a backup on a Cluster that is not paused says nothing, and that of a
// group on its way always counts.
func TestPauseOf(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		mark   string
		paused bool
		want   *state.Pause
	}{
		"none":                   {paused: true},
		"a group":                {mark: `{"why":"detach md-0"}`, want: &state.Pause{Why: "detach md-0"}},
		"a backup":               {mark: `{"why":"save","for":"backup"}`, paused: true, want: &state.Pause{Why: "save", For: state.PauseForBackup}},
		"resumed by hand":        {mark: `{"why":"save","for":"backup"}`},
		"somebody edited a mark": {mark: "me", want: &state.Pause{Why: "me"}},
	} {
		cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{}, Spec: clusterv1.ClusterSpec{Paused: ptr.To(test.paused)}}
		if test.mark != "" {
			cluster.Annotations = map[string]string{v1alpha1.PauseAnnotation: test.mark}
		}
		if diff := cmp.Diff(test.want, pauseOf(cluster)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
