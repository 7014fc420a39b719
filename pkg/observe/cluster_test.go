package observe

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

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

// Versions of aCluster.
const (
	controlPlaneVersion = "v1.34.4"
	workerVersion       = "v1.33.13"
)

// machineSpec is what the machines of aCluster are made from.
func machineSpec(version, bootstrap, infrastructure string) clusterv1.MachineSpec {
	return clusterv1.MachineSpec{
		Version: version, FailureDomain: "a",
		Bootstrap:         clusterv1.Bootstrap{ConfigRef: clusterv1.ContractVersionedObjectReference{APIGroup: "bootstrap", Kind: "Config", Name: bootstrap}},
		InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure", Kind: "Machine", Name: infrastructure},
	}
}

// machine is ready, and owned by a MachineSet unless the name of it is empty.
func machine(name, version, set string, labels map[string]string) clusterv1.Machine {
	m := clusterv1.Machine{
		ObjectMeta: objectMeta(name, labels),
		Spec:       machineSpec(version, name, name),
		Status: clusterv1.MachineStatus{
			Phase: "Running", NodeRef: clusterv1.MachineNodeReference{Name: name}, NodeInfo: &corev1.NodeSystemInfo{KubeletVersion: version},
			Conditions: condition(clusterv1.MachineReadyCondition, metav1.ConditionTrue, ""),
		},
	}
	if set != "" {
		yes := true
		m.OwnerReferences = []metav1.OwnerReference{{Kind: "MachineSet", Name: set, Controller: &yes}}
	}
	return m
}

// workerOf is a machine of the worker node group of aCluster.
func workerOf(set, name, version string) clusterv1.Machine {
	return machine(name, version, set, map[string]string{clusterv1.MachineDeploymentNameLabel: "c-md-0"})
}

// machineSet is one of the worker node group of aCluster.
func machineSet(name string, spec clusterv1.MachineSpec) clusterv1.MachineSet {
	return clusterv1.MachineSet{
		ObjectMeta: objectMeta(name, map[string]string{clusterv1.MachineDeploymentNameLabel: "c-md-0"}),
		Spec:       clusterv1.MachineSetSpec{Template: clusterv1.MachineTemplateSpec{Spec: spec}},
		Status:     clusterv1.MachineSetStatus{ObservedGeneration: 2},
	}
}

// aCluster has one control plane machine and one group of one machine, both done.
func aCluster() snapshot {
	provisioned := true
	one := int32(1)
	worker := machineSpec(workerVersion, "c-md-0", "c-md-0")
	cluster := objectMeta("c", map[string]string{v1alpha1.ClusterLabel: "c"})
	cluster.UID = "uid"
	return snapshot{
		cluster: clusterv1.Cluster{
			ObjectMeta: cluster,
			Spec: clusterv1.ClusterSpec{
				ControlPlaneRef:      clusterv1.ContractVersionedObjectReference{Kind: "KubeadmControlPlane", Name: "c"},
				ControlPlaneEndpoint: clusterv1.APIEndpoint{Host: "host", Port: 6443},
			},
			Status: clusterv1.ClusterStatus{
				Phase: "Provisioned", Initialization: clusterv1.ClusterInitializationStatus{InfrastructureProvisioned: &provisioned},
			},
		},
		controlPlane: &controlplanev1.KubeadmControlPlane{
			ObjectMeta: objectMeta("c", nil),
			Spec:       controlplanev1.KubeadmControlPlaneSpec{Replicas: &one, Version: controlPlaneVersion},
			Status: controlplanev1.KubeadmControlPlaneStatus{
				ObservedGeneration: 2, UpToDateReplicas: &one,
				Conditions: condition(controlplanev1.KubeadmControlPlaneAvailableCondition, metav1.ConditionTrue, ""),
			},
		},
		deployments: []clusterv1.MachineDeployment{{
			ObjectMeta: objectMeta("c-md-0", map[string]string{v1alpha1.WorkerNodeGroupLabel: "md-0"}),
			Spec:       clusterv1.MachineDeploymentSpec{Replicas: &one, Template: clusterv1.MachineTemplateSpec{Spec: worker}},
			Status: clusterv1.MachineDeploymentStatus{
				ObservedGeneration: 2, Conditions: condition(clusterv1.MachineDeploymentAvailableCondition, metav1.ConditionTrue, ""),
			},
		}},
		sets: []clusterv1.MachineSet{machineSet("c-md-0-x", worker)},
		machines: []clusterv1.Machine{
			machine("c-1", controlPlaneVersion, "", map[string]string{clusterv1.MachineControlPlaneLabel: ""}),
			workerOf("c-md-0-x", "c-md-0-1", workerVersion),
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

// doneMachine is what a machine of aCluster looks like.
func doneMachine(name, version string) state.Machine {
	v := v1alpha1.MustParseVersion(version)
	return state.Machine{Name: name, Phase: "Running", Version: v, Node: name, Kubelet: v, Ready: true, Since: born}
}

// doneState is what aCluster looks like.
func doneState() state.Cluster {
	return state.Cluster{
		Name: "c", Namespace: "ns", UID: "uid", Generation: 2, Created: born, Phase: "Provisioned",
		ControlPlane: state.Part{
			Name: "control-plane", Object: "KubeadmControlPlane/c", Generation: 2, Version: v1alpha1.MustParseVersion(controlPlaneVersion),
			Replicas: 1, Settled: true, Machines: []state.Machine{doneMachine("c-1", controlPlaneVersion)},
		},
		WorkerNodeGroups: []state.Part{{
			Name: "md-0", Object: "MachineDeployment/c-md-0", Generation: 2, Version: v1alpha1.MustParseVersion(workerVersion),
			Replicas: 1, Settled: true, Machines: []state.Machine{doneMachine("c-md-0-1", workerVersion)},
		}},
	}
}

// stateTest changes aCluster, and what is to be seen of it then.
type stateTest struct {
	change func(s *snapshot)
	want   func(c *state.Cluster)
}

func testState(t *testing.T, tests map[string]stateTest) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, want := aCluster(), doneState()
			test.change(&s)
			test.want(&want)
			if diff := cmp.Diff(want, s.state(), cmpopts.EquateComparable(v1alpha1.Version{}), cmpopts.IgnoreFields(state.Part{}, "Former")); diff != "" { // TestFormerTemplates
				t.Errorf("state (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDoneState(t *testing.T) {
	t.Parallel()
	if c := aCluster().state(); !c.Done() {
		t.Errorf("a cluster that is as wanted waits for %s", c.Waiting())
	}
}

func TestClusterState(t *testing.T) {
	t.Parallel()
	testState(t, map[string]stateTest{
		"done": {func(*snapshot) {}, func(*state.Cluster) {}},
		"made by others": {
			func(s *snapshot) { delete(s.cluster.Labels, v1alpha1.ClusterLabel) }, func(c *state.Cluster) { c.Unmanaged = true },
		},
		"infrastructure not provisioned": {
			func(s *snapshot) {
				s.cluster.Status.Initialization = clusterv1.ClusterInitializationStatus{}
				s.cluster.Status.Conditions = condition(clusterv1.ClusterInfrastructureReadyCondition, metav1.ConditionFalse, "no network")
			},
			func(c *state.Cluster) { c.Infrastructure = "no network" },
		},
		"infrastructure not provisioned, and nobody says why": {
			func(s *snapshot) {
				no := false
				s.cluster.Status.Initialization.InfrastructureProvisioned = &no
			},
			func(c *state.Cluster) { c.Infrastructure = "not provisioned yet" },
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
			func(c *state.Cluster) {
				c.Paused, c.Deleting, c.Topology = true, true, &state.Topology{Class: "ns/class"}
				c.WorkerNodeGroups[0].Detached = true // has the label of a group, and none of a topology
			},
		},
		"from a class, with a group in its topology, a detached one and one of others": {
			func(s *snapshot) {
				s.cluster.Spec.Topology.ClassRef.Name = "class"
				s.cluster.Annotations = map[string]string{v1alpha1.PauseAnnotation: `{"why":"detach md-1","by":"me","since":"2026-01-02T03:04:05Z"}`}
				owned, detached, others := s.deployments[0], s.deployments[0], s.deployments[0]
				owned.Labels = map[string]string{clusterv1.ClusterTopologyMachineDeploymentNameLabel: "md-0", v1alpha1.WorkerNodeGroupLabel: "md-0"}
				detached.Name, detached.Labels = "c-x", map[string]string{v1alpha1.WorkerNodeGroupLabel: "md-1"}
				detached.Annotations = map[string]string{v1alpha1.ClassContentAnnotation: "abc"}
				detached.Status.Conditions = append(slices.Clone(detached.Status.Conditions), metav1.Condition{
					Type: clusterv1.PausedCondition, Status: metav1.ConditionTrue, Reason: clusterv1.PausedReason, ObservedGeneration: detached.Generation,
				})
				others.Name, others.Labels = "c-z", nil
				s.deployments = []clusterv1.MachineDeployment{owned, detached, others}
			},
			func(c *state.Cluster) {
				c.Topology = &state.Topology{Class: "ns/class"}
				c.Pause = &state.Pause{Why: "detach md-1", By: "me", Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
				detached, others := c.WorkerNodeGroups[0], c.WorkerNodeGroups[0]
				detached.Name, detached.Object, detached.Detached, detached.MadeFrom, detached.PauseSeen = "md-1", "MachineDeployment/c-x", true, "abc", true
				detached.Machines = nil
				others.Name, others.Object, others.Unmanaged, others.Machines = "z", "MachineDeployment/c-z", true, nil
				c.WorkerNodeGroups = append(c.WorkerNodeGroups, detached, others)
			},
		},
		"machines of nobody, with what their nodes run": {
			func(s *snapshot) {
				labels := map[string]string{clusterv1.MachineDeploymentNameLabel: "gone"}
				s.machines = append(s.machines, machine("alone", "v1.32.1", "", nil), machine("left", "v1.32.1", "gone-x", labels), machine("new", "v1.32.1", "", nil))
				s.machines[3].Status.NodeInfo.KubeletVersion = "v1.31.9"
				s.machines[4].Spec.Version, s.machines[4].Status.NodeInfo = "", nil
			},
			func(c *state.Cluster) {
				c.Others = []state.Other{
					{Object: "Machine/alone", Version: v1alpha1.MustParseVersion("v1.32.1")},
					{Object: "Machine/left", Version: v1alpha1.MustParseVersion("v1.31.9")},
					{Object: "Machine/new"},
				}
			},
		},
	})
}

// TestClustersHaveTheirObjects: each cluster has its own, whatever the order in
// which the API server or a cache lists them.
func TestClustersHaveTheirObjects(t *testing.T) {
	t.Parallel()
	of := func(cluster string, object client.Object) {
		labels := object.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels[clusterv1.ClusterNameLabel] = cluster
		object.SetLabels(labels)
	}
	c, other := aCluster(), clusterv1.Cluster{ObjectMeta: objectMeta("other", map[string]string{v1alpha1.ClusterLabel: "other"})}
	blocked := func(name string) clusterv1.MachineSet {
		set := machineSet(name, machineSpec("v1.32.1", "c-md-0", "c-md-0"))
		set.Status.Conditions = condition(clusterv1.MachineSetScalingUpCondition, metav1.ConditionTrue, "Scaling up from 0 to 1 replicas is blocked because:\n* preflight of "+name)
		return set
	}
	sets := []clusterv1.MachineSet{blocked("c-md-0-c"), blocked("c-md-0-b"), blocked("c-md-0-a"), c.sets[0]}
	machines := append(slices.Clone(c.machines), machine("z", "v1.32.1", "", nil), machine("y", "v1.32.1", "", nil))
	pools := []clusterv1.MachinePool{{ObjectMeta: objectMeta("z", nil)}, {ObjectMeta: objectMeta("y", nil)}}
	controlPlanes := []controlplanev1.KubeadmControlPlane{{ObjectMeta: objectMeta("former", nil)}, *c.controlPlane}
	for i := range sets {
		of("c", &sets[i])
	}
	of("other", &sets[2])
	for i := range machines {
		of("c", &machines[i])
	}
	of("other", &machines[3])
	of("c", &pools[0])
	of("other", &pools[1])
	of("c", &controlPlanes[0])
	of("c", &controlPlanes[1])
	of("c", &c.deployments[0])
	connection := interceptor.NewClient(nil, interceptor.Funcs{List: func(_ context.Context, _ client.WithWatch, into client.ObjectList, _ ...client.ListOption) error {
		switch list := into.(type) {
		case *clusterv1.ClusterList:
			list.Items = []clusterv1.Cluster{other, c.cluster}
		case *controlplanev1.KubeadmControlPlaneList:
			list.Items = controlPlanes
		case *clusterv1.MachineDeploymentList:
			list.Items = c.deployments
		case *clusterv1.MachineSetList:
			list.Items = sets
		case *clusterv1.MachineList:
			list.Items = machines
		case *clusterv1.MachinePoolList:
			list.Items = pools
		}
		return nil
	}})
	got, unwatched, err := Clusters(t.Context(), connection, connection, Filter{})
	if err != nil {
		t.Fatal(err)
	}
	want := []state.Cluster{doneState(), {
		Name: "other", Namespace: "ns", Generation: 2, Created: born, Infrastructure: "not provisioned yet",
		ControlPlane:     state.Part{Name: "control-plane", Reason: "the control plane's object does not exist yet", Blocked: true},
		Others:           []state.Other{{Object: "Machine/y", Version: v1alpha1.MustParseVersion("v1.32.1")}},
		WorkerNodeGroups: []state.Part{emptyPool("y")},
	}}
	want[0].WorkerNodeGroups[0].Blocked, want[0].WorkerNodeGroups[0].Reason = true, "MachineSet/c-md-0-b creates no machines: preflight of c-md-0-b"
	want[0].Others = []state.Other{{Object: "Machine/z", Version: v1alpha1.MustParseVersion("v1.32.1")}}
	want[0].WorkerNodeGroups = append(want[0].WorkerNodeGroups, emptyPool("z"))
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(v1alpha1.Version{})); diff != "" {
		t.Errorf("clusters (-want +got):\n%s", diff)
	}
	if unwatched {
		t.Error("a control plane of kubeadm counts as one that is not watched")
	}
}

// TestFilter: the labels are those of Clusters, and the objects of a cluster do not have
// them.
func TestFilter(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	connection := interceptor.NewClient(nil, interceptor.Funcs{List: func(_ context.Context, _ client.WithWatch, into client.ObjectList, options ...client.ListOption) error {
		var all client.ListOptions
		all.ApplyOptions(options)
		got[reflect.TypeOf(into).Elem().Name()] = all.Namespace + " " + all.LabelSelector.String()
		return nil
	}})
	if _, _, err := Clusters(t.Context(), connection, connection, Filter{Namespace: "team", Selector: labels.SelectorFromSet(labels.Set{"stage": "test"})}); err != nil {
		t.Fatal(err)
	}
	const ofClusters = "team cluster.x-k8s.io/cluster-name"
	want := map[string]string{
		"ClusterList": "team stage=test", "KubeadmControlPlaneList": ofClusters, "MachineDeploymentList": ofClusters, "MachineSetList": ofClusters,
		"MachineList": ofClusters, "MachinePoolList": ofClusters, "ClusterResourceSetList": ofClusters,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestFormerTemplates names the templates of sets that are not as wanted any
// more and still have machines.
func TestFormerTemplates(t *testing.T) {
	t.Parallel()
	set := func(name, template string) clusterv1.MachineSet {
		return clusterv1.MachineSet{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: clusterv1.MachineSetSpec{Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{
			Bootstrap:         clusterv1.Bootstrap{ConfigRef: clusterv1.ContractVersionedObjectReference{Name: template + "-bootstrap"}},
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{Name: template + "-machine"},
		}}}}
	}
	machine := clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: "m", OwnerReferences: []metav1.OwnerReference{{Kind: "MachineSet", Name: "old", Controller: new(true), APIVersion: clusterv1.GroupVersion.String()}}}}
	s := snapshot{machines: []clusterv1.Machine{machine}}
	got := s.formerTemplates([]clusterv1.MachineSet{set("older", "a"), set("old", "b")})
	if diff := cmp.Diff([]string{"b-bootstrap", "b-machine"}, got); diff != "" {
		t.Errorf("templates (-want +got):\n%s", diff)
	}
}

// TestTopologySettled: Cluster API is through with a topology when it says so of
// the latest change, and has ended the upgrade that it was in.
func TestTopologySettled(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status   metav1.ConditionStatus
		observed int64
		pending  string
		want     bool
	}{
		"through":              {metav1.ConditionTrue, 2, "", true},
		"not through":          {metav1.ConditionFalse, 2, "", false},
		"of the change before": {metav1.ConditionTrue, 1, "", false},
		"upgrade not ended":    {metav1.ConditionTrue, 2, "AfterControlPlaneUpgrade,AfterClusterUpgrade", false},
		"another hook":         {metav1.ConditionTrue, 2, "AfterControlPlaneInitialized", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Generation: 2, Annotations: map[string]string{runtimev1.PendingHooksAnnotation: test.pending}}}
			cluster.Spec.Topology = clusterv1.Topology{ClassRef: clusterv1.ClusterClassRef{Name: "class"}, Version: "v1.34.4"}
			cluster.Status.Conditions = []metav1.Condition{{Type: clusterv1.ClusterTopologyReconciledCondition, Status: test.status, ObservedGeneration: test.observed}}
			if got := Topology(cluster).Settled; got != test.want {
				t.Errorf("settled is %t, want %t", got, test.want)
			}
		})
	}
}
