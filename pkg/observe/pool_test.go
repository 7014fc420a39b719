package observe

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// emptyPool is a MachinePool that Cluster API has not seen yet.
func emptyPool(name string) state.Part {
	return state.Part{
		Name: name, Object: "MachinePool/" + name, Unmanaged: true, Unseen: true, Generation: 2, Replicas: 1, SkewUnchecked: true,
		Reason: "Cluster API has not finished the latest change of MachinePool/" + name + "; if that persists, the log of its controller says why",
	}
}

// pool is one of two nodes that is done, but for the change.
func pool(change func(*clusterv1.MachinePool)) clusterv1.MachinePool {
	yes, two := true, int32(2)
	p := clusterv1.MachinePool{
		ObjectMeta: objectMeta("c-mp", nil),
		Spec:       clusterv1.MachinePoolSpec{Replicas: &two, Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{Version: workerVersion}}},
		Status: clusterv1.MachinePoolStatus{
			ObservedGeneration: 2, Initialization: clusterv1.MachinePoolInitializationStatus{InfrastructureProvisioned: &yes}, UpToDateReplicas: &two,
			NodeRefs: []corev1.ObjectReference{{Name: "a"}, {Name: "b"}}, Versions: []clusterv1.StatusVersion{{Version: workerVersion, Replicas: 2}},
			Deprecated: &clusterv1.MachinePoolDeprecatedStatus{V1Beta1: &clusterv1.MachinePoolV1Beta1DeprecatedStatus{ReadyReplicas: 2}}, //nolint:staticcheck // there is nothing else
		},
	}
	change(&p)
	return p
}

func TestPools(t *testing.T) {
	t.Parallel()
	is := v1alpha1.MustParseVersion(workerVersion)
	older := v1alpha1.MustParseVersion("v1.32.1")
	node := func(name, node string, version v1alpha1.Version, ready bool) state.Machine {
		return state.Machine{Name: name, Phase: "Running", Node: node, Version: version, Kubelet: version, Ready: ready}
	}
	done := func(change func(*state.Part)) state.Part {
		p := state.Part{
			Name: "mp", Object: "MachinePool/c-mp", Unmanaged: true, Generation: 2, Version: is, Replicas: 2, SkewUnchecked: true, Settled: true,
			Machines: []state.Machine{node("a", "a", is, true), node("b", "b", is, true)},
		}
		change(&p)
		return p
	}
	tests := map[string]struct {
		change func(*clusterv1.MachinePool)
		want   state.Part
		done   bool
	}{
		"done": {func(*clusterv1.MachinePool) {}, done(func(*state.Part) {}), true},
		"on its way to a version": {
			func(p *clusterv1.MachinePool) {
				p.Status.Versions = []clusterv1.StatusVersion{{Version: "v1.32.1"}, {Version: workerVersion, Replicas: 1}}
			},
			done(func(p *state.Part) {
				p.Machines = []state.Machine{node("1 of MachinePool/c-mp", "", older, true), node("2 of MachinePool/c-mp", "", is, true)}
			}), false,
		},
		"a node that is not ready": {
			func(p *clusterv1.MachinePool) {
				p.Status.Deprecated.V1Beta1.ReadyReplicas = 1                                                                                                                      //nolint:staticcheck // there is nothing else
				p.Status.Deprecated.V1Beta1.Conditions = clusterv1.Conditions{{Type: clusterv1.ReplicasReadyV1Beta1Condition, Status: "False", Reason: "WaitingForReplicasReady"}} //nolint:staticcheck // there is nothing else
			},
			done(func(p *state.Part) {
				p.Reason = "WaitingForReplicasReady"
				p.Machines = []state.Machine{node("1 of MachinePool/c-mp", "", is, true), node("2 of MachinePool/c-mp", "", is, false)}
			}), false,
		},
		"a node whose version is not known": {
			func(p *clusterv1.MachinePool) { p.Status.Versions[0].Replicas = 1 },
			done(func(p *state.Part) {
				p.Machines[1].Version, p.Machines[1].Kubelet = v1alpha1.Version{}, v1alpha1.Version{}
			}), false,
		},
		"without nodes": {
			func(p *clusterv1.MachinePool) { p.Status.NodeRefs, p.Status.Versions = nil, nil },
			done(func(p *state.Part) { p.Machines = nil }), false,
		},
		"without a version": {
			func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Version = "" },
			done(func(p *state.Part) { p.Version = v1alpha1.Version{} }), false,
		},
		"not provisioned": {
			func(p *clusterv1.MachinePool) { p.Status.Initialization.InfrastructureProvisioned = nil },
			done(func(p *state.Part) { p.Settled = false }), false,
		},
		"paused": {
			func(p *clusterv1.MachinePool) { p.Annotations = map[string]string{clusterv1.PausedAnnotation: ""} },
			done(func(p *state.Part) { p.Paused = true }), true,
		},
		"without the count of ready nodes": {
			func(p *clusterv1.MachinePool) {
				p.Status.Deprecated, p.Status.ReadyReplicas = nil, p.Spec.Replicas
			},
			done(func(*state.Part) {}), true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := aCluster()
			s.pools = []clusterv1.MachinePool{pool(test.change)}
			got := s.state().WorkerNodeGroups[1]
			if diff := cmp.Diff(test.want, got, cmpopts.EquateComparable(v1alpha1.Version{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.Done() != test.done {
				t.Errorf("done: %t", got.Done())
			}
		})
	}
}

// TestPoolMachines: the Machines of a pool are its machines where its provider makes any.
func TestPoolMachines(t *testing.T) {
	t.Parallel()
	s := aCluster()
	s.pools = []clusterv1.MachinePool{pool(func(p *clusterv1.MachinePool) {
		p.Labels = map[string]string{clusterv1.ClusterTopologyMachinePoolNameLabel: "pool"}
	})}
	s.machines = append(s.machines, machine("m", workerVersion, "", map[string]string{clusterv1.MachinePoolNameLabel: "c-mp"}))
	s.cluster.Spec.Topology = clusterv1.Topology{
		ClassRef: clusterv1.ClusterClassRef{Name: "class"}, Version: workerVersion,
		Workers: clusterv1.WorkersTopology{MachinePools: []clusterv1.MachinePoolTopology{{Name: "pool", Class: "of"}}},
	}
	got := s.state()
	part := got.WorkerNodeGroups[1]
	var names []string
	for _, machine := range part.Machines {
		names = append(names, machine.Name)
	}
	type result struct {
		Name      string
		Unmanaged bool
		Machines  []string
		Groups    []state.TopologyGroup
		Others    []state.Other
	}
	want := result{Name: "pool", Machines: []string{"m"}, Groups: []state.TopologyGroup{{Name: "pool", Class: "of", Pool: true}}}
	if diff := cmp.Diff(want, result{part.Name, part.Unmanaged, names, got.Topology.Groups, got.Others}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
