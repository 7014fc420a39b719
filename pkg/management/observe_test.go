package management

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

var born = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) //nolint:gochecknoglobals // a constant

func condition(kind string, status metav1.ConditionStatus, message string) []metav1.Condition {
	return []metav1.Condition{{Type: kind, Status: status, Reason: "Reason", Message: message}}
}

func objectMeta(name string, labels map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "ns", Name: name, Generation: 2, CreationTimestamp: metav1.NewTime(born), Labels: labels}
}

// aCluster has one control plane machine and one group of one machine, both done.
func aCluster() snapshot {
	provisioned := true
	one := int32(1)
	machine := func(name, version string, labels map[string]string) clusterv1.Machine {
		return clusterv1.Machine{
			ObjectMeta: objectMeta(name, labels),
			Spec:       clusterv1.MachineSpec{Version: version},
			Status: clusterv1.MachineStatus{
				Phase: "Running", NodeRef: clusterv1.MachineNodeReference{Name: name}, NodeInfo: &corev1.NodeSystemInfo{KubeletVersion: version},
				Conditions: condition(clusterv1.MachineReadyCondition, metav1.ConditionTrue, ""),
			},
		}
	}
	return snapshot{
		cluster: clusterv1.Cluster{
			ObjectMeta: objectMeta("c", nil),
			Spec:       clusterv1.ClusterSpec{ControlPlaneRef: clusterv1.ContractVersionedObjectReference{Kind: "KubeadmControlPlane", Name: "c"}},
			Status: clusterv1.ClusterStatus{
				Phase: "Provisioned", Initialization: clusterv1.ClusterInitializationStatus{InfrastructureProvisioned: &provisioned},
			},
		},
		controlPlane: &controlplanev1.KubeadmControlPlane{
			ObjectMeta: objectMeta("c", nil),
			Spec:       controlplanev1.KubeadmControlPlaneSpec{Replicas: &one, Version: "v1.34.4"},
			Status: controlplanev1.KubeadmControlPlaneStatus{
				ObservedGeneration: 2, Conditions: condition(controlplanev1.KubeadmControlPlaneAvailableCondition, metav1.ConditionTrue, ""),
			},
		},
		deployments: []clusterv1.MachineDeployment{{
			ObjectMeta: objectMeta("c-md-0", map[string]string{WorkerNodeGroupLabel: "md-0"}),
			Spec: clusterv1.MachineDeploymentSpec{
				Replicas: &one, Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{Version: "v1.33.13"}},
			},
			Status: clusterv1.MachineDeploymentStatus{
				ObservedGeneration: 2, Conditions: condition(clusterv1.MachineDeploymentAvailableCondition, metav1.ConditionTrue, ""),
			},
		}},
		machines: []clusterv1.Machine{
			machine("c-1", "v1.34.4", map[string]string{clusterv1.MachineControlPlaneLabel: ""}),
			machine("c-md-0-1", "v1.33.13", map[string]string{clusterv1.MachineDeploymentNameLabel: "c-md-0"}),
		},
	}
}

// resourceSet is one of two resources that was applied, but for the change.
func resourceSet(name string, change func(*addonsv1.ClusterResourceSet)) addonsv1.ClusterResourceSet {
	set := addonsv1.ClusterResourceSet{
		ObjectMeta: objectMeta(name, nil),
		Spec:       addonsv1.ClusterResourceSetSpec{Resources: []addonsv1.ResourceRef{{Kind: "ConfigMap", Name: "manifests"}, {Kind: "Secret", Name: "credentials"}}},
		Status: addonsv1.ClusterResourceSetStatus{
			ObservedGeneration: 2, Conditions: condition(addonsv1.ClusterResourceSetResourcesAppliedCondition, metav1.ConditionTrue, ""),
		},
	}
	change(&set)
	return set
}

// doneState is what aCluster looks like.
func doneState() state.Cluster {
	cp, md := v1alpha1.MustParseVersion("v1.34.4"), v1alpha1.MustParseVersion("v1.33.13")
	return state.Cluster{
		Name: "c", Namespace: "ns", Created: born, Phase: "Provisioned",
		ControlPlane: state.Part{
			Name: "control-plane", Object: "KubeadmControlPlane/c", Version: cp, Replicas: 1, Settled: true,
			Machines: []state.Machine{{Name: "c-1", Phase: "Running", Version: cp, Node: "c-1", Kubelet: cp, Ready: true}},
		},
		WorkerNodeGroups: []state.Part{{
			Name: "md-0", Object: "MachineDeployment/c-md-0", Version: md, Replicas: 1, Settled: true,
			Machines: []state.Machine{{Name: "c-md-0-1", Phase: "Running", Version: md, Node: "c-md-0-1", Kubelet: md, Ready: true}},
		}},
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(s *snapshot)
		want   func(c *state.Cluster)
	}{
		"done": {func(*snapshot) {}, func(*state.Cluster) {}},
		"no control plane object yet": {
			func(s *snapshot) { s.controlPlane, s.machines = nil, s.machines[1:] },
			func(c *state.Cluster) {
				c.ControlPlane = state.Part{Name: "control-plane", Object: "KubeadmControlPlane/c", Reason: "KubeadmControlPlane/c does not exist yet"}
			},
		},
		"infrastructure not provisioned": {
			func(s *snapshot) {
				s.cluster.Status.Initialization = clusterv1.ClusterInitializationStatus{}
				s.cluster.Status.Conditions = condition(clusterv1.ClusterInfrastructureReadyCondition, metav1.ConditionFalse, "no network")
			},
			func(c *state.Cluster) { c.Infrastructure = "no network" },
		},
		"a change that Cluster API has not seen": {
			func(s *snapshot) { s.deployments[0].Generation, s.controlPlane.Generation = 3, 3 },
			func(c *state.Cluster) { c.ControlPlane.Settled, c.WorkerNodeGroups[0].Settled = false, false },
		},
		"a MachineSet that may make no machines": {
			func(s *snapshot) {
				s.machines = s.machines[:1]
				s.sets = []clusterv1.MachineSet{{
					ObjectMeta: objectMeta("c-md-0-x", map[string]string{clusterv1.MachineDeploymentNameLabel: "c-md-0"}),
					Status: clusterv1.MachineSetStatus{Conditions: condition(clusterv1.MachineSetScalingUpCondition, metav1.ConditionTrue,
						"Scaling up from 0 to 1 replicas is blocked because:\n* KubeadmVersionSkew preflight")},
				}}
			},
			func(c *state.Cluster) {
				c.WorkerNodeGroups[0].Machines = nil
				c.WorkerNodeGroups[0].Reason = "Scaling up from 0 to 1 replicas is blocked because:; KubeadmVersionSkew preflight"
			},
		},
		"machine that is not ready, with the first of its reasons": {
			func(s *snapshot) {
				s.machines[1].Status.Phase = ""
				s.machines[1].Status.NodeInfo = nil
				s.machines[1].Status.NodeRef = clusterv1.MachineNodeReference{}
				s.machines[1].Status.Conditions = condition(clusterv1.MachineReadyCondition, metav1.ConditionFalse, "* BootstrapConfigReady: waiting\n* NodeHealthy: waiting")
			},
			func(c *state.Cluster) {
				c.WorkerNodeGroups[0].Machines[0] = state.Machine{
					Name: "c-md-0-1", Phase: "Pending", Version: v1alpha1.MustParseVersion("v1.33.13"), Reason: "BootstrapConfigReady: waiting",
				}
			},
		},
		"machine that is being deleted": {
			func(s *snapshot) {
				now := metav1.NewTime(born)
				s.machines[1].DeletionTimestamp = &now
				s.machines[1].Status.Phase = "Deleting"
				s.machines[1].Status.Conditions = append(s.machines[1].Status.Conditions,
					condition(clusterv1.MachineDeletingCondition, metav1.ConditionTrue, "Drain not completed yet")...)
			},
			func(c *state.Cluster) {
				m := &c.WorkerNodeGroups[0].Machines[0]
				m.Phase, m.Deleting, m.Reason = "Deleting", true, "Drain not completed yet"
			},
		},
		"group of somebody else": {
			func(s *snapshot) { s.deployments[0].Labels = nil },
			func(*state.Cluster) {}, // its name without the cluster's
		},
		"add-ons that are applied": {
			func(s *snapshot) {
				as := func(*addonsv1.ClusterResourceSet) {}
				s.resourceSets = []addonsv1.ClusterResourceSet{resourceSet("c-cni", as), resourceSet("c-c-b", as), resourceSet("other", as)}
			},
			func(c *state.Cluster) {
				c.AddOns = []state.AddOn{{Name: "cni", Applied: true}, {Name: "c-b", Applied: true}, {Name: "other", Applied: true}}
			},
		},
		"add-ons that are not applied": {
			func(s *snapshot) {
				failed := condition(addonsv1.ClusterResourceSetResourcesAppliedCondition, metav1.ConditionFalse, "* no object\n* no answer")
				unknown := condition(addonsv1.ClusterResourceSetResourcesAppliedCondition, metav1.ConditionUnknown, "")
				s.resourceSets = []addonsv1.ClusterResourceSet{
					resourceSet("c-failed", func(set *addonsv1.ClusterResourceSet) { set.Status.Conditions = failed }),
					resourceSet("c-unknown", func(set *addonsv1.ClusterResourceSet) {
						set.Status.Conditions, set.Spec.Resources = unknown, set.Spec.Resources[:1]
					}),
					resourceSet("c-new", func(set *addonsv1.ClusterResourceSet) { set.Status = addonsv1.ClusterResourceSetStatus{} }),
					resourceSet("c-changed", func(set *addonsv1.ClusterResourceSet) { set.Generation = 3 }),
				}
			},
			func(c *state.Cluster) {
				c.AddOns = []state.AddOn{
					{Name: "failed", Reason: "no object; no answer (ConfigMap/manifests, Secret/credentials)"},
					{Name: "unknown", Reason: "Reason (ConfigMap/manifests)"},
					{Name: "new"}, {Name: "changed"},
				}
			},
		},
		"paused, from a class, being deleted": {
			func(s *snapshot) {
				paused, now := true, metav1.NewTime(born)
				s.cluster.Spec.Paused = &paused
				s.cluster.Spec.Topology.ClassRef.Name = "class"
				s.cluster.DeletionTimestamp = &now
			},
			func(c *state.Cluster) { c.Paused, c.Topology, c.Deleting = true, true, true },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, want := aCluster(), doneState()
			test.change(&s)
			test.want(&want)
			if diff := cmp.Diff(want, s.state(), cmpopts.EquateComparable(v1alpha1.Version{})); diff != "" {
				t.Errorf("state (-want +got):\n%s", diff)
			}
		})
	}
}
