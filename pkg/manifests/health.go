package manifests

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
)

// healthCheck replaces the selected machines when their nodes are not there, or
// not ready. There is none where the spec asks for none.
func (r renderer) healthCheck(name string, check *v1alpha1.MachineHealthCheck, machines map[string]string) ([]templater.Object, error) {
	if check == nil {
		return nil, nil
	}
	object, err := r.render("machine-health-check.yaml.tmpl", struct {
		owner
		Machines  map[string]string
		Checks    clusterv1.MachineHealthCheckChecks
		TriggerIf clusterv1.MachineHealthCheckRemediationTriggerIf
	}{
		r.owner(name), machines, healthChecks(check), clusterv1.MachineHealthCheckRemediationTriggerIf{UnhealthyLessThanOrEqualTo: maxUnhealthy(check)},
	})
	return []templater.Object{object}, err
}

// healthChecks say when a machine is unhealthy.
func healthChecks(check *v1alpha1.MachineHealthCheck) clusterv1.MachineHealthCheckChecks {
	unhealthy := func(status corev1.ConditionStatus) clusterv1.UnhealthyNodeCondition {
		return clusterv1.UnhealthyNodeCondition{Type: corev1.NodeReady, Status: status, TimeoutSeconds: seconds(check.UnhealthyMachineTimeout)}
	}
	return clusterv1.MachineHealthCheckChecks{
		NodeStartupTimeoutSeconds: seconds(check.NodeStartupTimeout),
		UnhealthyNodeConditions:   []clusterv1.UnhealthyNodeCondition{unhealthy(corev1.ConditionUnknown), unhealthy(corev1.ConditionFalse)},
	}
}

// maxUnhealthy as Cluster API has it.
func maxUnhealthy(check *v1alpha1.MachineHealthCheck) *intstr.IntOrString {
	return new(intstr.Parse(check.MaxUnhealthy.String()))
}
