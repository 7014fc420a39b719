package management

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestApplyTopologyWhileAnUpgradeEnds: a version that Cluster API does not take yet is
// written again when the upgrade before has ended, and no other refusal is waited
// out.
func TestApplyTopologyWhileAnUpgradeEnds(t *testing.T) {
	t.Parallel()
	const asked = "apply Cluster/c"
	for name, test := range map[string]struct {
		pending string // hooks, when the version was refused
		refused int    // how often it is
		field   string // that the refusal is about
		want    []string
		writes  []string
	}{
		"not ended":       {"AfterControlPlaneUpgrade,AfterClusterUpgrade", 1, "", []string{"postponed true, through 0: <nil>", "postponed false, through 3: <nil>"}, []string{asked, asked}},
		"ended meanwhile": {"", 1, "", []string{"postponed false, through 3: <nil>"}, []string{asked, asked}},
		"about to end":    {"", 3, "spec.topology.version", []string{"postponed false, through 3: <nil>"}, []string{asked, asked, asked, asked}},
		"another reason":  {"AfterControlPlaneUpgrade", 9, "spec.topology.class", []string{"postponed false, through 0: applying Cluster/c: Cluster.cluster.x-k8s.io \"c\" is invalid"}, []string{asked, asked}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := enginetest.Object("cluster.x-k8s.io", "Cluster", "c", "", map[string]any{"topology": map[string]any{"version": "v1.32.0"}})
			live := cluster.DeepCopy()
			live.SetAnnotations(map[string]string{runtimev1.PendingHooksAnnotation: test.pending})
			w := newWorld(t, enginetest.Versions("v1.31.0"))
			w.Objects["Cluster/c"] = live
			w.apply = func(object *unstructured.Unstructured) error {
				if object.GetKind() != "Cluster" || test.refused == 0 {
					return nil
				}
				test.refused--
				err := apierrors.NewInvalid(clusterv1.GroupVersion.WithKind("Cluster").GroupKind(), "c", nil)
				err.ErrStatus.Details.Causes = []metav1.StatusCause{{Field: test.field}}
				return err
			}
			x := w.run(enginetest.Plan(enginetest.Versions("v1.31.0"), enginetest.Versions("v1.31.0")))
			actions := []engine.Action{engine.ApplyTopology{Object: cluster, Through: 3}}
			x.progress = begun(x)
			var got []string
			for range 2 {
				postponed, err := x.do(t.Context(), actions)
				got = append(got, fmt.Sprintf("postponed %t, through %d: %v", postponed, x.engine.Status(state.Cluster{}, x.progress).Through, err))
				if !postponed {
					break
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.writes, w.writes); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}

// begun is the progress of an execution before its first write.
func begun(x *execution) engine.Progress {
	_, p := x.engine.Begin(state.Cluster{})
	return p
}
