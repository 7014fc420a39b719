package observe

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// lagging is aCluster after attempts that failed: the status is that of generation 3, and
// status.observedGeneration is that of the generation before.
func lagging() snapshot {
	s := aCluster()
	one := int32(1)
	of := func(kind string) []metav1.Condition {
		tried := condition(kind, metav1.ConditionTrue, "")
		tried[0].ObservedGeneration = 3
		return tried
	}
	s.controlPlane.Generation, s.controlPlane.Status.Conditions = 3, of(controlplanev1.KubeadmControlPlaneMachinesUpToDateCondition)
	s.deployments[0].Generation, s.deployments[0].Status.Conditions = 3, of(clusterv1.MachineDeploymentAvailableCondition)
	s.deployments[0].Spec.Template.Labels = map[string]string{"a": "b"}
	s.sets[0].Generation, s.sets[0].Status.Conditions = 3, of(clusterv1.MachineSetMachinesUpToDateCondition)
	s.sets[0].Spec.Replicas = &one
	s.sets[0].Spec.Template.Labels = map[string]string{"a": "b", clusterv1.MachineDeploymentUniqueLabel: "x"}
	s.machines[1].Labels = map[string]string{"a": "b", clusterv1.MachineDeploymentUniqueLabel: "x", "more": ""}
	return s
}

// TestFinished: where status.observedGeneration lags, what a change was to bring about decides.
func TestFinished(t *testing.T) {
	t.Parallel()
	type finished struct{ controlPlane, deployment, set bool }
	seconds := int32(1)
	for name, test := range map[string]struct {
		change func(*snapshot)
		want   finished
	}{
		"all of it is there": {func(*snapshot) {}, finished{true, true, true}},
		"no attempt yet": {
			func(s *snapshot) {
				s.controlPlane.Generation, s.deployments[0].Generation, s.sets[0].Generation = 4, 4, 4
			},
			finished{},
		},
		"control plane machines are not up to date": {
			func(s *snapshot) { s.controlPlane.Status.Conditions[0].Status = metav1.ConditionFalse },
			finished{false, true, true},
		},
		"the set has another label":      {func(s *snapshot) { s.sets[0].Spec.Template.Labels["a"] = "c" }, finished{true, false, false}},
		"the set has one label more":     {func(s *snapshot) { s.sets[0].Spec.Template.Labels["more"] = "" }, finished{true, false, true}},
		"the set has another annotation": {func(s *snapshot) { s.sets[0].Spec.Template.Annotations = map[string]string{"a": "b"} }, finished{true, false, false}},
		"the set has another timeout": {
			func(s *snapshot) { s.sets[0].Spec.Template.Spec.Deletion.NodeDrainTimeoutSeconds = &seconds },
			finished{true, false, false},
		},
		"the set is to be larger":       {func(s *snapshot) { two := int32(2); s.deployments[0].Spec.Replicas = &two }, finished{true, false, true}},
		"the machine lacks a label":     {func(s *snapshot) { delete(s.machines[1].Labels, "a") }, finished{true, true, false}},
		"a machine of another set":      {func(s *snapshot) { delete(s.machines[1].Labels, "a"); s.machines[1].OwnerReferences[0].Name = "y" }, finished{true, true, true}},
		"there is no set":               {func(s *snapshot) { s.sets = nil }, finished{true, false, true}},
		"the machine has more timeouts": {func(s *snapshot) { s.machines[1].Spec.Deletion.NodeDrainTimeoutSeconds = &seconds }, finished{true, true, false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := lagging()
			test.change(&s)
			got := finished{controlPlaneFinished(s.controlPlane), deploymentFinished(s.deployments[0], s.sets), s.carryingOver(s.sets) == ""}
			if got != test.want {
				t.Errorf("finished: %+v, want %+v", got, test.want)
			}
		})
	}
}
