package management

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

const movedHead = "cluster ns/c has changed since the plan was made; run the same command again: it plans from where the cluster is"

// TestFits: a plan is for one cluster at one moment, and for no other.
func TestFits(t *testing.T) {
	t.Parallel()
	const another = "\n  the cluster was deleted, or replaced by another one of the same name"
	tests := map[string]struct {
		change func(*state.Cluster)
		want   []string
		groups []string
	}{
		"the same":            {func(*state.Cluster) {}, nil, nil},
		"its machines go on":  {func(c *state.Cluster) { c.WorkerNodeGroups[0].Machines = nil; c.ControlPlane.Settled = false }, nil, nil},
		"deleted":             {func(c *state.Cluster) { *c = state.Cluster{} }, []string{another}, nil},
		"another of its name": {func(c *state.Cluster) { c.UID = "other" }, []string{another}, nil},
		"being deleted":       {func(c *state.Cluster) { c.Deleting = true }, []string{"\n  the cluster is being deleted"}, nil},
		"the Cluster":         {func(c *state.Cluster) { c.Generation = 2 }, []string{"\n  Cluster/c has changed: its generation is 2, and was 1"}, nil},
		"the control plane":   {func(c *state.Cluster) { c.ControlPlane.Generation = 7 }, []string{"\n  KubeadmControlPlane/c has changed: its generation is 7, and was 1"}, nil},
		"a group":             {func(c *state.Cluster) { c.WorkerNodeGroups[1].Generation = 2 }, []string{"\n  MachineDeployment/c-md-1 has changed: its generation is 2, and was 1"}, nil},
		"a group less":        {func(c *state.Cluster) { c.WorkerNodeGroups = c.WorkerNodeGroups[:1] }, []string{"\n  MachineDeployment/c-md-1 is gone"}, nil},
		"a group more":        {func(c *state.Cluster) { c.WorkerNodeGroups = append(c.WorkerNodeGroups, aPart("md-2", "v1.33.1")) }, []string{"\n  MachineDeployment/c-md-2 is new"}, nil},
		"somebody else's group": {func(c *state.Cluster) {
			c.WorkerNodeGroups = append(c.WorkerNodeGroups, state.Part{Object: "MachineDeployment/x", Unmanaged: true})
		}, []string{"\n  MachineDeployment/x is new"}, nil},
		"everything": {
			func(c *state.Cluster) {
				c.Generation = 2
				c.WorkerNodeGroups = []state.Part{aPart("md-3", "v1.33.1"), aPart("md-2", "v1.33.1")}
			}, []string{
				"\n  Cluster/c has changed: its generation is 2, and was 1", "\n  MachineDeployment/c-md-0 is gone", "\n  MachineDeployment/c-md-1 is gone",
				"\n  MachineDeployment/c-md-2 is new", "\n  MachineDeployment/c-md-3 is new",
			}, nil,
		},
		"another group, beside one": {func(c *state.Cluster) {
			c.WorkerNodeGroups[1].Generation = 2
			c.WorkerNodeGroups = append(c.WorkerNodeGroups, aPart("md-2", "v1.33.1"))
		}, nil, []string{"md-0"}},
		"the group itself": {
			func(c *state.Cluster) { c.WorkerNodeGroups[0].Generation = 2 },
			[]string{"\n  MachineDeployment/c-md-0 has changed: its generation is 2, and was 1"}, []string{"md-0"},
		},
		"the control plane, beside a group": {
			func(c *state.Cluster) { c.ControlPlane.Generation = 7 },
			[]string{"\n  KubeadmControlPlane/c has changed: its generation is 7, and was 1"}, []string{"md-0"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := quietCluster()
			metadata := plan.MetadataOf(cluster, "spec", test.groups...)
			test.change(&cluster)
			want, got := "", ""
			for i, reason := range test.want {
				if i == 0 {
					want = movedHead
				}
				want += reason
			}
			if err := fits(Upgrade{Program: engine.Program{Plan: plan.Plan{Metadata: metadata}, Groups: test.groups}}, cluster); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUpgradeOfAnotherCluster: nothing is written for a plan that does not fit.
func TestUpgradeOfAnotherCluster(t *testing.T) {
	t.Parallel()
	stop := clientOf(interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
			o.SetUID("other")
			return nil
		},
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return nil },
		// Everything else would be a call of nothing at all.
	})
	err := stop.Upgrade(t.Context(), clusterKey(), Upgrade{Program: engine.Program{Plan: plan.Plan{Metadata: plan.Metadata{Name: "c", Namespace: "ns", UID: "uid"}}}})
	if want := movedHead + "\n  the cluster was deleted, or replaced by another one of the same name"; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// TestUnchanged: what somebody else changed of the objects that the run wrote is told, in
// their order; of the others nothing.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	versions := enginetest.Versions("v1.33.1", "a", "v1.33.1", "b", "v1.33.1", "d", "v1.33.1", "e", "v1.33.1")
	set := func(w *world, name string, value any, path ...string) {
		if err := unstructured.SetNestedField(w.Objects[name].Object, value, path...); err != nil {
			w.t.Fatal(err)
		}
	}
	tests := map[string]struct {
		change func(w *world)
		want   string
	}{
		"nothing": {func(*world) {}, ""},
		"what the run wrote nothing of": {func(w *world) {
			set(w, "MachineDeployment/c-e", "v1.34.1", "spec", "template", "spec", "version")
		}, ""},
		"everything": {func(w *world) {
			set(w, "MachineDeployment/c-a", "v1.34.1", "spec", "template", "spec", "version")
			set(w, "MachineDeployment/c-b", int64(7), "spec", "replicas")
			set(w, "KubeadmControlPlane/c", int64(3), "spec", "replicas")
			delete(w.Objects, "MachineHealthCheck/c-d")
		}, movedHead + "\n  MachineDeployment/c-a was changed by someone else: spec.template.spec.version: v1.33.1 -> v1.34.1" +
			"\n  MachineDeployment/c-b was changed by someone else: spec.replicas: 1 -> 7" +
			"\n  KubeadmControlPlane/c was changed by someone else: spec.replicas: 1 -> 3" +
			"\n  MachineHealthCheck/c-d was deleted"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, versions)
			x := w.run(enginetest.Plan(versions, versions))
			test.change(w)
			var wrote []*unstructured.Unstructured
			for _, name := range []string{"a", "b", v1alpha1.ControlPlaneName, "d"} {
				wrote = append(wrote, x.Desired[0].Parts[name]...)
			}
			got := ""
			if err := x.unchanged(t.Context(), wrote); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			w.wrote("while comparing", nil)
		})
	}
}
