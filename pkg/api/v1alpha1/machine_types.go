package v1alpha1

import (
	"cmp"
	"net/netip"
	"strings"
	"time"
)

// ControlPlaneName is the name of the control plane among the parts of a
// cluster. No worker node group may have it.
const ControlPlaneName = "control-plane"

// ControlPlaneConfiguration describes the control plane.
type ControlPlaneConfiguration struct {
	// Count of control plane machines, at least 1; odd unless etcd is external.
	// Defaults to 1.
	Count *int `json:"count,omitempty" jsonschema:"minimum=1,default=1"`
	// MachineGroupRef names the document that describes the machines, with providers
	// that have such documents.
	MachineGroupRef *Ref `json:"machineGroupRef,omitempty"`
	// ResourceName is the name of the KubeadmControlPlane, for a cluster that others made.
	// Defaults to the name of the cluster. It cannot be changed.
	ResourceName string `json:"resourceName,omitempty"`
	// Endpoint is where the API server is reached, with providers that leave that to the
	// spec. It cannot be changed.
	Endpoint *Endpoint `json:"endpoint,omitempty"`
	// SkipLoadBalancerDeployment is for a load balancer of your own at the endpoint.
	// Without it kube-vip on the control plane's machines announces the endpoint.
	SkipLoadBalancerDeployment bool `json:"skipLoadBalancerDeployment,omitempty" jsonschema:"default=false"`
	// Labels of the nodes. Those in node-role.kubernetes.io,
	// node-restriction.kubernetes.io and node.cluster.x-k8s.io change in place;
	// a change of others replaces machines.
	Labels map[string]string `json:"labels,omitempty"`
	// Taints of the nodes, instead of the one that keeps ordinary pods off
	// control planes. An empty list means no taints.
	Taints *[]Taint `json:"taints,omitempty"`
	// CertSANs are further names and addresses of the API server.
	CertSANs []string `json:"certSans,omitempty"`
	// APIServerExtraArgs maps arguments of kube-apiserver, without dashes, to values.
	APIServerExtraArgs map[string]string `json:"apiServerExtraArgs,omitempty"`
	// AuditPolicyContent is an audit policy (audit.k8s.io/v1, kind Policy), at
	// most 10240 bytes. The log is in /var/log/kubernetes/audit on the machines.
	AuditPolicyContent Content `json:"auditPolicyContent,omitempty"`
	// KubeletConfiguration are fields of a kubelet's configuration
	// (kubelet.config.k8s.io/v1beta1), merged over what kubeadm writes.
	KubeletConfiguration map[string]any `json:"kubeletConfiguration,omitempty"`
	// UpgradeRolloutStrategy says how machines are replaced.
	UpgradeRolloutStrategy *ControlPlaneRolloutStrategy `json:"upgradeRolloutStrategy,omitempty"`
	// MachineHealthCheck overrides fields of spec.machineHealthCheck.
	MachineHealthCheck *MachineHealthCheck `json:"machineHealthCheck,omitempty"`
	// MachineDeletion says how long the deletion of a machine waits.
	MachineDeletion MachineDeletion `json:"machineDeletion,omitzero"`
	// Annotations of the machines. A change does not replace them.
	Annotations map[string]string `json:"annotations,omitempty"`
	// Variables are values of variables of the clusterClass for the control plane,
	// instead of those of the cluster.
	Variables map[string]any `json:"variables,omitempty"`
}

// Endpoint is where an API server is reached.
type Endpoint struct {
	// Host is an IP address that no machine has, or a DNS name that leads to one, with a
	// port behind a colon if it is not 6443.
	Host string `json:"host"`
}

// defaultAPIServerPort is that of kubeadm.
const defaultAPIServerPort = 6443

// HostPort returns the host, in lower case as kubeadm has it, an IPv6 address without
// brackets, and the port. Of a host that is not valid the port is 6443.
func (e Endpoint) HostPort() (string, Port) {
	host := strings.ToLower(e.Host)
	if _, err := netip.ParseAddr(host); err == nil { // of version 6, its colons are no ports
		return host, defaultAPIServerPort
	}
	var port Port
	colon := strings.LastIndexByte(host, ':')
	if colon < 0 || port.UnmarshalText([]byte(host[colon+1:])) != nil {
		return host, defaultAPIServerPort
	}
	return strings.Trim(host[:colon], "[]"), port
}

// APIEndpoint returns the endpoint that the spec gives; nil where it gives none.
func (c ControlPlaneConfiguration) APIEndpoint() *Endpoint {
	if c.Endpoint == nil || c.Endpoint.Host == "" {
		return nil
	}
	return c.Endpoint
}

// AnnouncesEndpoint reports whether kube-vip on the control plane's machines announces the
// endpoint.
func (c ControlPlaneConfiguration) AnnouncesEndpoint() bool {
	return c.APIEndpoint() != nil && !c.SkipLoadBalancerDeployment
}

// WorkerNodeGroupConfiguration describes one worker node group.
type WorkerNodeGroupConfiguration struct {
	// Name of the group, unique in the cluster. A single group without a name
	// is called md-0.
	Name string `json:"name,omitempty"`
	// Count of machines, 0 or more. Defaults to 1.
	Count *int `json:"count,omitempty" jsonschema:"minimum=0,default=1"`
	// AutoscalingConfiguration leaves the count to the cluster autoscaler.
	AutoscalingConfiguration *AutoscalingConfiguration `json:"autoscalingConfiguration,omitempty"`
	// KubernetesVersion pins the group. A group without one follows the cluster.
	KubernetesVersion *KubernetesVersion `json:"kubernetesVersion,omitempty"`
	// MachineGroupRef names the document that describes the machines, with providers
	// that have such documents.
	MachineGroupRef *Ref `json:"machineGroupRef,omitempty"`
	// ResourceName is the name of the MachineDeployment, for a group that others made.
	// Defaults to the names of cluster and group with a dash between them. It cannot be changed.
	ResourceName string `json:"resourceName,omitempty"`
	// Labels of the nodes. Those in node-role.kubernetes.io,
	// node-restriction.kubernetes.io and node.cluster.x-k8s.io change in place;
	// a change of others replaces machines.
	Labels map[string]string `json:"labels,omitempty"`
	// Taints of the nodes.
	Taints *[]Taint `json:"taints,omitempty"`
	// KubeletConfiguration are fields of a kubelet's configuration
	// (kubelet.config.k8s.io/v1beta1), merged over what kubeadm writes.
	KubeletConfiguration map[string]any `json:"kubeletConfiguration,omitempty"`
	// FailureDomains lists the one failure domain that the machines are put into.
	FailureDomains []string `json:"failureDomains,omitempty" jsonschema:"maxItems=1"`
	// UpgradeRolloutStrategy says how machines are replaced.
	UpgradeRolloutStrategy *WorkerRolloutStrategy `json:"upgradeRolloutStrategy,omitempty"`
	// MachineHealthCheck overrides fields of spec.machineHealthCheck.
	MachineHealthCheck *MachineHealthCheck `json:"machineHealthCheck,omitempty"`
	// MachineDeletion says how long the deletion of a machine waits.
	MachineDeletion MachineDeletion `json:"machineDeletion,omitzero"`
	// Annotations of the group's MachineDeployment and machines. A change does not
	// replace machines.
	Annotations map[string]string `json:"annotations,omitempty"`
	// Class of the group among the classes of worker machines that the clusterClass
	// has. Defaults to default-worker.
	Class string `json:"class,omitempty"`
	// Variables are values of variables of the clusterClass for this group, instead
	// of those of the cluster.
	Variables map[string]any `json:"variables,omitempty"`
	// DeferUpgrade keeps a group of a cluster with a clusterClass from new
	// versions. The upgrade of the cluster waits for it where it has to, and
	// nothing else of the group changes meanwhile.
	DeferUpgrade bool `json:"deferUpgrade,omitempty" jsonschema:"default=false"`
	// HoldUpgradeSequence does the same for the group and all groups behind it.
	HoldUpgradeSequence bool `json:"holdUpgradeSequence,omitempty" jsonschema:"default=false"`
}

// DefaultWorkerClass is the class of groups that name none, in a cluster with
// a clusterClass.
const DefaultWorkerClass = "default-worker"

// Pinned reports whether the group has a version of its own.
func (g WorkerNodeGroupConfiguration) Pinned() bool { return g.KubernetesVersion != nil }

// WorkerClass is the class of the group, after defaulting.
func (g WorkerNodeGroupConfiguration) WorkerClass() string {
	return cmp.Or(g.Class, DefaultWorkerClass)
}

// ObjectName is the name of the MachineDeployment of the group in a cluster, after
// defaulting.
func (g WorkerNodeGroupConfiguration) ObjectName(cluster string) string {
	return cmp.Or(g.ResourceName, cluster+"-"+g.Name)
}

// ObjectName is the name of the object of the control plane of a cluster, after defaulting.
func (c ControlPlaneConfiguration) ObjectName(cluster string) string {
	return cmp.Or(c.ResourceName, cluster)
}

// Replicas is the number of machines of the group, after defaulting; of an
// autoscaled group the number that it begins with.
func (g WorkerNodeGroupConfiguration) Replicas() int {
	if g.AutoscalingConfiguration != nil {
		return g.AutoscalingConfiguration.MinCount
	}
	return orDefault(g.Count)
}

// Replicas is the number of control plane machines, after defaulting.
func (c ControlPlaneConfiguration) Replicas() int { return orDefault(c.Count) }

func orDefault(count *int) int {
	if count == nil {
		return defaultReplicas
	}
	return *count
}

// AutoscalingConfiguration bounds what the cluster autoscaler may do.
type AutoscalingConfiguration struct {
	// MinCount of machines, 0 or more: the group begins with it.
	MinCount int `json:"minCount" jsonschema:"minimum=0"`
	// MaxCount of machines, at least minCount and 1.
	MaxCount int `json:"maxCount" jsonschema:"minimum=1"`
}

// Taint keeps pods off a node that do not tolerate it.
type Taint struct {
	// Key of the taint, as a label has it.
	Key string `json:"key"`
	// Value of the taint, as a label has it.
	Value string `json:"value,omitempty"`
	// Effect on pods that do not tolerate the taint.
	Effect string `json:"effect" jsonschema:"enum=NoSchedule,enum=PreferNoSchedule,enum=NoExecute"`
}

// RollingUpdate is the one rollout strategy that is acted on.
const RollingUpdate = "RollingUpdate"

// ControlPlaneRolloutStrategy says how machines of the control plane are replaced.
type ControlPlaneRolloutStrategy struct {
	// Type is RollingUpdate, which is the default.
	Type string `json:"type,omitempty" jsonschema:"enum=RollingUpdate,default=RollingUpdate"`
	// RollingUpdate has the parameters.
	RollingUpdate *ControlPlaneRollingUpdate `json:"rollingUpdate,omitempty"`
}

// ControlPlaneRollingUpdate has the parameters of a rolling update.
type ControlPlaneRollingUpdate struct {
	// MaxSurge is the number of machines above the count during a rollout: 1, or
	// 0, which removes an old machine first and needs three or more. Defaults to 1.
	MaxSurge *int `json:"maxSurge,omitempty" jsonschema:"enum=0,enum=1,default=1"`
}

// WorkerRolloutStrategy says how machines of a worker node group are replaced.
type WorkerRolloutStrategy struct {
	// Type is RollingUpdate, which is the default.
	Type string `json:"type,omitempty" jsonschema:"enum=RollingUpdate,default=RollingUpdate"`
	// RollingUpdate has the parameters.
	RollingUpdate *WorkerRollingUpdate `json:"rollingUpdate,omitempty"`
}

// WorkerRollingUpdate has the parameters of a rolling update. Not both may be 0.
type WorkerRollingUpdate struct {
	// MaxSurge is the number of machines above the count during a rollout.
	// Defaults to 1.
	MaxSurge *int `json:"maxSurge,omitempty" jsonschema:"minimum=0,default=1"`
	// MaxUnavailable is the number of machines that may be missing from the
	// count during a rollout. Defaults to 0.
	MaxUnavailable *int `json:"maxUnavailable,omitempty" jsonschema:"minimum=0,default=0"`
}

// MachineHealthCheck says when a machine is unhealthy and gets replaced.
type MachineHealthCheck struct {
	// NodeStartupTimeout is the time that a new machine has until its node is
	// there: 30s or more, or 0s for no limit. Defaults to 10m.
	NodeStartupTimeout *Duration `json:"nodeStartupTimeout,omitempty"`
	// UnhealthyMachineTimeout is how long a node may not be ready. Defaults to 5m.
	UnhealthyMachineTimeout *Duration `json:"unhealthyMachineTimeout,omitempty"`
	// MaxUnhealthy is a number or percentage of machines; where more are
	// unhealthy, none is replaced. Defaults to 100% for the control plane and
	// 40% for worker node groups.
	MaxUnhealthy *IntOrPercent `json:"maxUnhealthy,omitempty"`
}

// NodeStartup returns the longest time that a new machine of a worker node group may
// take until its node exists, after defaulting; 0 without a limit.
func (s ClusterSpec) NodeStartup() time.Duration {
	var longest time.Duration
	for _, group := range s.WorkerNodeGroupConfigurations {
		if check := group.MachineHealthCheck; check != nil && check.NodeStartupTimeout != nil {
			longest = max(longest, check.NodeStartupTimeout.Duration)
		}
	}
	return longest
}

// MachineDeletion says how long the deletion of a machine waits, for each of
// what it waits for. A change does not replace machines.
type MachineDeletion struct {
	// NodeDrainTimeout is the time for pods to leave the node. By default, and
	// with 0s, there is no limit.
	NodeDrainTimeout *Duration `json:"nodeDrainTimeout,omitempty"`
	// NodeVolumeDetachTimeout is the time for volumes to be detached from the
	// node. By default, and with 0s, there is no limit.
	NodeVolumeDetachTimeout *Duration `json:"nodeVolumeDetachTimeout,omitempty"`
	// NodeDeletionTimeout is the time for the node to be deleted from the
	// cluster. With 0s there is no limit. Cluster API defaults to 10s.
	NodeDeletionTimeout *Duration `json:"nodeDeletionTimeout,omitempty"`
}
