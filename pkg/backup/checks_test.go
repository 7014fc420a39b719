package backup

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// at is a cluster that nothing changes.
func at(change func(*state.Cluster)) state.Cluster {
	version := v1alpha1.MustParseVersion("v1.35.4")
	machine := state.Machine{Name: "m", Version: version, Kubelet: version, Ready: true}
	part := state.Part{Name: "control-plane", Version: version, Replicas: 1, Settled: true, Machines: []state.Machine{machine}}
	c := state.Cluster{Name: "a", Namespace: "ns", ControlPlane: part, Topology: &state.Topology{}}
	change(&c)
	return c
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const wait = "wait for its end with 'clusterctl-x watch cluster a -n ns'"
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, test := range map[string]struct {
		change func(*state.Cluster)
		want   refusals
	}{
		"nothing changes":                    {func(*state.Cluster) {}, nil},
		"a machine is not ready":             {func(c *state.Cluster) { c.ControlPlane.Machines[0].Ready = false }, nil},
		"paused by a user":                   {func(c *state.Cluster) { c.Paused = true }, refusals{{Check: checkPaused, Reason: "cluster ns/a is paused by a user, and clusterctl would end that pause; set its spec.paused to false"}}},
		"paused by a backup that was killed": {func(c *state.Cluster) { c.Paused, c.Pause = true, &state.Pause{For: state.PauseForBackup} }, nil},
		"half restored": {
			func(c *state.Cluster) {
				c.Paused, c.Pause = true, &state.Pause{Why: "restore it", By: "me", Since: since, For: state.PauseForRestore}
			},
			refusals{{Check: checkPaused, Reason: "cluster ns/a: clusterctl-x paused the cluster to restore it (me, since 2026-01-02T03:04:05Z); if that was interrupted, 'clusterctl-x restore management' completes it and lifts the pause"}},
		},
		"a group half-way": {
			func(c *state.Cluster) {
				c.Paused, c.Pause = true, &state.Pause{Why: "detach md-0", By: "me", Since: since}
			},
			refusals{{Check: checkPaused, Reason: "cluster ns/a: clusterctl-x paused the cluster to detach md-0 (me, since 2026-01-02T03:04:05Z); if that was interrupted, 'clusterctl-x upgrade cluster' completes it and lifts the pause"}},
		},
		"being deleted": {func(c *state.Cluster) { c.Deleting = true }, refusals{{Check: checkUnderWay, Reason: "cluster ns/a is being deleted; wait until it is gone"}}},
		"to be replaced": {
			func(c *state.Cluster) { c.ControlPlane.Version = v1alpha1.MustParseVersion("v1.36.0") },
			refusals{{Check: checkUnderWay, Reason: "cluster ns/a is being changed: 1 machines of control-plane are to be replaced; " + wait}},
		},
		"a machine goes": {
			func(c *state.Cluster) { c.ControlPlane.Machines[0].Deleting = true },
			refusals{{Check: checkUnderWay, Reason: "cluster ns/a is being changed: machines of control-plane are being deleted; " + wait}},
		},
		"between two steps": {
			func(c *state.Cluster) { c.Topology.Upgrading = true },
			refusals{{Check: checkUnderWay, Reason: "cluster ns/a is being changed: Cluster API has not ended the upgrade; " + wait}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := refusals(nil)
			got.judge(at(test.change), state.PauseForBackup)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("refusals (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnready: what clusterctl would refuse one after the other is refused at once.
func TestUnready(t *testing.T) {
	t.Parallel()
	cluster := func(name string, provisioned, initialized bool) *clusterv1.Cluster {
		c := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns"}}
		c.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: "g", Kind: "InfraCluster", Name: name}
		c.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: "g", Kind: "ControlPlane", Name: name}
		c.Status.Initialization.InfrastructureProvisioned = ptr.To(provisioned)
		c.Status.Initialization.ControlPlaneInitialized = ptr.To(initialized)
		if initialized {
			c.Status.Conditions = []metav1.Condition{{Type: clusterv1.ClusterControlPlaneInitializedCondition, Status: metav1.ConditionTrue}}
		}
		return c
	}
	machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: "m", Namespace: "ns"}, Spec: clusterv1.MachineSpec{ClusterName: "a"}}
	with := machine.DeepCopy()
	with.Name, with.Status.NodeRef.Name = "n", "n"
	s := &Service{objects: fakeClient(t, interceptor.Funcs{}, cluster("a", true, true), cluster("b", false, false), cluster("c", true, false), machine, with)}
	got := refusals(nil)
	kinds, err := s.unready(t.Context(), "ns", &got)
	if err != nil {
		t.Fatal(err)
	}
	want := refusals{
		{Check: checkUnready, Reason: "cluster ns/b has no infrastructure yet; wait for it with 'clusterctl-x watch cluster b -n ns', or delete the cluster"},
		{Check: checkUnready, Reason: "the control plane of cluster ns/c is not initialized yet; wait for it with 'clusterctl-x watch cluster c -n ns', or delete the cluster"},
		{Check: checkUnready, Reason: "machine m of cluster ns/a has no node yet; wait for it with 'clusterctl-x watch cluster a -n ns'"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("refusals (-want +got):\n%s", diff)
	}
	if len(kinds) != 3 {
		t.Errorf("kinds %v, want Cluster, InfraCluster and ControlPlane", kinds)
	}
}

// TestPausable: Clusters, and the ClusterClasses that are theirs or in their namespace.
func TestPausable(t *testing.T) {
	t.Parallel()
	class := func(namespace, name string, paused bool) *clusterv1.ClusterClass {
		c := &clusterv1.ClusterClass{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
		if paused {
			c.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
		}
		return c
	}
	used := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "ns"}}
	used.Spec.Topology = clusterv1.Topology{ClassRef: clusterv1.ClusterClassRef{Name: "used", Namespace: "other"}}
	s := &Service{objects: fakeClient(t, interceptor.Funcs{}, used, class("other", "used", true), class("other", "unused", true), class("ns", "here", false))}
	got := refusals(nil)
	objects, err := s.pausable(t.Context(), "ns", state.PauseForBackup, &got)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, object := range objects {
		names = append(names, nameOf(object))
	}
	if diff := cmp.Diff([]string{"Cluster ns/a", "ClusterClass ns/here", "ClusterClass other/used"}, names); diff != "" {
		t.Errorf("what is paused (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(refusals{{Check: checkPaused, Reason: "ClusterClass other/used is paused, and would not be afterwards; remove its annotation cluster.x-k8s.io/paused"}}, got); diff != "" {
		t.Errorf("refusals (-want +got):\n%s", diff)
	}
}

func TestRefusalsAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	r := refusals{}
	if err := r.err(); err != nil {
		t.Errorf("without refusals: %v", err)
	}
	r.add(&management.RefusedError{Check: checkPaused, Reason: "a"})
	r.add(&management.RefusedError{Check: checkUnready, Reason: "b"})
	if err := r.err(); err == nil || err.Error() != "a\nb" {
		t.Errorf("two refusals: %v", err)
	}
}
