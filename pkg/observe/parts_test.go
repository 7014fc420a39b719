package observe

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// notCreated is what Cluster API says when it cannot create a machine.
func notCreated(message string) clusterv1.Conditions { //nolint:staticcheck // there is nothing else
	return clusterv1.Conditions{{ //nolint:staticcheck // as above
		Type: clusterv1.MachinesCreatedV1Beta1Condition, Status: corev1.ConditionFalse, Severity: clusterv1.ConditionSeverityError, Message: message,
	}}
}

func TestControlPlaneState(t *testing.T) {
	t.Parallel()
	notUpToDate := metav1.Condition{Type: clusterv1.MachineUpToDateCondition, Status: metav1.ConditionFalse, Reason: clusterv1.MachineNotUpToDateReason, Message: "* KubeadmConfig is not up-to-date"}
	blocked := func(c *state.Cluster, reason string) { c.ControlPlane.Blocked, c.ControlPlane.Reason = true, reason }
	testState(t, map[string]stateTest{
		"no object yet": {
			func(s *snapshot) { s.controlPlane, s.machines = nil, s.machines[1:] },
			func(c *state.Cluster) {
				c.ControlPlane = state.Part{Name: "control-plane", Object: "KubeadmControlPlane/c", Reason: "KubeadmControlPlane/c does not exist yet", Blocked: true}
			},
		},
		"a change that Cluster API has not seen": {
			func(s *snapshot) { s.controlPlane.Generation = 3 },
			func(c *state.Cluster) {
				c.ControlPlane.Settled, c.ControlPlane.Generation, c.ControlPlane.Unseen = false, 3, true
				blocked(c, "Cluster API has not finished the latest change of KubeadmControlPlane/c; if that persists, the log of its controller says why")
			},
		},
		"a change that Cluster API has tried, with a machine that is not ready": {
			func(s *snapshot) {
				kcp := s.controlPlane
				kcp.Generation = 3
				kcp.Status.Conditions = condition(controlplanev1.KubeadmControlPlaneAvailableCondition, metav1.ConditionFalse, "Control plane not yet initialized")
				kcp.Status.Conditions[0].ObservedGeneration = 3
				s.machines[0].Status.NodeRef = clusterv1.MachineNodeReference{}
			},
			func(c *state.Cluster) {
				p := &c.ControlPlane
				p.Settled, p.Generation, p.Unseen, p.Reason = false, 3, true, "Control plane not yet initialized"
				p.Machines[0].Ready, p.Machines[0].Node = false, ""
			},
		},
		"a change of templates, before any machine was replaced": {
			func(s *snapshot) {
				none := int32(0)
				s.controlPlane.Status.UpToDateReplicas = &none
				s.machines[0].Status.Conditions = append(s.machines[0].Status.Conditions, notUpToDate)
			},
			func(c *state.Cluster) { c.ControlPlane.Settled, c.ControlPlane.Machines[0].Outdated = false, true },
		},
		"a count of what is up to date that is not there": {
			func(s *snapshot) { s.controlPlane.Status.UpToDateReplicas = nil },
			func(c *state.Cluster) { c.ControlPlane.Settled = false },
		},
		"a machine that is updated in place is not replaced": {
			func(s *snapshot) {
				updating := notUpToDate
				updating.Reason = clusterv1.MachineUpToDateUpdatingReason
				s.machines[0].Status.Conditions = append(s.machines[0].Status.Conditions, updating)
			},
			func(*state.Cluster) {},
		},
		"not available": {
			func(s *snapshot) {
				s.controlPlane.Status.Conditions = condition(controlplanev1.KubeadmControlPlaneAvailableCondition, metav1.ConditionFalse, "* 1 of 3 etcd members is healthy, at least 2 healthy member required for etcd quorum")
			},
			func(c *state.Cluster) {
				c.ControlPlane.Settled, c.ControlPlane.Reason = false, "1 of 3 etcd members is healthy, at least 2 healthy member required for etcd quorum"
			},
		},
		"held up by machines that are not well": {
			func(s *snapshot) {
				s.controlPlane.Status.Conditions = append(s.controlPlane.Status.Conditions,
					condition(controlplanev1.KubeadmControlPlaneScalingDownCondition, metav1.ConditionTrue, "Scaling down from 4 to 3 replicas is blocked because:\n* waiting for etcd cluster to become healthy")...)
			},
			func(c *state.Cluster) { c.ControlPlane.Reason = "waiting for etcd cluster to become healthy" },
		},
		"certificates missing": {
			func(s *snapshot) {
				s.controlPlane.Status.Conditions = append(s.controlPlane.Status.Conditions,
					condition(controlplanev1.KubeadmControlPlaneCertificatesAvailableCondition, metav1.ConditionFalse, "no secret")...)
			},
			func(c *state.Cluster) { blocked(c, "no secret") },
		},
		"a machine that cannot be created, before anything else": {
			func(s *snapshot) {
				s.controlPlane.Generation = 3
				s.controlPlane.SetV1Beta1Conditions(notCreated("denied"))
			},
			func(c *state.Cluster) {
				c.ControlPlane.Settled, c.ControlPlane.Generation, c.ControlPlane.Unseen = false, 3, true
				blocked(c, "KubeadmControlPlane/c creates no machines: denied")
			},
		},
		"paused": {
			func(s *snapshot) { s.controlPlane.Annotations = map[string]string{clusterv1.PausedAnnotation: ""} },
			func(c *state.Cluster) { c.ControlPlane.Paused = true },
		},
		"no API server yet": {
			func(s *snapshot) {
				s.machines[0].Status = clusterv1.MachineStatus{Phase: "Provisioned", Conditions: condition(clusterv1.MachineReadyCondition, metav1.ConditionUnknown,
					"* NodeHealthy: Waiting for Cluster control plane to be initialized\n* EtcdMemberHealthy: Waiting for Cluster control plane to be initialized")}
			},
			func(c *state.Cluster) {
				c.ControlPlane.Machines[0] = state.Machine{
					Name: "c-1", Phase: "Provisioned", Version: v1alpha1.MustParseVersion(controlPlaneVersion), Since: born,
					Reason: "kubeadm init is not done yet, or nothing answers at https://host:6443",
				}
			},
		},
	})
}

func TestWorkerNodeGroupState(t *testing.T) {
	t.Parallel()
	group := func(change func(*state.Part)) func(*state.Cluster) {
		return func(c *state.Cluster) { change(&c.WorkerNodeGroups[0]) }
	}
	spec := func(s *snapshot) *clusterv1.MachineSpec { return &s.deployments[0].Spec.Template.Spec }
	outdated := group(func(p *state.Part) { p.Machines[0].Outdated = true })
	scalingUp := func(message string) []metav1.Condition {
		return condition(clusterv1.MachineSetScalingUpCondition, metav1.ConditionTrue, message)
	}
	const blockedBy = "Scaling up from 0 to 1 replicas is blocked because:\n* "
	blocked := func(reason string) func(*state.Cluster) {
		return group(func(p *state.Part) { p.Blocked, p.Reason = true, reason })
	}
	testState(t, map[string]stateTest{
		"a change that Cluster API has not seen": {
			func(s *snapshot) { s.deployments[0].Generation = 3 },
			group(func(p *state.Part) {
				p.Settled, p.Generation, p.Blocked, p.Unseen = false, 3, true, true
				p.Reason = "Cluster API has not finished the latest change of MachineDeployment/c-md-0; if that persists, the log of its controller says why"
			}),
		},
		"a change in place that has not reached the machines": {
			func(s *snapshot) { s.sets[0].Generation = 3 },
			group(func(p *state.Part) {
				p.Settled = false
				p.Reason = "Cluster API has yet to carry the latest labels, annotations and timeouts over to the machines of MachineSet/c-md-0-x"
			}),
		},
		"a change in place of a former set": {
			func(s *snapshot) {
				former := *s.sets[0].DeepCopy()
				former.Name, former.Generation, former.Spec.Template.Spec.Version = "c-md-0-w", 3, "v1.31.1"
				s.sets = append(s.sets, former)
			},
			func(*state.Cluster) {},
		},
		"a new version, before any machine was replaced": {
			func(s *snapshot) { spec(s).Version = "v1.34.4" },
			group(func(p *state.Part) {
				p.Version, p.Machines[0].Outdated = v1alpha1.MustParseVersion("v1.34.4"), true
			}),
		},
		"new templates for the infrastructure":        {func(s *snapshot) { spec(s).InfrastructureRef.Name = "new" }, outdated},
		"templates of another kind, of the same name": {func(s *snapshot) { spec(s).InfrastructureRef.Kind = "Other" }, outdated},
		"new templates for the bootstrap":             {func(s *snapshot) { spec(s).Bootstrap.ConfigRef.Name = "new" }, outdated},
		"another failure domain":                      {func(s *snapshot) { spec(s).FailureDomain = "b" }, outdated},
		"what replaces no machines": {
			func(s *snapshot) {
				seconds := int32(1)
				spec(s).MinReadySeconds, spec(s).Deletion.NodeDrainTimeoutSeconds = &seconds, &seconds
			},
			func(*state.Cluster) {},
		},
		"a restart that somebody asked for": {
			func(s *snapshot) {
				s.machines[1].Status.Conditions = append(s.machines[1].Status.Conditions, metav1.Condition{
					Type: clusterv1.MachineUpToDateCondition, Status: metav1.ConditionFalse, Reason: clusterv1.MachineNotUpToDateReason, Message: "* MachineDeployment spec.rolloutAfter expired",
				})
			},
			outdated,
		},
		"a machine of a MachineSet that is gone": {func(s *snapshot) { s.sets = nil }, outdated},
		"a machine of no MachineSet":             {func(s *snapshot) { s.machines[1].OwnerReferences = nil }, outdated},
		"half-way through new templates": {
			func(s *snapshot) {
				spec(s).Bootstrap.ConfigRef.Name = "new"
				s.sets = append(s.sets, machineSet("c-md-0-y", *spec(s)))
				s.machines = append(s.machines, workerOf("c-md-0-y", "c-md-0-2", workerVersion))
			},
			group(func(p *state.Part) {
				p.Machines[0].Outdated = true
				p.Machines = append(p.Machines, doneMachine("c-md-0-2", workerVersion))
			}),
		},
		"a MachineSet with a long name, which labels do not hold": {
			func(s *snapshot) {
				long := strings.Repeat("c-md-0-", 10) + "x"
				s.sets[0].Name, s.machines[1].OwnerReferences[0].Name = long, long
				s.machines[1].Labels[clusterv1.MachineSetNameLabel] = "hash_5qJ3xQ_z"
			},
			func(*state.Cluster) {},
		},
		"not available": {
			func(s *snapshot) {
				s.deployments[0].Status.Conditions = condition(clusterv1.MachineDeploymentAvailableCondition, metav1.ConditionFalse, "0 available replicas, at least 1 required")
			},
			group(func(p *state.Part) { p.Settled, p.Reason = false, "0 available replicas, at least 1 required" }),
		},
		"a MachineSet that may make no machines": {
			func(s *snapshot) {
				s.sets[0].Status.Conditions = scalingUp(blockedBy + "KubeadmVersionSkew preflight\n* DevMachineTemplate does not exist")
			},
			blocked("MachineSet/c-md-0-x creates no machines: KubeadmVersionSkew preflight; DevMachineTemplate does not exist"),
		},
		"a MachineSet that makes machines": {func(s *snapshot) { s.sets[0].Status.Conditions = scalingUp("Scaling up from 0 to 1 replicas") }, func(*state.Cluster) {}},
		"the present MachineSet before a former one": {
			func(s *snapshot) {
				former := machineSet("c-md-0-a", machineSpec("v1.32.1", "c-md-0", "c-md-0"))
				former.Status.Conditions = scalingUp(blockedBy + "former")
				s.sets[0].Status.Conditions = scalingUp(blockedBy + "present")
				s.sets = append([]clusterv1.MachineSet{former}, s.sets...)
			},
			blocked("MachineSet/c-md-0-x creates no machines: present"),
		},
		"a former MachineSet, where the present one is not blocked": {
			func(s *snapshot) {
				former := machineSet("c-md-0-a", machineSpec("v1.32.1", "c-md-0", "c-md-0"))
				former.Status.Conditions = scalingUp(blockedBy + "former")
				s.sets = append(s.sets, former)
			},
			blocked("MachineSet/c-md-0-a creates no machines: former"),
		},
		"a MachineSet of another group": {
			func(s *snapshot) {
				other := machineSet("c-md-1-x", clusterv1.MachineSpec{})
				other.Labels[clusterv1.MachineDeploymentNameLabel] = "c-md-1"
				other.Status.Conditions = scalingUp(blockedBy + "other")
				s.sets = append(s.sets, other)
			},
			func(*state.Cluster) {},
		},
		"a machine that cannot be created": {
			func(s *snapshot) {
				s.sets[0].Status.Conditions = scalingUp("Scaling up from 0 to 1 replicas")
				s.sets[0].SetV1Beta1Conditions(notCreated("denied"))
			},
			blocked("MachineSet/c-md-0-x creates no machines: denied"),
		},
		"a machine that could not be created, and is not wanted any more": {
			func(s *snapshot) { s.sets[0].SetV1Beta1Conditions(notCreated("denied")) }, func(*state.Cluster) {},
		},
		"paused by annotation": {
			func(s *snapshot) { s.deployments[0].Annotations = map[string]string{clusterv1.PausedAnnotation: ""} },
			group(func(p *state.Part) { p.Paused = true }),
		},
		"paused by its spec": {
			func(s *snapshot) {
				paused := true
				s.deployments[0].Spec.Paused = &paused
			},
			group(func(p *state.Part) { p.Paused = true }),
		},
		"some preflight checks left out": {
			func(s *snapshot) {
				s.deployments[0].Annotations = map[string]string{clusterv1.MachineSetSkipPreflightChecksAnnotation: "ControlPlaneIsStable, KubeadmVersionSkew"}
			},
			group(func(p *state.Part) { p.SkewUnchecked = true }),
		},
		"all preflight checks left out": {
			func(s *snapshot) {
				s.deployments[0].Annotations = map[string]string{clusterv1.MachineSetSkipPreflightChecksAnnotation: "All"}
			},
			group(func(p *state.Part) { p.SkewUnchecked = true }),
		},
		"another preflight check left out": {
			func(s *snapshot) {
				s.deployments[0].Annotations = map[string]string{clusterv1.MachineSetSkipPreflightChecksAnnotation: "ControlPlaneIsStable"}
			},
			func(*state.Cluster) {},
		},
		"group of others, its name without the cluster's": {
			func(s *snapshot) { s.deployments[0].Labels = nil },
			group(func(p *state.Part) { p.Unmanaged = true }),
		},
	})
}

func TestMachineState(t *testing.T) {
	t.Parallel()
	worker := func(change func(*state.Machine)) func(*state.Cluster) {
		return func(c *state.Cluster) { change(&c.WorkerNodeGroups[0].Machines[0]) }
	}
	gone := born.Add(time.Hour)
	deleting := func(reason, message string) func(*snapshot) {
		return func(s *snapshot) {
			now := metav1.NewTime(gone)
			s.machines[1].DeletionTimestamp, s.machines[1].Status.Phase = &now, "Deleting"
			c := condition(clusterv1.MachineDeletingCondition, metav1.ConditionTrue, message)
			c[0].Reason = reason
			s.machines[1].Status.Conditions = append(s.machines[1].Status.Conditions, c...)
		}
	}
	goes := func(reason string) func(*state.Cluster) {
		return worker(func(m *state.Machine) { m.Phase, m.Deleting, m.Since, m.Reason = "Deleting", true, gone, reason })
	}
	notReady := func(message string, more ...metav1.Condition) func(*snapshot) {
		return func(s *snapshot) {
			s.machines[1].Status.Conditions = append(condition(clusterv1.MachineReadyCondition, metav1.ConditionFalse, message), more...)
		}
	}
	waits := func(reason string) func(*state.Cluster) {
		return worker(func(m *state.Machine) { m.Ready, m.Reason = false, reason })
	}
	remediation := condition(clusterv1.MachineOwnerRemediatedCondition, metav1.ConditionFalse, "too many in progress")[0]
	testState(t, map[string]stateTest{
		"of which nothing is known": {
			func(s *snapshot) { s.machines[1].Status = clusterv1.MachineStatus{} },
			worker(func(m *state.Machine) {
				*m = state.Machine{Name: "c-md-0-1", Phase: "Pending", Version: v1alpha1.MustParseVersion(workerVersion), Since: born}
			}),
		},
		"ready, without a node": {
			func(s *snapshot) { s.machines[1].Status.NodeRef = clusterv1.MachineNodeReference{} },
			worker(func(m *state.Machine) { m.Ready, m.Node = false, "" }),
		},
		"not ready, with the first of its reasons": {
			notReady("* BootstrapConfigReady: waiting\n* NodeHealthy: waiting"), waits("BootstrapConfigReady: waiting"),
		},
		"not ready, with all of the first reason": {
			notReady("* InfrastructureReady:\n  * VMProvisioned: no quota\n  * Disk: no image\n* NodeHealthy: waiting"), waits("InfrastructureReady: VMProvisioned: no quota; Disk: no image"),
		},
		"not ready, with the first of reasons without words": {
			notReady("* InfrastructureReady:\n  * VMProvisioned: WaitingForBootstrapData\n  * NodeProvisioned: WaitingForVMProvisioned"), waits("InfrastructureReady: VMProvisioned: WaitingForBootstrapData"),
		},
		"not ready, with words before reasons without": {
			notReady("* InfrastructureReady:\n  * CGroupsReady: WaitingForContainer\n  * ContainerProvisioned: Creating container a"), waits("InfrastructureReady: ContainerProvisioned: Creating container a"),
		},
		"not ready, and nobody says why": {notReady(""), waits("Reason")},
		"sick, and why it is not replaced": {
			notReady("* NodeHealthy:\n  * Node.Ready: Kubelet stopped posting node status.\n* HealthCheckSucceeded: failed", remediation),
			waits("NodeHealthy: Node.Ready: Kubelet stopped posting node status; remediation: too many in progress"),
		},
		"well again, with a remediation that did not take place": {
			func(s *snapshot) {
				s.machines[1].Status.Conditions = append(s.machines[1].Status.Conditions, remediation)
			},
			func(*state.Cluster) {},
		},
		"paused": {
			func(s *snapshot) { s.machines[1].Annotations = map[string]string{clusterv1.PausedAnnotation: ""} },
			worker(func(m *state.Machine) { m.Reason = "it is paused (annotation cluster.x-k8s.io/paused)" }),
		},
		"told to go, which Cluster API has not noticed": {
			func(s *snapshot) {
				now := metav1.NewTime(gone)
				s.machines[1].DeletionTimestamp = &now
				s.machines[1].Status.Conditions = append(s.machines[1].Status.Conditions, condition(clusterv1.MachineDeletingCondition, metav1.ConditionFalse, "")...)
			},
			goes(""),
		},
		"being deleted": {
			deleting(clusterv1.MachineDeletingWaitingForPreDrainHookReason, "Waiting for pre-drain hooks to succeed (hooks: a)"), goes("Waiting for pre-drain hooks to succeed (hooks: a)"),
		},
		"being drained": {
			deleting(clusterv1.MachineDeletingDrainingNodeReason, "Drain not completed yet (started at T):\n* Pod a/b: cannot evict pod as it would violate the pod's disruption budget. The disruption budget b needs 1 healthy pods and has 1 currently"),
			goes("Drain not completed yet (started at T): Pod a/b: cannot evict pod: the disruption budget b needs 1 healthy pods and has 1 currently"),
		},
		"being drained of a pod whose budget is not named": {
			deleting(clusterv1.MachineDeletingDrainingNodeReason, "Drain not completed yet (started at T):\n* Pod a/b: cannot evict pod as it would violate the pod's disruption budget. "),
			goes("Drain not completed yet (started at T): Pod a/b: cannot evict pod as it would violate the pod's disruption budget"),
		},
		"being drained, pods that go by themselves after those that cannot": {
			deleting(clusterv1.MachineDeletingDrainingNodeReason, "Drain not completed yet (started at T):\n* Pods a, b: deletionTimestamp set, but still not removed from the Node\n* Pod c: failed to evict Pod, no\n* Pod d: waiting for completion\nAfter above Pods have been removed from the Node, the following Pods will be evicted: e"),
			goes("Drain not completed yet (started at T): Pod c: failed to evict Pod, no; Pods a, b: deletionTimestamp set, but still not removed from the Node; Pod d: waiting for completion"),
		},
		"drain that fails": {
			deleting(clusterv1.MachineDeletingDrainingNodeReason, "Error draining Node, please check controller logs for errors"), goes("Error draining Node, please check controller logs for errors"),
		},
	})
}
