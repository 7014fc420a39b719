package observe

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestReadFailed: a bootstrap that failed is final where the docker backend says so, by
// a reason, and unless a health check of the cluster selects the machine. Machines
// that do not speak of their bootstrap cost no request.
func TestReadFailed(t *testing.T) {
	t.Parallel()
	machine := func(name, kind, message string) clusterv1.Machine {
		return clusterv1.Machine{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"group": name}},
			Spec:       clusterv1.MachineSpec{ClusterName: "c", InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: kind, Name: "of-" + name}},
			Status:     clusterv1.MachineStatus{Conditions: []metav1.Condition{{Type: clusterv1.MachineInfrastructureReadyCondition, Status: metav1.ConditionFalse, Message: message}}},
		}
	}
	const fails = "* BootstrapCompleted:\n  * ERROR: exited with status: 1"
	one := machine("one", "DevMachine", fails)
	check := func(cluster, group string) clusterv1.MachineHealthCheck {
		return clusterv1.MachineHealthCheck{Spec: clusterv1.MachineHealthCheckSpec{ClusterName: cluster, Selector: metav1.LabelSelector{MatchLabels: map[string]string{"group": group}}}}
	}
	type result struct {
		Failed   map[string]state.Failure
		Requests int
	}
	tests := map[string]struct {
		machines []clusterv1.Machine
		reason   string
		checks   []clusterv1.MachineHealthCheck
		want     result
	}{
		"no machines":                   {nil, "Failed", nil, result{nil, 0}},
		"still at work":                 {[]clusterv1.Machine{machine("one", "DevMachine", "* ContainerProvisioned: WaitingForBootstrapData")}, "Failed", nil, result{nil, 0}},
		"of another provider":           {[]clusterv1.Machine{machine("one", "OtherMachine", fails)}, "Failed", nil, result{nil, 0}},
		"not completed yet":             {[]clusterv1.Machine{one}, "NotCompleted", nil, result{map[string]state.Failure{}, 2}},
		"failed":                        {[]clusterv1.Machine{one}, "Failed", nil, result{map[string]state.Failure{"one": state.Failed}, 2}},
		"failed, and copied later":      {[]clusterv1.Machine{machine("one", "DevMachine", "* BootstrapCompleted: Running")}, "Failed", nil, result{map[string]state.Failure{}, 2}},
		"covered":                       {[]clusterv1.Machine{one}, "Failed", []clusterv1.MachineHealthCheck{check("c", "one")}, result{map[string]state.Failure{"one": state.FailedRemediated}, 2}},
		"a check of another cluster":    {[]clusterv1.Machine{one}, "Failed", []clusterv1.MachineHealthCheck{check("d", "one")}, result{map[string]state.Failure{"one": state.Failed}, 2}},
		"a check of other machines":     {[]clusterv1.Machine{one}, "Failed", []clusterv1.MachineHealthCheck{check("c", "two")}, result{map[string]state.Failure{"one": state.Failed}, 2}},
		"another machine is at work":    {[]clusterv1.Machine{one, machine("two", "DevMachine", "")}, "Failed", nil, result{map[string]state.Failure{"one": state.Failed}, 2}},
		"another machine is not listed": {[]clusterv1.Machine{one, machine("two", "DevMachine", fails)}, "Failed", nil, result{map[string]state.Failure{"one": state.Failed}, 2}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := result{}
			c := interceptor.NewClient(nil, interceptor.Funcs{List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
				got.Requests++
				switch list := list.(type) {
				case *unstructured.UnstructuredList:
					list.Items = []unstructured.Unstructured{{Object: map[string]any{
						"metadata": map[string]any{"name": "of-one"},
						"status": map[string]any{"conditions": []any{
							map[string]any{"type": "BootstrapCompleted", "status": "False", "reason": test.reason, "lastTransitionTime": "2026-01-02T03:04:05Z"},
							map[string]any{"type": "Ready", "status": "False", "reason": "NotReady", "message": fails, "lastTransitionTime": "2026-01-02T03:04:05Z"},
						}},
					}}}
				case *clusterv1.MachineHealthCheckList:
					list.Items = test.checks
				}
				return nil
			}})
			s := snapshot{machines: test.machines}
			if err := s.readFailed(t.Context(), c, []state.BootstrapFailure{{Kind: schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta2", Kind: "DevMachine"}, Condition: "BootstrapCompleted", Reason: "Failed"}}); err != nil {
				t.Fatal(err)
			}
			got.Failed = s.failed
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("failed (-want +got):\n%s", diff)
			}
		})
	}
}
