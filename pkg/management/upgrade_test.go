package management

import (
	"context"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

const movedHead = "cluster ns/c has changed since the plan was made; run the same command again: it plans from where the cluster is"

// TestFits: a plan is for one cluster at one moment, and for no other.
func TestFits(t *testing.T) {
	t.Parallel()
	const another = "\n  the cluster was deleted, or is another one of the same name"
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
			c.WorkerNodeGroups = append(c.WorkerNodeGroups, state.Part{Object: "MachineDeployment/x", Foreign: true})
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
			if err := fits(Upgrade{Plan: plan.Plan{Metadata: metadata}, Groups: test.groups}, cluster); err != nil {
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
	err := stop.Upgrade(t.Context(), clusterKey(), Upgrade{Plan: plan.Plan{Metadata: plan.Metadata{Name: "c", Namespace: "ns", UID: "uid"}}})
	if want := movedHead + "\n  the cluster was deleted, or is another one of the same name"; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// TestUndisturbed: each part has the version before the step, or the one after
// it; whatever has another one was changed by somebody else.
func TestUndisturbed(t *testing.T) {
	t.Parallel()
	p := aPlan(versionsOf("v1.32.1", "md-0", "v1.32.1", "md-1", "v1.32.1", "old", "v1.32.1"), versionsOf("v1.33.1", "md-0", "v1.33.1", "md-1", "v1.32.1", "new", "v1.33.1"),
		stepOf(plan.ControlPlane, "v1.32.1", "v1.33.1"), stepOf(plan.Workers, "v1.32.1", "v1.33.1", "md-0"),
		stepOf(plan.CreateWorkers, "", "v1.33.1", "new"), stepOf(plan.RemoveWorkers, "v1.32.1", "", "old"))
	changed := func(object, is, has string) string {
		return "somebody changed " + object + ": its version is " + is + ", and the plan has " + has
	}
	const deleted = "somebody deleted the MachineDeployment of group "
	was := map[string]string{"md-0": "v1.32.1", "md-1": "v1.32.1", "old": "v1.32.1"}
	with := func(base map[string]string, changes ...string) map[string]string {
		groups := maps.Clone(base)
		for i := 0; i < len(changes); i += 2 {
			groups[changes[i]] = changes[i+1]
			if changes[i+1] == "" {
				delete(groups, changes[i])
			}
		}
		return groups
	}
	moved := with(was, "md-0", "v1.33.1")
	tests := map[string]struct {
		step         int
		controlPlane string
		groups       map[string]string
		want         []string
	}{
		"before the control plane moves":           {0, "v1.32.1", was, nil},
		"the control plane moves":                  {0, "v1.33.1", was, nil},
		"the control plane farther than it is to":  {0, "v1.34.1", was, []string{changed("KubeadmControlPlane/c", "v1.34.1", "v1.33.1")}},
		"the control plane not to where it was":    {1, "v1.32.1", was, []string{changed("KubeadmControlPlane/c", "v1.32.1", "v1.33.1")}},
		"a group before its step":                  {0, "v1.33.1", moved, []string{changed("MachineDeployment/c-md-0", "v1.33.1", "v1.32.1")}},
		"a group in its step, still as before":     {1, "v1.33.1", was, nil},
		"a group in its step":                      {1, "v1.33.1", moved, nil},
		"a group in its step, elsewhere":           {1, "v1.33.1", with(was, "md-0", "v1.32.9"), []string{changed("MachineDeployment/c-md-0", "v1.32.9", "v1.33.1")}},
		"a group after its step, back":             {2, "v1.33.1", was, []string{changed("MachineDeployment/c-md-0", "v1.32.1", "v1.33.1")}},
		"a group that has no step":                 {1, "v1.33.1", with(moved, "md-1", "v1.33.1"), []string{changed("MachineDeployment/c-md-1", "v1.33.1", "v1.32.1")}},
		"a group without a step is deleted":        {0, "v1.32.1", with(was, "md-1", ""), []string{deleted + "md-1"}},
		"a group is deleted in its step":           {1, "v1.33.1", with(was, "md-0", ""), []string{deleted + "md-0"}},
		"a group is deleted before it is to be":    {2, "v1.33.1", with(moved, "old", ""), []string{deleted + "old"}},
		"a new group is not there yet":             {2, "v1.33.1", moved, nil},
		"a new group":                              {2, "v1.33.1", with(moved, "new", "v1.33.1"), nil},
		"a new group is deleted after its step":    {3, "v1.33.1", moved, []string{deleted + "new"}},
		"a group that goes is still there":         {3, "v1.33.1", with(moved, "new", "v1.33.1"), nil},
		"a group that goes, at whatever version":   {3, "v1.33.1", with(moved, "new", "v1.33.1", "old", "v1.33.1"), nil},
		"a group that goes is gone":                {3, "v1.33.1", with(moved, "new", "v1.33.1", "old", ""), nil},
		"a group that the plan does not know":      {0, "v1.32.1", with(was, "other", "v1.30.1"), nil},
		"after the last step nothing is looked at": {4, "v1.35.1", map[string]string{}, nil},
		"several, in the order of their names": {0, "v1.34.1", with(was, "old", "", "md-0", "v1.33.1"), []string{
			changed("KubeadmControlPlane/c", "v1.34.1", "v1.33.1"), changed("MachineDeployment/c-md-0", "v1.33.1", "v1.32.1"), deleted + "old",
		}},
	}
	t.Run("of a run on one group", func(t *testing.T) {
		t.Parallel()
		r := &run{key: clusterKey(), step: 1, Upgrade: Upgrade{Plan: p, Groups: []string{"md-0"}}}
		other := state.Cluster{ControlPlane: aPart(v1alpha1.ControlPlaneName, "v1.33.1"), WorkerNodeGroups: []state.Part{aPart("md-0", "v1.33.1"), aPart("md-1", "v1.33.1")}}
		if err := r.undisturbed(other); err != nil {
			t.Errorf("another run moves another group: %v", err)
		}
		other.WorkerNodeGroups[0] = aPart("md-0", "v1.32.9")
		if want := movedHead + "\n  " + changed("MachineDeployment/c-md-0", "v1.32.9", "v1.33.1"); r.undisturbed(other).Error() != want {
			t.Errorf("error is %v, want %s", r.undisturbed(other), want)
		}
	})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := state.Cluster{Name: "c", Namespace: "ns", ControlPlane: aPart(v1alpha1.ControlPlaneName, test.controlPlane)}
			for group, version := range test.groups {
				cluster.WorkerNodeGroups = append(cluster.WorkerNodeGroups, aPart(group, version))
			}
			r := &run{key: clusterKey(), step: test.step, Upgrade: Upgrade{Plan: p}}
			want, got := "", ""
			for i, reason := range test.want {
				if i == 0 {
					want = movedHead
				}
				want += "\n  " + reason
			}
			if err := r.undisturbed(cluster); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCompareAtTheEnd: what somebody else changed of the parts that the run
// wrote is told, in the order of the parts; of the others nothing.
func TestCompareAtTheEnd(t *testing.T) {
	t.Parallel()
	versions := versionsOf("v1.33.1", "a", "v1.33.1", "b", "v1.33.1", "d", "v1.33.1", "e", "v1.33.1")
	set := func(w *world, name string, value any, path ...string) {
		if err := unstructured.SetNestedField(w.objects[name].Object, value, path...); err != nil {
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
			delete(w.objects, "MachineHealthCheck/c-d")
		}, movedHead + "\n  somebody changed MachineDeployment/c-a: spec.template.spec.version would become v1.33.1" +
			"\n  somebody changed MachineDeployment/c-b: spec.replicas would become 1" +
			"\n  somebody changed KubeadmControlPlane/c: spec.replicas would become 1" +
			"\n  somebody deleted MachineHealthCheck/c-d"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, versions)
			r := w.run(aPlan(versions, versions), 1, nil)
			r.generations = map[string]int64{"d": 1, "a": 1, "b": 1, "gone": 1, v1alpha1.ControlPlaneName: 1}
			test.change(w)
			got := ""
			if err := r.compare(t.Context()); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			w.wrote("while comparing", nil)
		})
	}
}
