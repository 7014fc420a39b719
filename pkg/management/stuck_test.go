package management

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestStuck: the wait for a machine that no controller retries ends with the reason and the way
// out, and goes on where a health check replaces the machine.
func TestStuck(t *testing.T) {
	t.Parallel()
	version := v1alpha1.MustParseVersion("v1.35.0")
	waitsFor := func(failed state.Failure) state.Cluster {
		return state.Cluster{Namespace: "default", Name: "c", ControlPlane: state.Part{
			Name: v1alpha1.ControlPlaneName, Version: version, Replicas: 1,
			Machines: []state.Machine{{Name: "c-x", Version: version, Phase: "Provisioning", Reason: "[ERROR ImagePull]: failed", Failed: failed}},
		}}
	}
	const want = "cluster default/c waits for control-plane: 0 of 1 machines ready at v1.35.0; machine c-x is Provisioning: [ERROR ImagePull]: failed; its bootstrap is not retried; nothing will change by itself, because no MachineHealthCheck covers the machine: fix the cause, delete Machine/c-x in the management cluster, and run the same command again"
	if diff := cmp.Diff(want, fmt.Sprint(Stuck(waitsFor(state.Failed)))); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	if err := Stuck(waitsFor(state.FailedRemediated)); err != nil {
		t.Errorf("with a health check: %v", err)
	}
}
