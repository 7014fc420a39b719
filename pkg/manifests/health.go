package manifests

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
)

// health says when machines are unhealthy, and how many may be for any to be replaced.
// The zero value never does. Cluster API has a type of its own for each place where it
// is said.
type health struct {
	Checks    clusterv1.MachineHealthCheckChecks
	TriggerIf clusterv1.MachineHealthCheckRemediationTriggerIf
}

// healthOf returns the zero value where the spec asks for no check.
func healthOf(check *v1alpha1.MachineHealthCheck) health {
	if check == nil {
		return health{}
	}
	unhealthy := func(status corev1.ConditionStatus) clusterv1.UnhealthyNodeCondition {
		return clusterv1.UnhealthyNodeCondition{Type: corev1.NodeReady, Status: status, TimeoutSeconds: seconds(check.UnhealthyMachineTimeout)}
	}
	return health{
		Checks: clusterv1.MachineHealthCheckChecks{
			NodeStartupTimeoutSeconds: seconds(check.NodeStartupTimeout),
			UnhealthyNodeConditions:   []clusterv1.UnhealthyNodeCondition{unhealthy(corev1.ConditionUnknown), unhealthy(corev1.ConditionFalse)},
		},
		TriggerIf: clusterv1.MachineHealthCheckRemediationTriggerIf{UnhealthyLessThanOrEqualTo: new(intstr.Parse(check.MaxUnhealthy.String()))},
	}
}

// healthCheck returns the object that replaces the selected machines when their nodes
// are not there, or not ready. There is none where the spec asks for none.
func (r renderer) healthCheck(name string, check *v1alpha1.MachineHealthCheck, machines map[string]string) ([]templater.Object, error) {
	if check == nil {
		return nil, nil
	}
	object, err := r.render("machine-health-check.yaml.tmpl", struct {
		owner
		Machines map[string]string
		health
	}{r.owner(name), machines, healthOf(check)})
	return []templater.Object{object}, err
}

// decidesHealth reports whether a spec sets the health check of a part in a topology. A
// spec without one, and with a user's own ClusterClass, leaves it to the class.
func (r renderer) decidesHealth(check *v1alpha1.MachineHealthCheck) bool {
	return check != nil || r.Provider.Known()
}

// ofControlPlane returns the health check of a control plane in a topology. The zero
// value turns off the one of the class.
func (h health) ofControlPlane() clusterv1.ControlPlaneTopologyHealthCheck {
	if h.TriggerIf == (clusterv1.MachineHealthCheckRemediationTriggerIf{}) {
		return clusterv1.ControlPlaneTopologyHealthCheck{Enabled: new(false)}
	}
	return clusterv1.ControlPlaneTopologyHealthCheck{
		Checks: clusterv1.ControlPlaneTopologyHealthCheckChecks(h.Checks),
		Remediation: clusterv1.ControlPlaneTopologyHealthCheckRemediation{
			TriggerIf: clusterv1.ControlPlaneTopologyHealthCheckRemediationTriggerIf(h.TriggerIf),
		},
	}
}

// ofGroup does for a worker node group what ofControlPlane does for a control plane.
func (h health) ofGroup() clusterv1.MachineDeploymentTopologyHealthCheck {
	if h.TriggerIf == (clusterv1.MachineHealthCheckRemediationTriggerIf{}) {
		return clusterv1.MachineDeploymentTopologyHealthCheck{Enabled: new(false)}
	}
	return clusterv1.MachineDeploymentTopologyHealthCheck{
		Checks: clusterv1.MachineDeploymentTopologyHealthCheckChecks(h.Checks),
		Remediation: clusterv1.MachineDeploymentTopologyHealthCheckRemediation{
			TriggerIf: clusterv1.MachineDeploymentTopologyHealthCheckRemediationTriggerIf(h.TriggerIf),
		},
	}
}
